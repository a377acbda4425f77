// Package kvtest helps to test what uses a store on disk.
package kvtest
