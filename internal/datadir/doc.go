// Package datadir keeps the files of the data directory for the server.
//
// Paths come from flags and from statements. Both are compared by the files that
// they lead to, not by their text: symbolic links, "..", the case of letters and
// other mounts of a folder make no difference. A file with several hard links is
// compared with all files of the directory.
package datadir
