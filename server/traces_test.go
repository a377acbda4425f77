package server_test

import (
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/sqlots/sqlots/server"
)

// collector keeps the spans that it gets.
type collector struct {
	*httptest.Server
	mu    sync.Mutex
	spans []*tracepb.Span
	about map[string]string // attributes of the resource
}

func startCollector(t *testing.T) *collector {
	c := &collector{about: map[string]string{}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		z, err := gzip.NewReader(r.Body)
		if err != nil || r.Method != "POST" || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Error(r.Method, r.URL, r.Header, err)
			return
		}
		text, err := io.ReadAll(z)
		var data tracepb.TracesData
		if err := proto.Unmarshal(text, &data); err != nil {
			t.Error(err)
		}
		if err != nil {
			t.Error(err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, r := range data.ResourceSpans {
			for _, a := range r.Resource.Attributes {
				c.about[a.Key] = a.Value.GetStringValue()
			}
			for _, s := range r.ScopeSpans {
				c.spans = append(c.spans, s.Spans...)
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// find is the statement with an attribute.
func (c *collector) find(t *testing.T, name, value string) *tracepb.Span {
	t.Helper()
	for _, s := range c.spans {
		if attribute(s, name) == value {
			return s
		}
	}
	t.Fatalf("no span with %s = %s", name, value)
	return nil
}

// children are the names of the steps of a statement, in order.
func (c *collector) children(t *testing.T, of *tracepb.Span) string {
	t.Helper()
	var list []*tracepb.Span
	for _, s := range c.spans {
		if string(s.ParentSpanId) == string(of.SpanId) {
			if s.StartTimeUnixNano < of.StartTimeUnixNano || s.EndTimeUnixNano > of.EndTimeUnixNano || s.StartTimeUnixNano > s.EndTimeUnixNano || string(s.TraceId) != string(of.TraceId) {
				t.Errorf("the step %v is not within %v", s, of)
			}
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b *tracepb.Span) int { return int(a.EndTimeUnixNano) - int(b.EndTimeUnixNano) })
	var names []string
	for _, s := range list {
		names = append(names, s.Name)
	}
	return strings.Join(names, " ")
}

func attribute(s *tracepb.Span, name string) string {
	for _, a := range s.Attributes {
		if a.Key == name {
			if a.Value.GetStringValue() != "" {
				return a.Value.GetStringValue()
			}
			return fmt.Sprint(a.Value.GetIntValue())
		}
	}
	return ""
}

// TestTraces: statements become spans with their steps, below what their client began, and
// no literal of them gets out.
func TestTraces(t *testing.T) {
	col := startCollector(t)
	s, dsn := startOnce(t, func(c *server.Config) {
		c.Traces = server.TracesConfig{Endpoint: col.URL, Ratio: 1}
		c.HTTP.Listen = "127.0.0.1:0"
	})
	c, h := dial(t, dsn), clientOf(t, s)
	c.exec("CREATE TABLE a (id INT PRIMARY KEY, v VARCHAR(20), KEY (v))")
	c.exec("INSERT INTO a VALUES (1, 'secret1'), (2, 'secret2'), (3, 'secret3')")
	for range 2 { // by the cache of plans
		c.rows("3", "SELECT COUNT(*) FROM a WHERE v LIKE 'secret%'")
	}
	c.rows("2,secret2", "SELECT * FROM a WHERE id = ?", 2)
	c.fails(1062, "INSERT INTO a VALUES (1, 'secret4')")
	c.fails(1064, "SELEC 'secret5'")
	const trace, wire, web = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", "c7ad6b7169203332"
	c.rows("7", "SELECT 7 FROM DUAL /*traceparent='00-"+trace+"-"+wire+"-01'*/")
	c.rows("8", "SELECT 8 FROM DUAL LIMIT 1 /*traceparent='00-"+trace+"-"+wire+"-00'*/") // its client keeps none
	h.with("traceparent", "00-"+trace+"-"+web+"-01").wants(200, 0, "POST", "/v1/query?db=t", "SELECT v, id FROM a WHERE id > 1")
	h.with("traceparent", "no such thing").wants(200, 0, "POST", "/v1/query?db=t", "SELECT id, v FROM a")
	c.close()
	if err := s.Stop(10 * time.Second); err != nil {
		t.Fatal(err)
	}
	if col.about["service.name"] != "sqlots" || col.about["service.version"] == "" {
		t.Error(col.about)
	}
	insert := col.find(t, "db.query.text", "INSERT INTO `a` VALUES (...) /* , ... */")
	if insert.Name != "INSERT t" || insert.Kind != tracepb.Span_SPAN_KIND_SERVER || len(insert.ParentSpanId) != 0 || attribute(insert, "sqlots.rows_affected") != "3" || attribute(insert, "db.system.name") != "sqlots" || attribute(insert, "db.namespace") != "t" || attribute(insert, "db.operation.name") != "INSERT" {
		t.Error(insert)
	}
	count := col.find(t, "db.query.text", "SELECT COUNT ( * ) FROM `a` WHERE `v` LIKE ?")
	if got := col.children(t, count); got != "parse plan execute" || attribute(count, "sqlots.rows_examined") != "3" || attribute(count, "db.response.returned_rows") != "1" {
		t.Error(got, count)
	}
	if got := col.children(t, col.find(t, "db.query.text", "SELECT * FROM `a` WHERE `id` = ?")); got != "plan execute" {
		t.Error(got)
	}
	duplicate := col.find(t, "db.response.status_code", "1062")
	if duplicate.Status.GetCode() != tracepb.Status_STATUS_CODE_ERROR || duplicate.Status.GetMessage() != "1062 (23000)" || attribute(duplicate, "error.type") != "1062" {
		t.Error(duplicate)
	}
	if got := col.children(t, col.find(t, "db.response.status_code", "1064")); got != "parse execute" {
		t.Error(got)
	}
	for text, parent := range map[string]string{"SELECT ? FROM DUAL": wire, "SELECT `v` , `id` FROM `a` WHERE `id` > ?": web} {
		if s := col.find(t, "db.query.text", text); hex.EncodeToString(s.TraceId) != trace || hex.EncodeToString(s.ParentSpanId) != parent {
			t.Error(s)
		}
	}
	if s := col.find(t, "db.query.text", "SELECT `id` , `v` FROM `a`"); len(s.ParentSpanId) != 0 {
		t.Error(s)
	}
	for _, s := range col.spans {
		if text := s.String(); strings.Contains(text, "secret") || strings.Contains(attribute(s, "db.query.text"), "LIMIT") {
			t.Error(text)
		}
	}
}

// TestTracesRatio: with a ratio of 0 only what clients trace is sent.
func TestTracesRatio(t *testing.T) {
	col := startCollector(t)
	s, dsn := startOnce(t, func(c *server.Config) { c.Traces = server.TracesConfig{Endpoint: col.URL, Ratio: 0} })
	c := dial(t, dsn)
	c.rows("1", "SELECT 1")
	c.rows("2", "SELECT 2 /*traceparent='00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'*/")
	c.close()
	if err := s.Stop(10 * time.Second); err != nil {
		t.Fatal(err)
	}
	if len(col.spans) != 4 {
		t.Error(col.spans)
	}
}

// TestTracesEndpoint: an address that cannot be one is an error at the start.
func TestTracesEndpoint(t *testing.T) {
	s, err := server.Start(t.Context(), server.Config{InMemory: true, Listen: "127.0.0.1:0", Traces: server.TracesConfig{Endpoint: "localhost:4318"}})
	if err == nil {
		_ = s.Stop(0)
		t.Fatal("it started")
	}
	if !strings.Contains(err.Error(), "--otlp-endpoint") {
		t.Error(err)
	}
}
