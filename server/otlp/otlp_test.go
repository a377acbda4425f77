package otlp

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/metrics"
)

func TestParentIn(t *testing.T) {
	const p = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for text, want := range map[string]string{
		"SELECT 1 /*traceparent='" + p + "'*/":                           p,
		"SELECT 1 /* action='%2Fa',traceparent='" + p + "',x='y' */ ;\n": p,
		"SELECT 1":                               "",
		"SELECT 1 */":                            "",
		"SELECT 1 /* traceparent */":             "",
		"/*traceparent='" + p + "'*/ SELECT 1":   "",
		"SELECT '/*traceparent=''" + p + "''*/'": "",
		"SELECT 1 /*xtraceparent='" + p + "'*/":  "",
		"/*/":                                    "",
		"":                                       "",
	} {
		if got := parentIn(text); got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}

func TestEndpoints(t *testing.T) {
	for endpoint, want := range map[string]string{
		"http://localhost:4318": "http://localhost:4318/v1/traces", "https://c.example/otlp/": "https://c.example/otlp/v1/traces", "http://c/v1/traces": "http://c/v1/traces",
		"localhost:4318": "", "": "", "ftp://c": "", "http://": "", "http://c:port": "",
	} {
		c, err := newClient(endpoint)
		if got := ""; err == nil {
			if got = c.url; got != want {
				t.Errorf("%s: %s", endpoint, got)
			}
		} else if want != "" {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b, x=1")
	c, err := newClient("http://c")
	if err != nil || c.header.Get("Api-Key") != "a b" || c.header.Get("X") != "1" {
		t.Error(c.header, err)
	}
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "secret")
	if _, err := newClient("http://c"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
	for _, ratio := range []float64{-1, 1.1} {
		if _, err := New(t.Context(), Config{Endpoint: "http://c", Ratio: ratio}); err == nil {
			t.Errorf("a ratio of %v", ratio)
		}
	}
}

// lockedBuffer is a log that several goroutines write.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func statement() *metrics.Trace {
	return &metrics.Trace{Event: &metrics.Event{Text: "SELECT 1", Start: time.Now(), Duration: time.Millisecond}, Parsed: time.Now()}
}

// TestFailures: a collector that refuses, and one that does not answer. More statements than
// the queue has room for are taken without waiting, one line is logged, and the end is not
// held up longer than it was given.
func TestFailures(t *testing.T) {
	testflag.Normal(t)
	never := make(chan struct{})
	var asked atomic.Int64
	for name, answer := range map[string]http.HandlerFunc{
		"refuses": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusServiceUnavailable) },
		"hangs":   func(_ http.ResponseWriter, r *http.Request) { asked.Add(1); <-never },
	} {
		t.Run(name, func(t *testing.T) {
			collector := httptest.NewServer(answer)
			defer collector.Close()
			defer func() {
				if name == "hangs" {
					close(never)
				}
			}()
			var log lockedBuffer
			x, err := New(t.Context(), Config{Endpoint: collector.URL, Ratio: 1, Log: slog.New(slog.NewTextHandler(&log, nil))})
			if err != nil {
				t.Fatal(err)
			}
			for range 2 * maxQueue {
				x.Trace(statement())
			}
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			x.Shutdown(ctx)
			if n := strings.Count(log.String(), "traces.failed"); n > 1 || name == "refuses" && n != 1 {
				t.Errorf("%d lines: %s", n, log.String())
			}
			x.Trace(statement()) // of no effect
		})
	}
}

func BenchmarkTrace(b *testing.B) {
	collector := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer collector.Close()
	for name, ratio := range map[string]float64{"sent": 1, "not sampled": 0} {
		b.Run(name, func(b *testing.B) {
			x, err := New(b.Context(), Config{Endpoint: collector.URL, Ratio: ratio, Log: slog.New(slog.DiscardHandler)})
			if err != nil {
				b.Fatal(err)
			}
			defer x.Shutdown(context.Background())
			s := statement()
			b.ReportAllocs()
			for b.Loop() {
				x.Trace(s)
			}
		})
	}
}
