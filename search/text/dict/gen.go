//go:build ignore

// Makes words.gz from word lists of which each line begins with a word:
//
//	go run gen.go $GSE/data/dict/zh/s_1.txt $GSE/data/dict/zh/t_1.txt
//
// GSE is the module github.com/go-ego/gse v0.80.3, whose lists come from jieba
// (MIT license). Words of two to sixteen Han characters are taken.

package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"log"
	"maps"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

func main() {
	words := map[string]bool{}
	for _, name := range os.Args[1:] {
		f, err := os.Open(name)
		if err != nil {
			log.Fatal(err)
		}
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			word, _, _ := strings.Cut(lines.Text(), " ")
			n := utf8.RuneCountInString(word)
			if 2 <= n && n <= 16 && strings.IndexFunc(word, func(r rune) bool { return !unicode.Is(unicode.Han, r) }) < 0 {
				words[word] = true
			}
		}
		if lines.Err() != nil {
			log.Fatal(lines.Err())
		}
		f.Close()
	}
	var buf bytes.Buffer
	z, _ := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	last := ""
	for _, w := range slices.Sorted(maps.Keys(words)) {
		shared := 0
		for shared < len(last) && shared < len(w) && last[shared] == w[shared] {
			shared++
		}
		z.Write([]byte{byte(shared), byte(len(w) - shared)})
		z.Write([]byte(w[shared:]))
		last = w
	}
	if err := z.Close(); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("words.gz", buf.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
	log.Printf("%d words, %d bytes", len(words), buf.Len())
}
