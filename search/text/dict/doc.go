// Package dict is a list of Chinese words, simplified and traditional, to cut
// texts by.
//
// The list lies in the program compressed (1.8 MB) and is unpacked when it is
// first asked for, which takes about 50 ms; from then on it takes 9 MB of
// memory. It comes from jieba (MIT license) by way of github.com/go-ego/gse;
// gen.go makes it.
package dict
