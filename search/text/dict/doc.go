// Package dict is a list of Chinese words, simplified and traditional, for
// cutting texts into words.
//
// The program has the list in compressed form (1.8 MB) and unpacks it at its
// first use, which takes about 50 ms; from then on it takes 9 MB of memory. It
// comes from jieba (MIT license) by way of github.com/go-ego/gse; gen.go makes
// it.
package dict
