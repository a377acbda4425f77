package main

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

var (
	docs = flag.Int("docs", 100_000, "documents")
	runs = flag.Int("runs", 15, "runs of each question, of which the median is shown")
	seed = flag.Uint64("seed", 1, "seed of the documents")
)

// document has a keyword of 10 and one of many values, numbers, words of which
// few are frequent, and a place near one of 20 towns.
type document struct {
	Kind   string    `json:"kind"`
	User   string    `json:"user"`
	Wide   int       `json:"wide"`
	Narrow int       `json:"narrow"`
	Words  string    `json:"words"`
	Place  []float64 `json:"place"` // longitude, latitude
}

// documents calls fn with all documents, each time the same.
func documents(fn func(i int, d *document) error) error {
	r := rand.New(rand.NewPCG(*seed, 2))
	zipf := rand.NewZipf(r, 1.1, 4, 49_999)
	for i := range *docs {
		town := r.IntN(20)
		d := document{
			Kind: fmt.Sprintf("kind%d", r.IntN(10)), User: fmt.Sprintf("user%06d", r.IntN(200_000)),
			Wide: r.IntN(1_000_000), Narrow: r.IntN(1000),
			Place: []float64{-5 + float64(town)*2 + r.NormFloat64()/20, 40 + float64(town) + r.NormFloat64()/20},
		}
		for j := range 8 + r.IntN(9) {
			if j > 0 {
				d.Words += " "
			}
			d.Words += fmt.Sprintf("word%d", zipf.Uint64())
		}
		if err := fn(i, &d); err != nil {
			return err
		}
	}
	return nil
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// measure is the median of the CPU time of some calls, after one that does not
// count. Short calls are repeated.
func measure(fn func() (uint64, error)) (time.Duration, uint64, error) {
	start := cpuTime()
	hits, err := fn()
	if err != nil {
		return 0, 0, err
	}
	n := 1 + int(5*time.Millisecond/max(cpuTime()-start, 50*time.Microsecond))
	times := make([]time.Duration, *runs)
	for i := range times {
		start := cpuTime()
		for range n {
			if hits, err = fn(); err != nil {
				return 0, 0, err
			}
		}
		times[i] = (cpuTime() - start) / time.Duration(n)
	}
	slices.Sort(times)
	return times[len(times)/2], hits, nil
}

// same tolerates that distances are measured on spheres of different sizes.
func same(q *question, a, b uint64) bool {
	if q.about {
		return math.Abs(float64(a)-float64(b)) <= 2+float64(b)/200
	}
	return a == b
}

func sizeOf(dir string) (n int64) {
	_ = filepath.Walk(dir, func(_ string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			n += info.Size()
		}
		return nil
	})
	return n
}

func run() error {
	dir, err := os.MkdirTemp("", "bench-bleve")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	theirs, err := newBleve(filepath.Join(dir, "bleve"))
	if err != nil {
		return fmt.Errorf("bleve: %w", err)
	}
	defer theirs.close()
	ours, err := newServer(filepath.Join(dir, "sqlots"))
	if err != nil {
		return fmt.Errorf("sqlots: %w", err)
	}
	defer ours.close()
	fmt.Printf("%d documents, CPU time in microseconds\n\n| question | hits | bleve | sqlots by SQL |\n|---|---|---|---|\n", *docs)
	for _, q := range questions() {
		t, n, err := measure(func() (uint64, error) { return theirs.search(&q) })
		if err != nil {
			return fmt.Errorf("%s: bleve: %w", q.name, err)
		}
		u, m, err := measure(func() (uint64, error) { return ours.search(&q) })
		if err != nil {
			return fmt.Errorf("%s: sqlots: %w", q.name, err)
		}
		if !same(&q, n, m) {
			return fmt.Errorf("%s: %d hits in bleve, %d in sqlots", q.name, n, m)
		}
		fmt.Printf("| %s | %d | %.0f | %.0f |\n", q.name, m, float64(t.Nanoseconds())/1e3, float64(u.Nanoseconds())/1e3)
	}
	fmt.Printf("| building, a document | | %.0f | %.0f |\n", theirs.perDocument, ours.perDocument)
	fmt.Printf("| bytes of the index, a document | | %d | %d |\n", sizeOf(filepath.Join(dir, "bleve"))/int64(*docs), sizeOf(filepath.Join(dir, "sqlots", "search"))/int64(*docs))
	return nil
}

func main() {
	flag.Parse()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
