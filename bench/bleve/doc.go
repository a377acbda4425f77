// Command bleve asks bleve's own query path and a search index of sqlots the same
// questions about the same documents, and prints the time of both.
//
// bleve.Search is called in this process, on a scorch index without stored
// fields. sqlots is asked by SQL, over a connection to a server in this process:
// parsing, planning and the protocol count. Both give the number of hits, which
// has to be the same, and the ids or the groups that are asked for. Times are CPU
// time of the process, all its goroutines: the median of several runs.
//
//	go run . -docs 100000
//
// It is a module of its own, since bleve's query path needs modules that sqlots
// does not.
package main
