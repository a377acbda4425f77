// Package stress measures the resident memory of a server under a mixed
// load against --memory. The test binary runs itself as the server.
//
//	CGO_ENABLED=0 go test ./test/stress -run TestMemory -v -budget 512 -for 60s
//
// Without -budget it is skipped. docs/operations.md has figures.
//
// It holds only tests.
package stress
