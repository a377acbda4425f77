// Command sqlots is a wide-column store that answers MySQL: server, demo,
// shell and tools in one binary. Run "sqlots help" for the list.
package main
