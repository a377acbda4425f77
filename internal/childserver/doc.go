// Package childserver runs a server as a process of its own, for tests that
// kill it: the test binary starts itself again.
//
// TestMain of such a test calls Main, tests call Start.
package childserver
