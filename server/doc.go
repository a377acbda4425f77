// Package server puts the parts together into a running MySQL server: the
// store on its directory, the engine with its sessions, the wire in front,
// and the order in which they start and stop.
package server
