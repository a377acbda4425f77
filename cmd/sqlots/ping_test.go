package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/servertest"
	"github.com/sqlots/sqlots/server"
)

func TestPing(t *testing.T) {
	s := servertest.Start(t, server.Config{MetricsListen: "127.0.0.1:0"})
	_, port, err := net.SplitHostPort(s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	sick := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintln(w, "stopping")
	}))
	defer sick.Close()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"--port " + port, 0, "answers"},
		{"--dsn root@tcp(" + s.Addr() + ")/", 0, "answers"},
		{"--port " + port + " --user nobody --password x", 0, "refuses the login"},
		{"--port " + port + " --quiet", 0, ""},
		{"--http " + s.MetricsAddr(), 0, "ready"},
		{"--http http://" + s.MetricsAddr() + "/healthz", 0, "ok"},
		{"--http " + sick.URL, 1, "stopping"},
		{"--port 1", 1, "refused"},
		{"--dsn root@tcp(" + silent.Addr().String() + ")/ --timeout 50ms", 1, "no answer"},
		{"--http http://" + silent.Addr().String() + " --timeout 50ms", 1, "deadline"},
		{"--port x", 2, "invalid"},
		{"--dsn x", 2, ""},
		{"x", 2, "unexpected"},
	} {
		var out, errs strings.Builder
		if code := ping(strings.Fields(c.args), &out, &errs); code != c.code || !strings.Contains(out.String()+errs.String(), c.says) || c.says == "" && out.Len() > 0 {
			t.Errorf("ping %s: exit code %d\n%s%s", c.args, code, out.String(), errs.String())
		}
	}
}

func TestLogger(t *testing.T) {
	for _, c := range []struct{ format, level, want string }{
		{"text", "info", "level=INFO msg=m event=e"}, {"json", "info", `"level":"INFO","msg":"m","event":"e"`}, {"text", "warn", ""}, {"JSON", "info", "!"}, {"text", "loud", "!"}, {"text", "info+1", "!"},
	} {
		var out strings.Builder
		log, err := newLogger(&out, c.format, c.level)
		if (err != nil) != (c.want == "!") {
			t.Errorf("%+v: %v", c, err)
		}
		if err == nil {
			log.Info("m", "event", "e")
			if !strings.Contains(out.String(), c.want) || c.want == "" && out.Len() > 0 {
				t.Errorf("%+v: %q", c, out.String())
			}
		}
	}
}
