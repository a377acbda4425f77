// Command bleve runs the same queries over the same documents by bleve's own
// query path and by a search index of sqlots, and prints the time of both.
//
// bleve.Search is called in this process, on a scorch index without stored
// fields. sqlots is queried by SQL, over a connection to a server in this process:
// parsing, planning and the protocol count. Both return the number of hits, which
// must be the same, and the ids or groups where a query has them. Times are CPU
// time of the process, all its goroutines: the median of several runs.
//
//	go run . -docs 100000
//
// It is a module of its own, since bleve's query path needs modules that sqlots
// does not.
package main
