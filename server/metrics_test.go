package server_test

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
	"github.com/sqlots/sqlots/server/prom"
)

// page is what a server answers to a request for its metrics.
func page(t testing.TB, s *server.Server, path string) (status int, text string) {
	t.Helper()
	r, err := http.Get("http://" + s.MetricsAddr() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(b)
}

// samples are the values of a page of metrics, by name with labels.
func samples(t testing.TB, s *server.Server) map[string]float64 {
	t.Helper()
	status, text := page(t, s, "/metrics")
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, text)
	}
	out := map[string]float64{}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		name, v, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseFloat(v, 64)
		if err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		out[name] = n
	}
	return out
}

func withMetrics(c *server.Config) { c.MetricsListen = "127.0.0.1:0" }

func inDir(t testing.TB) func(*server.Config) {
	return func(c *server.Config) {
		c.InMemory, c.DataDir, c.Memory = false, t.TempDir(), 256<<20
	}
}

// work does something of every kind that is counted.
func work(t testing.TB, dsn string) {
	c := dial(t, dsn)
	c.exec("CREATE TABLE m (id INT PRIMARY KEY, a INT, b VARCHAR(40), KEY (a), SEARCH INDEX s (b)) SECONDARY_ENGINE_ATTRIBUTE='{\"stream\": {\"retention\": \"1h\"}}'")
	c.exec("INSERT INTO m VALUES (1, 1, 'one'), (2, 2, 'two'), (3, 3, 'three')")
	c.exec("UPDATE m SET a = 9 WHERE id = 3")
	c.exec("DELETE FROM m WHERE id = 2")
	c.rows("one", "SELECT b FROM m WHERE id = 1")
	c.rows("9", "SELECT a FROM m ORDER BY b DESC LIMIT 1")
	c.fails(1062, "INSERT INTO m VALUES (1, 1, 'one')")
	c.fails(1064, "SELEKT 1")
	c.exec("BEGIN")
	c.exec("UPDATE m SET a = 10 WHERE id = 3")
	c.exec("ROLLBACK")
}

// TestMetrics: each metric has a value, all have names as Prometheus wants them, and what a
// statement does shows.
func TestMetrics(t *testing.T) {
	s, dsn := startServer(t, withMetrics, inDir(t))
	work(t, dsn)
	waiting := dial(t, dsn)
	waiting.exec("SET autocommit = 0")
	waiting.exec("UPDATE m SET a = 11 WHERE id = 3")
	got := samples(t, s)
	for name, want := range map[string]float64{
		`sqlots_ready`: 1, `sqlots_statement_errors_total{class="constraint"}`: 1, `sqlots_statement_errors_total{class="syntax"}`: 1,
		`sqlots_rows_written_total{op="delete"}`: 1, `sqlots_access_paths_total{path="point"}`: 3,
		`sqlots_statements_total{command="delete"}`: 1, `sqlots_statement_duration_seconds_count{command="delete"}`: 1,
		`sqlots_statement_duration_seconds_bucket{command="delete",le="+Inf"}`: 1,
		`sqlots_connections{state="idle_in_transaction"}`:                      1, `sqlots_transactions_open`: 1, `sqlots_transactions_total{outcome="rollback"}`: 1,
		`sqlots_search_state{database="t",index="s",state="failed",table="m"}`: 0, `sqlots_writes_refused`: 0,
	} {
		if v, ok := got[name]; !ok || name != `sqlots_access_paths_total{path="point"}` && v != want || v < want {
			t.Errorf("%s is %v (%v), not %v", name, v, ok, want)
		}
	}
	for _, name := range []string{"sqlots_commits_total", "sqlots_commit_sync_seconds_count", "sqlots_received_bytes_total", "sqlots_disk_free_bytes", "sqlots_connections_total", "go_goroutines", `sqlots_stream_bytes{database="t",table="m"}`} {
		if got[name] <= 0 {
			t.Errorf("%s is %v", name, got[name])
		}
	}
	_, text := page(t, s, "/metrics")
	for _, m := range prom.Metrics() {
		if strings.HasPrefix(m.Name, "sqlots_cluster_") {
			if strings.Contains(text, m.Name) {
				t.Errorf("%s has a value without a cluster", m.Name)
			}
			continue
		}
		if m.Name != "sqlots_consumer_lag_seconds" && m.Name != "sqlots_consumer_behind" && !strings.Contains(text, "\n"+m.Name) {
			t.Errorf("%s has no value", m.Name)
		}
		if (m.Kind == "counter") != strings.HasSuffix(m.Name, "_total") {
			t.Errorf("%s is a %s", m.Name, m.Kind)
		}
	}
	promtool(t, text, "check", "metrics")
}

// promtool runs it, if it is installed; it has to print nothing.
func promtool(t *testing.T, input string, args ...string) {
	t.Helper()
	path, err := exec.LookPath("promtool")
	if err != nil {
		t.Log("promtool is not installed")
		return
	}
	cmd := exec.Command(path, args...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	if err != nil || input != "" && len(out) > 0 {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

const deploy = "../deploy/"

var metricName = regexp.MustCompile(`\b(?:sqlots|go|process)_[a-z0-9_]+\b`)

// TestDeploy: the dashboard and the alerts name metrics of the server, and promtool is
// content with the rules and their tests.
func TestDeploy(t *testing.T) {
	t.Parallel()
	testflag.Normal(t)
	s, dsn := startServer(t, withMetrics, inDir(t))
	work(t, dsn)
	c := dial(t, dsn)
	c.exec("CALL sqlots.stream_consumer('c', 't.m')")
	_, text := page(t, s, "/metrics")
	known := map[string]bool{}
	for _, name := range metricName.FindAllString(text, -1) {
		known[name] = true
	}
	for _, m := range prom.Metrics() {
		if strings.HasPrefix(m.Name, "sqlots_cluster_") {
			known[m.Name] = true
		}
	}
	for _, file := range []string{"grafana/sqlots.json", "prometheus/alerts.yaml"} {
		b, err := os.ReadFile(deploy + file)
		if err != nil {
			t.Fatal(err)
		}
		names := metricName.FindAllString(string(b), -1)
		if len(names) < 14 {
			t.Errorf("%s names %d metrics", file, len(names))
		}
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			if !known[name] {
				t.Errorf("%s: the server has no %s", file, name)
			}
		}
	}
	promtool(t, "", "check", "rules", filepath.FromSlash(deploy+"prometheus/alerts.yaml"))
	promtool(t, "", "test", "rules", filepath.FromSlash(deploy+"prometheus/alerts_test.yaml"))
}

// TestRunbooks: each alert has a heading in docs/runbooks.md, to which it links.
func TestRunbooks(t *testing.T) {
	alerts, err := os.ReadFile(deploy + "prometheus/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	book, err := os.ReadFile("../docs/runbooks.md")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`- alert: (\w+)`).FindAllStringSubmatch(string(alerts), -1)
	for _, m := range list {
		anchor := strings.ToLower(m[1])
		if !strings.Contains(string(alerts), "docs/runbooks.md#"+anchor+"\n") {
			t.Errorf("%s has no runbook", m[1])
		}
		if !strings.Contains(string(book), "\n## "+m[1]+"\n") {
			t.Errorf("docs/runbooks.md has no heading %s", m[1])
		}
	}
	if n := strings.Count(string(book), "\n## "); n != len(list) || n < 14 {
		t.Errorf("%d alerts, %d headings", len(list), n)
	}
}

// TestMetricsPage compares docs/metrics.md with the metrics; -update writes it.
func TestMetricsPage(t *testing.T) {
	const path, begin, end = "../docs/metrics.md", "<!-- begin -->\n", "<!-- end -->\n"
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), begin)
	old, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("the page has no table")
	}
	var out strings.Builder
	out.WriteString("\n| metric | kind | labels | meaning |\n|---|---|---|---|\n")
	for _, m := range prom.Metrics() {
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s |\n", m.Name, m.Kind, strings.Join(m.Labels, ", "), m.Help)
	}
	out.WriteString("\n")
	if old == out.String() {
		return
	}
	if !testflag.Update() {
		t.Fatal("docs/metrics.md has another table: run with -update")
	}
	if err := os.WriteFile(path, []byte(before+begin+out.String()+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestReady: the pages say whether the server takes clients.
func TestReady(t *testing.T) {
	testflag.Normal(t)
	t.Parallel()
	s, dsn := startOnce(t, withMetrics)
	for path, want := range map[string]string{"/healthz": "ok\n", "/readyz": "ready\n"} {
		if status, text := page(t, s, path); status != http.StatusOK || text != want {
			t.Errorf("%s: %d %q", path, status, text)
		}
	}
	s.Engine().Damaged.Store(true)
	if status, text := page(t, s, "/readyz"); status != http.StatusServiceUnavailable || !strings.HasPrefix(text, "damaged") {
		t.Errorf("damaged: %d %q", status, text)
	}
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	busy := make(chan error, 1)
	go func() {
		_, err := db.Exec("DO SLEEP(60)")
		busy <- err
	}()
	waitFor(t, func() bool { return s.Engine().Processes.Sum().Running == 1 })
	stopped := make(chan error, 1)
	go func() { stopped <- s.Stop(2 * time.Second) }()
	waitFor(t, func() bool {
		reasons := s.NotReady()
		return len(reasons) == 1 && reasons[0] == "stopping"
	})
	if status, text := page(t, s, "/readyz"); status != http.StatusServiceUnavailable || text != "stopping\n" {
		t.Errorf("stopping: %d %q", status, text)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	<-busy
	if _, err := server.Start(context.Background(), server.Config{InMemory: true, Listen: "127.0.0.1:0", MetricsListen: "0.0.0.0:0"}); err == nil || !strings.Contains(err.Error(), "loopback") {
		t.Errorf("an address that others reach: %v", err)
	}
}

// waitFor waits until something is so.
func waitFor(t *testing.T, is func() bool) {
	t.Helper()
	for range 2000 {
		if is() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("waited in vain")
}

// status are the status variables of a server.
func status(c *client) map[string]int64 {
	c.t.Helper()
	rows, err := c.c.QueryContext(context.Background(), "SHOW GLOBAL STATUS")
	if err != nil {
		c.t.Fatal(err)
	}
	defer rows.Close()
	out := map[string]int64{}
	for rows.Next() {
		var name, v string
		if err := rows.Scan(&name, &v); err != nil {
			c.t.Fatal(err)
		}
		out[name], _ = strconv.ParseInt(v, 10, 64)
	}
	return out
}

// TestStatusOfConnections: clients that are refused, leave or are lost are counted apart, as
// in MySQL.
func TestStatusOfConnections(t *testing.T) {
	s, dsn := startServer(t)
	c := dial(t, dsn)
	before := status(c)
	grown := func(name string, want int64) {
		t.Helper()
		waitFor(t, func() bool { return status(c)[name]-before[name] >= want })
		if n := status(c)[name] - before[name]; n != want {
			t.Errorf("%s grew by %d, not %d", name, n, want)
		}
	}
	// A wrong name, and one who leaves at the greeting.
	if db, err := sql.Open("mysql", strings.Replace(dsn, "root@", "nobody:x@", 1)); err != nil || db.Ping() == nil {
		t.Error("a stranger was let in")
	}
	left, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = bufio.NewReader(left).ReadByte()
	left.Close()
	grown("Aborted_connects", 2)
	grown("Connections", 2)
	// One that ends as it should, and one that is lost.
	dial(t, dsn).close()
	grown("Aborted_clients", 0)
	conn := rawLogin(t, s.Addr())
	conn.Close()
	grown("Aborted_clients", 1)
	// Prepared statements are those of all connections.
	other := dial(t, dsn)
	other.exec("PREPARE p FROM 'SELECT 1'")
	st, err := c.c.PrepareContext(context.Background(), "SELECT ?")
	if err != nil {
		t.Fatal(err)
	}
	grown("Prepared_stmt_count", 2)
	st.Close()
	other.exec("DEALLOCATE PREPARE p")
	grown("Prepared_stmt_count", 0)
	// Row locks.
	c.exec("CREATE TABLE k (id INT PRIMARY KEY, a INT)")
	c.exec("INSERT INTO k VALUES (1, 1)")
	c.exec("BEGIN")
	c.exec("UPDATE k SET a = 2")
	done := make(chan error, 1)
	go func() {
		_, err := other.c.ExecContext(context.Background(), "UPDATE k SET a = 3")
		done <- err
	}()
	grown("Innodb_row_lock_current_waits", 1)
	time.Sleep(5 * time.Millisecond)
	c.exec("COMMIT")
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	grown("Innodb_row_lock_current_waits", 0)
	grown("Innodb_row_lock_waits", 1)
	if now := status(c); now["Innodb_row_lock_time"] < 1 || now["Innodb_row_lock_time_max"] < 1 || now["Innodb_row_lock_time_avg"] < 1 || now["Max_used_connections"] < 2 {
		t.Errorf("%v %v %v %v", now["Innodb_row_lock_time"], now["Innodb_row_lock_time_max"], now["Innodb_row_lock_time_avg"], now["Max_used_connections"])
	}
	grown("Innodb_rows_inserted", 1)
	grown("Innodb_rows_updated", 2)
}

// rawLogin logs in as root without a driver.
func rawLogin(t *testing.T, address string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(c)
	packet := func() []byte {
		head := make([]byte, 4)
		if _, err := io.ReadFull(r, head); err != nil {
			t.Fatal(err)
		}
		b := make([]byte, int(head[0])|int(head[1])<<8|int(head[2])<<16)
		if _, err := io.ReadFull(r, b); err != nil {
			t.Fatal(err)
		}
		return b
	}
	packet() // the greeting
	const caps = 1<<9 | 1<<15 | 1<<19
	b := []byte{caps & 0xff, caps >> 8 & 0xff, caps >> 16, 0, 0, 0, 0, 1, 45}
	b = append(b, make([]byte, 23)...)
	b = append(b, "root\x00\x00caching_sha2_password\x00"...)
	if _, err := c.Write(append([]byte{byte(len(b)), 0, 0, 1}, b...)); err != nil {
		t.Fatal(err)
	}
	if ok := packet(); ok[0] != 0 {
		t.Fatalf("the login failed: %q", ok)
	}
	return c
}

// BenchmarkScrape reads the metrics of a server with 1,000 tables.
func BenchmarkScrape(b *testing.B) {
	s, dsn := startServer(b, withMetrics, inDir(b))
	c := dial(b, dsn)
	for i := range 1000 {
		c.exec(fmt.Sprintf("CREATE TABLE b%d (id INT PRIMARY KEY, a INT, KEY (a))", i))
		c.exec(fmt.Sprintf("INSERT INTO b%d VALUES (1, 1)", i))
	}
	for b.Loop() {
		if status, _ := page(b, s, "/metrics"); status != http.StatusOK {
			b.Fatal(status)
		}
	}
}
