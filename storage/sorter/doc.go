// Package sorter sorts key-value pairs of any number, for bulk loads and index
// builds.
//
// # Model
//
// Pairs belong to groups, each of which is sorted on its own. They are collected
// in chunks of some megabytes; a chunk that is full is sorted in the background
// while the next one fills. Chunks beyond the memory limit are merged into a
// temporary file, a run. At the end a group is the merge of its parts of all
// chunks and runs; several groups may be merged at the same time.
//
// Comparisons look at eight bytes first, taken after the prefix that all keys of
// the group share.
//
// Two equal keys in a group are an error, ErrDuplicate, which may show at any
// step.
package sorter
