package console

import (
	"encoding/json"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/sqlots/sqlots/docs"
)

// docsFile is where the page Help finds the documentation.
const docsFile = "docs.json"

// document is a page of the documentation.
type document struct {
	Path string `json:"path"` // within docs, without .md
	Text string `json:"text"` // Markdown
}

// documentation is all pages in one file. It is made at the first request.
var documentation = sync.OnceValue(func() *file {
	var list []document
	err := fs.WalkDir(docs.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".md" {
			return err
		}
		text, err := docs.Files.ReadFile(name)
		list = append(list, document{strings.TrimSuffix(name, ".md"), string(text)})
		return err
	})
	var text []byte
	if err == nil {
		text, err = json.Marshal(list)
	}
	if err != nil {
		panic(err) // the files are part of the program
	}
	return newFile(docsFile, text)
})
