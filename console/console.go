package console

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

//go:embed ui
var embedded embed.FS

// prefix is where files are served; the page is at /.
const prefix = "/console/"

// policy is what the page may do: run its own scripts, use its own styles and, with a nonce,
// those that the editor makes, and talk to its server.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-%s'; img-src 'self' data: blob:; connect-src 'self'; " +
	"frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// noncePlace is where index.html has the nonce of styles.
const noncePlace = "{{nonce}}"

var media = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".json": "application/json", ".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8",
}

// file is a file as it is served.
type file struct {
	plain, zipped []byte // zipped is nil if that would not be smaller
	media, tag    string
}

var files = sync.OnceValue(func() map[string]*file {
	m := map[string]*file{}
	ui, err := fs.Sub(embedded, "ui")
	if err == nil {
		err = fs.WalkDir(ui, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := fs.ReadFile(ui, name)
			if err != nil {
				return err
			}
			m[name] = newFile(name, text)
			return nil
		})
	}
	if err != nil {
		panic(err) // the files are part of the program
	}
	return m
})

func newFile(name string, text []byte) *file {
	sum := sha256.Sum256(text)
	return &file{text, zip(text), media[path.Ext(name)], `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`}
}

func zip(text []byte) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is one
	_, _ = z.Write(text)
	_ = z.Close() // a buffer takes all
	if b.Len() >= len(text) {
		return nil
	}
	return b.Bytes()
}

// Handler serves the page at / and its files under /console/.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "pages are read by GET", http.StatusMethodNotAllowed)
			return
		}
		if r.URL.Path == "/" {
			servePage(w)
			return
		}
		name := strings.TrimPrefix(r.URL.Path, prefix)
		f := files()[name]
		if name == docsFile {
			f = documentation()
		}
		if f == nil || f.media == "" || strings.HasPrefix(f.media, "text/html") {
			http.Error(w, "no such file of the console", http.StatusNotFound)
			return
		}
		f.serve(w, r)
	})
}

// servePage answers with the page, which has a nonce of its own each time.
func servePage(w http.ResponseWriter) {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	nonce := base64.StdEncoding.EncodeToString(b[:])
	page := files()["index.html"]
	h := w.Header()
	h.Set("Content-Type", page.media)
	h.Set("Content-Security-Policy", fmt.Sprintf(policy, nonce))
	_, _ = w.Write(bytes.ReplaceAll(page.plain, []byte(noncePlace), []byte(nonce)))
}

func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-cache") // kept, and compared by its tag
	h.Set("ETag", f.tag)
	h.Set("Vary", "Accept-Encoding")
	h.Set("Content-Type", f.media)
	if strings.Contains(r.Header.Get("If-None-Match"), f.tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := f.plain
	if f.zipped != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = f.zipped
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method == http.MethodHead {
		return
	}
	_, _ = w.Write(body)
}
