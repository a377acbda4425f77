package httpd

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/value"
)

func TestMain(m *testing.M) { testflag.Main(m) }

// TestOpenAPI: the document has the routes, formats and parameters of the server, and no
// others.
func TestOpenAPI(t *testing.T) {
	var doc struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name, In string
				Schema   struct{ Enum []string }
			}
			Responses map[string]struct{ Content map[string]any }
		}
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	if err := json.Unmarshal(openAPI, &doc); err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, r := range New(Config{}).list() {
		want = append(want, r.pattern)
	}
	for path, methods := range doc.Paths {
		for m := range methods {
			got = append(got, strings.ToUpper(m)+" "+path)
		}
	}
	same(t, "routes", got, want)
	names := func(path, in string) (list []string) {
		for _, p := range doc.Paths[path]["post"].Parameters {
			if p.In == in {
				list = append(list, p.Name)
			}
		}
		return list
	}
	same(t, "parameters of a query", names("/v1/query", "query"), keys(queryParameters))
	same(t, "fields of a query", keys(doc.Components.Schemas["Query"].Properties), append(keys(queryParameters), "sql"))
	same(t, "parameters of a load", names("/v1/load", "query"), keys(loadParameters))
	var media []string
	for _, f := range formats {
		m, _, _ := strings.Cut(f.media, ";")
		media = append(media, m)
	}
	same(t, "media types", keys(doc.Paths["/v1/query"]["post"].Responses["200"].Content), media)
	for _, p := range doc.Paths["/v1/query"]["post"].Parameters {
		if p.Name == "format" {
			same(t, "formats", p.Schema.Enum, keys(formats))
		}
	}
	for _, p := range doc.Paths["/v1/load"]["post"].Parameters {
		for _, f := range p.Schema.Enum {
			if p.Name == "format" && loadFormats[f] == "" {
				t.Errorf("no format %s of loads", f)
			}
		}
	}
}

func keys[V any](m map[string]V) (list []string) {
	for k := range m {
		list = append(list, k)
	}
	return list
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	sort.Strings(got)
	sort.Strings(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %v\nwant %v", what, got, want)
	}
}

// fakeBackend has the account app with the password secret, and no sessions.
type fakeBackend struct{ locked bool }

func (b *fakeBackend) Account(user, _ string) (mysqlwire.Account, bool) {
	a := mysqlwire.Account{Plugin: mysqlwire.PluginNative}
	if user != "app" {
		return a, false
	}
	a.User, a.Host, a.AuthString, a.Locked = "app", "%", mysqlwire.HashNative("secret"), b.locked
	return a, true
}

func (*fakeBackend) LoginTried(*mysqlwire.Account, string, bool) error { return nil }

func (*fakeBackend) Connect(context.Context, mysqlwire.ConnInfo) (mysqlwire.Session, error) {
	return nil, errors.New("no sessions")
}

type freeMemory struct{}

func (freeMemory) Reserve(int64) error { return nil }
func (freeMemory) Release(int64)       {}

func open(s *Server, b *fakeBackend) {
	s.Open(Backend{Wire: mysqlwire.NewServer(mysqlwire.Config{}, b), Memory: freeMemory{}, MaxPacket: func() int { return 1 << 20 },
		NotReady: func() []string { return nil }, MayWatch: func(a *mysqlwire.Account) bool { return a.User == "app" }})
}

func do(s *Server, method, path string, change func(r *http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	r.Host = "127.0.0.1:4080"
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w
}

// TestStarting: before the store is open, health answers and SQL is refused.
func TestStarting(t *testing.T) {
	s := New(Config{})
	for path, want := range map[string]string{"/healthz": "200 ok\n", "/readyz": "503 starting\n"} {
		if w := do(s, "GET", path, nil); fmt.Sprint(w.Code, " ", w.Body) != want {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	if w := do(s, "POST", "/v1/query", nil); w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	open(s, &fakeBackend{})
	if w := do(s, "GET", "/readyz", nil); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	s.Shutdown(t.Context())
	if w := do(s, "GET", "/readyz", nil); w.Body.String() != "stopping\n" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestMetrics: who may read them.
func TestMetrics(t *testing.T) {
	if w := do(New(Config{}), "GET", "/metrics", nil); w.Code != 404 {
		t.Error(w.Code)
	}
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "up 1") })
	local := func(r *http.Request) { r.RemoteAddr = "127.0.0.1:1" }
	for _, trust := range []bool{true, false} {
		s := New(Config{Metrics: page, LocalMetrics: trust})
		open(s, &fakeBackend{})
		if w := do(s, "GET", "/metrics", nil); w.Code != 401 {
			t.Error("from elsewhere", w.Code)
		}
		if w := do(s, "GET", "/metrics", local); (w.Code == 200) != trust {
			t.Error("from here", w.Code)
		}
		if w := do(s, "GET", "/metrics", func(r *http.Request) { r.SetBasicAuth("app", "secret") }); w.Code != 200 {
			t.Error("with an account", w.Code)
		}
	}
}

// TestHistory: it is for those who may watch, from wherever.
func TestHistory(t *testing.T) {
	if w := do(New(Config{}), "GET", "/v1/history", nil); w.Code != 404 {
		t.Error(w.Code)
	}
	s := New(Config{LocalMetrics: true, History: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") })})
	open(s, &fakeBackend{})
	if w := do(s, "GET", "/v1/history", func(r *http.Request) { r.RemoteAddr = "127.0.0.1:1" }); w.Code != 401 {
		t.Error("without an account", w.Code)
	}
	if w := do(s, "GET", "/v1/history", func(r *http.Request) { r.SetBasicAuth("app", "secret") }); w.Code != 200 {
		t.Error("with an account", w.Code)
	}
}

// TestManyWrongPasswords: from many addresses they are refused, and leave little behind.
func TestManyWrongPasswords(t *testing.T) {
	s := New(Config{})
	open(s, &fakeBackend{})
	n := testflag.Rounds(1000, 10_000, 100_000)
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	for i := range n {
		w := do(s, "POST", "/v1/query", func(r *http.Request) {
			r.SetBasicAuth([]string{"app", "nix"}[i%2], fmt.Sprint("wrong", i))
			r.RemoteAddr = fmt.Sprintf("10.%d.%d.%d:9", i>>16, i>>8&255, i&255)
		})
		if w.Code != 401 || !strings.Contains(w.Body.String(), `"code":1045`) {
			t.Fatal(w.Code, w.Body)
		}
	}
	if grown := int64(heap()) - int64(before); grown > 8<<20 {
		t.Errorf("%d bytes", grown)
	}
	if w := do(s, "POST", "/v1/query", func(r *http.Request) { r.SetBasicAuth("app", "secret") }); w.Code == 401 {
		t.Error("the right password is refused", w.Body)
	}
}

// TestLogins: they end by age, by idleness, and where there are too many.
func TestLogins(t *testing.T) {
	var l logins
	now := time.Now()
	add := func(n int, user string, at time.Time) digest {
		d := sha256.Sum256([]byte(fmt.Sprint(n, user)))
		l.add(&loggedIn{token: d, user: user, account: mysqlwire.Account{User: user, Host: "%"}}, at)
		return d
	}
	a := add(0, "a", now)
	if l.find(a, now.Add(loginIdle-1)) == nil {
		t.Error("it ends early")
	}
	if l.find(a, now.Add(2*loginIdle)) != nil {
		t.Error("it does not end when idle")
	}
	a = add(1, "a", now)
	at := now
	for at.Sub(now) < loginAge-loginIdle {
		at = at.Add(loginIdle / 2)
		if l.find(a, at) == nil {
			t.Fatal("it ends while it is used")
		}
	}
	if l.find(a, now.Add(loginAge)) != nil {
		t.Error("it has no end")
	}
	first := add(2, "a", now)
	for i := range maxLoginsOfOne {
		add(10+i, "a", now)
	}
	if l.find(first, now) != nil {
		t.Error("more logins than an account may have")
	}
	for i := range maxLogins + 10 {
		add(i, fmt.Sprint("user", i), now)
	}
	if len(l.m) > maxLogins || l.all.Len() != len(l.m) {
		t.Errorf("%d logins", len(l.m))
	}
}

// TestHosts: which names a client may use.
func TestHosts(t *testing.T) {
	s := New(Config{Hosts: []string{"db.Example.com"}})
	for host, want := range map[string]bool{
		"127.0.0.1": true, "127.0.0.1:4080": true, "[::1]:4080": true, "[::1]": true, "localhost": true, "LOCALHOST:1": true, "10.1.2.3": true,
		"db.example.com": true, "db.example.com.:443": true, "evil.com": false, "localhost.evil.com": false, "127.0.0.1.evil.com": false, "": false, "example.com": false,
	} {
		if got := s.knows(host); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
}

// TestPreferences: headers such as Accept.
func TestPreferences(t *testing.T) {
	for header, want := range map[string]string{
		"": "ndjson", "*/*": "ndjson", "text/csv": "csv", "application/json, text/csv": "json", "application/json;q=0.5, text/csv": "csv",
		"text/csv;q=0, text/tab-separated-values": "tsv", "text/html, application/json;q=0.9, */*;q=0.8": "json",
	} {
		if got := accepted(header); got != want {
			t.Errorf("%s: %s", header, got)
		}
	}
	for header, want := range map[string]bool{"": false, "gzip": true, "br, GZIP;q=0.5": true, "gzip;q=0": false, "deflate": false} {
		if acceptsGzip(header) != want {
			t.Error(header)
		}
	}
}

// TestPanics: that of a handler ends its request.
func TestPanics(t *testing.T) {
	s := New(Config{Console: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("no") })})
	defer func() {
		if r := recover(); r != http.ErrAbortHandler { //nolint:errorlint // it is thrown as such
			t.Error(r)
		}
		if w := do(s, "GET", "/healthz", nil); w.Code != 200 {
			t.Error(w.Code)
		}
	}()
	do(s, "GET", "/console/", nil)
}

func textHeader() *mysqlwire.Header {
	text := schema.Type{ID: schema.TypeVarchar, Len: 100, Collation: schema.CollationUTF8MB40900AICI}
	blob := schema.Type{ID: schema.TypeBlob, Len: schema.UnspecifiedLength, Collation: schema.CollationBinary}
	return mysqlwire.NewHeader([]mysqlwire.Column{{Name: "a\"b", Type: text}, {Name: "b", Type: blob}})
}

// FuzzNDJSON: what is written is JSON on one line, and reads back.
func FuzzNDJSON(f *testing.F) {
	for _, s := range []string{"", "a", "é😀", "\xff\xfe", "a\"\\\n\r\t\x00\x1f", strings.Repeat("long é\n", 10000), "\xed\xa0\x80", "NULL"} {
		f.Add([]byte(s), false)
	}
	f.Fuzz(func(t *testing.T, b []byte, objects bool) {
		e := &encoder{shape: shape{format: formatNDJSON, binary: "base64", objects: objects}}
		var all []byte
		e.flush = func() error { all, e.out = append(all, e.out...), e.out[:0]; return nil }
		e.begin(textHeader())
		if err := errors.Join(e.row([]value.Datum{value.Bytes(b), value.Bytes(b)}), e.flush()); err != nil {
			t.Fatal(err)
		}
		if bytes.Count(all, []byte{'\n'}) != 1 || all[len(all)-1] != '\n' {
			t.Fatalf("%q", all)
		}
		var text string
		var bin []byte
		var err error
		if objects {
			var m map[string]json.RawMessage
			if err = json.Unmarshal(all, &m); err == nil {
				err = errors.Join(json.Unmarshal(m[`a"b`], &text), json.Unmarshal(m["b"], &bin))
			}
		} else {
			var m []json.RawMessage
			if err = json.Unmarshal(all, &m); err == nil {
				err = errors.Join(json.Unmarshal(m[0], &text), json.Unmarshal(m[1], &bin))
			}
		}
		if err != nil || text != string([]rune(string(b))) || !bytes.Equal(bin, b) {
			t.Fatalf("%v: %q, %q of %q", err, text, bin, b)
		}
	})
}
