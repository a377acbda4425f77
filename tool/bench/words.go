package bench

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"
)

// wordsBench is `sqlots bench words`: the first ten rows with two words and a condition,
// asked of the documents of `sqlots bench search` by many connections, also of Sphinx.
type wordsBench struct {
	documents   searchBench
	sphinx      string
	connections int
	rounds      int
	stdout      io.Writer
}

const wordsUsage = `usage: sqlots bench words [flags]

Asks for the first ten documents, by a column, that have two words and fulfil a
condition, over many connections: questions a second, and CPU time of the server
for one. With -sphinx, searchd answers the same questions in turn, in its SQL,
from a real-time index that its configuration defines:

  index documents
  {
    type = rt
    path = /somewhere/documents
    rt_field = body
    rt_attr_uint = wide
    rt_attr_uint = narrow
  }

`

func wordsMain(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	b := &wordsBench{stdout: stdout, documents: searchBench{stdout: stdout}}
	d := &b.documents
	f := newFlags("words", wordsUsage, stderr)
	f.StringVar(&d.dsn, "dsn", "root@tcp(127.0.0.1:4000)/", "`address` A as user:password@tcp(host:port)/database")
	f.StringVar(&b.sphinx, "sphinx", "", "host:port of searchd's listener of the MySQL protocol")
	f.Int64Var(&d.rows, "rows", 1_000_000, "documents")
	f.Uint64Var(&d.seed, "seed", 1, "seed of the data")
	f.BoolVar(&d.keep, "keep", false, "measure the documents of an earlier run")
	f.DurationVar(&d.duration, "duration", 3*time.Second, "`time` of each measurement")
	f.IntVar(&b.connections, "connections", 8, "connections")
	f.IntVar(&b.rounds, "rounds", 5, "measurements of each server, in turn; the median counts")
	if err := f.Parse(args); err != nil {
		return err
	}
	if d.rows < 100 || d.duration <= 0 || b.connections < 1 || b.rounds < 1 || f.NArg() > 0 {
		return errors.New("-rows must be at least 100, the other numbers greater than 0")
	}
	return b.run(ctx)
}

// wordsServer is a server that answers questions.
type wordsServer struct {
	name string
	pid  int
	db   *sql.DB
	text func(q wordsQuestion) string
}

// wordsQuestion asks for two words and a number below a bound.
type wordsQuestion struct{ one, two, below int }

// randomQuestion is of words some of which are frequent, as in the documents.
func randomQuestion(r *rand.Rand) wordsQuestion {
	q := wordsQuestion{one: r.IntN(100), two: r.IntN(2000), below: 100 + r.IntN(900)}
	if q.two == q.one {
		q.two++
	}
	return q
}

func sqlotsWords(q wordsQuestion) string {
	return fmt.Sprintf("SELECT id FROM documents WHERE MATCH (body) AGAINST ('+word%d +word%d' IN BOOLEAN MODE) AND narrow < %d ORDER BY wide, id LIMIT 10", q.one, q.two, q.below)
}

// sphinxWords is the question to searchd, whose documents are counted from 1.
func sphinxWords(q wordsQuestion) string {
	return fmt.Sprintf("SELECT id FROM documents WHERE MATCH('word%d word%d') AND narrow < %d ORDER BY wide ASC, id ASC LIMIT 10 OPTION ranker=none", q.one, q.two, q.below)
}

func (b *wordsBench) run(ctx context.Context) (err error) {
	t, err := openTarget(ctx, "A", b.documents.dsn, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	_, _ = fmt.Fprintln(b.stdout, t)
	servers := []*wordsServer{{"A", t.pid, t.db, sqlotsWords}}
	if b.sphinx != "" {
		db, err := openSphinx(b.sphinx)
		if err != nil {
			return err
		}
		defer func() { _ = db.Close() }()
		servers = append(servers, &wordsServer{"Sphinx", findServer("tcp", b.sphinx), db, sphinxWords})
	}
	if !b.documents.keep {
		if err := b.documents.fill(ctx, t); err != nil {
			return fmt.Errorf("filling %s: %w", t.name, err)
		}
		if b.sphinx != "" {
			if err := b.fillSphinx(ctx, servers[1].db); err != nil {
				return fmt.Errorf("filling searchd: %w", err)
			}
		}
	}
	if err := compareWords(ctx, servers, b.documents.seed); err != nil {
		return err
	}
	return b.measure(ctx, servers)
}

// openSphinx connects to searchd, which does not know what drivers set.
func openSphinx(addr string) (*sql.DB, error) {
	cfg := mysql.NewConfig()
	cfg.Net, cfg.Addr, cfg.InterpolateParams, cfg.Collation = "tcp", addr, true, "utf8mb4_general_ci"
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// fillSphinx writes the documents that the target has.
func (b *wordsBench) fillSphinx(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, "TRUNCATE RTINDEX documents"); err != nil {
		return err
	}
	r, w := io.Pipe()
	go func() { _ = w.CloseWithError(writeDocuments(w, b.documents.rows, b.documents.seed)) }()
	defer func() { _ = r.Close() }()
	const batch = 1000
	start := time.Now()
	values := make([]string, 0, batch)
	put := func() error {
		if len(values) == 0 {
			return nil
		}
		_, err := db.ExecContext(ctx, "INSERT INTO documents (id, wide, narrow, body) VALUES "+strings.Join(values, ", "))
		values = values[:0]
		return err
	}
	lines := bufio.NewScanner(r)
	for id := 1; lines.Scan(); id++ {
		f := strings.Split(lines.Text(), "\t") // id, kind, user, wide, narrow, amount, at, body
		if values = append(values, fmt.Sprintf("(%d, %s, %s, '%s')", id, f[3], f[4], f[7])); len(values) < batch {
			continue
		}
		if err := put(); err != nil {
			return err
		}
	}
	if err := errors.Join(lines.Err(), put()); err != nil {
		return err
	}
	for _, text := range []string{"FLUSH RAMCHUNK documents", "OPTIMIZE INDEX documents"} {
		if _, err := db.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(b.stdout, "Sphinx: filled in %.1f s\n", time.Since(start).Seconds())
	return err
}

// answerWords are the ids of an answer, which may only be as many as they can be.
func answerWords(ctx context.Context, conn *sql.Conn, text string, ids []int64) ([]int64, error) {
	rows, err := conn.QueryContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// compareWords asks all servers the same questions.
func compareWords(ctx context.Context, servers []*wordsServer, seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 3))
	conns := make([]*sql.Conn, len(servers))
	for i, s := range servers {
		conn, err := s.db.Conn(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		defer func() { _ = conn.Close() }()
		conns[i] = conn
	}
	for range 200 {
		q := randomQuestion(r)
		var first []int64
		for i, s := range servers {
			ids, err := answerWords(ctx, conns[i], s.text(q), nil)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", s.name, s.text(q), err)
			}
			if i == 0 {
				first = ids
				continue
			}
			for k := range ids {
				ids[k]--
			}
			if !slices.Equal(ids, first) {
				return fmt.Errorf("%s gives %v, %s %v", servers[0].text(q), first, s.name, ids)
			}
		}
	}
	return nil
}

// measure asks random questions of the servers in turn.
func (b *wordsBench) measure(ctx context.Context, servers []*wordsServer) error {
	rates := make([][]float64, len(servers))
	cpus := make([][]float64, len(servers))
	for round := range b.rounds {
		for i, s := range servers {
			before, _ := processCPU(s.pid)
			n, took, err := b.questions(ctx, s, uint64(round))
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			after, _ := processCPU(s.pid)
			rates[i] = append(rates[i], float64(n)/took.Seconds())
			cpus[i] = append(cpus[i], (after-before).Seconds()*1e6/float64(n))
		}
	}
	for i, s := range servers {
		slices.Sort(rates[i])
		slices.Sort(cpus[i])
		_, _ = fmt.Fprintf(b.stdout, "%-8s %9.0f questions/s %9.0f µs of CPU each\n", s.name, rates[i][b.rounds/2], cpus[i][b.rounds/2])
	}
	if len(servers) > 1 {
		_, _ = fmt.Fprintf(b.stdout, "ratio    %9.2f\n", rates[0][b.rounds/2]/rates[1][b.rounds/2])
	}
	return nil
}

// questions asks for the duration of a measurement, over all connections.
func (b *wordsBench) questions(ctx context.Context, s *wordsServer, round uint64) (n int64, took time.Duration, err error) {
	var count atomic.Int64
	errs := make([]error, b.connections)
	var wg sync.WaitGroup
	start := time.Now()
	end := start.Add(b.documents.duration)
	for c := range b.connections {
		wg.Go(func() {
			conn, err := s.db.Conn(ctx)
			if err != nil {
				errs[c] = err
				return
			}
			defer func() { _ = conn.Close() }()
			r := rand.New(rand.NewPCG(round, uint64(c)))
			var ids []int64
			for time.Now().Before(end) {
				if ids, errs[c] = answerWords(ctx, conn, s.text(randomQuestion(r)), ids[:0]); errs[c] != nil {
					return
				}
				count.Add(1)
			}
		})
	}
	wg.Wait()
	return count.Load(), time.Since(start), errors.Join(errs...)
}
