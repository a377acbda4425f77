package sqllogic

import (
	"context"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/tool/slt"
)

// The corpus of SQLite's sqllogictest is no part of the project.
// SQLOTS_SLT_CORPUS names its folder or archive; without it the test is
// skipped. SQLOTS_SLT_SHARE=1 runs all of it instead of every n-th query.
const (
	corpusVariable = "SQLOTS_SLT_CORPUS"
	shareVariable  = "SQLOTS_SLT_SHARE"
	corpusShare    = 16
)

// TestCorpus runs the files two at a time: the server has more to do then,
// and the parser of the files is no longer what takes the time.
func TestCorpus(t *testing.T) {
	path := os.Getenv(corpusVariable)
	if path == "" {
		t.Skipf("%s names no folder or archive of SQLite's sqllogictest corpus", corpusVariable)
	}
	testflag.Normal(t)
	opts := slt.Options{Engines: []string{"mysql", "sqlots"}, QueryShare: corpusShare}
	if s := os.Getenv(shareVariable); s != "" {
		var err error
		if opts.QueryShare, err = strconv.Atoi(s); err != nil || opts.QueryShare < 1 {
			t.Fatalf("%s=%q is no number of queries", shareVariable, s)
		}
	}
	opts.Exceptions = corpusExceptions(t)
	files, err := slt.FindFiles(t.Context(), []string{path}, func() (string, error) { return t.TempDir(), nil })
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatalf("%s holds no *.test files", path)
	}
	// The corpus groups by columns that MySQL's default sql_mode rejects.
	opts.Open, err = slt.Opener("root@tcp(" + start(t, "pebblekv").Addr() + ")/?sql_mode='STRICT_TRANS_TABLES'")
	if err != nil {
		t.Fatal(err)
	}
	summary := runCorpus(t.Context(), files, opts)
	for _, r := range summary.Reports {
		for _, f := range r.Failures {
			t.Error(f)
		}
		if !r.Passed() {
			t.Errorf("%s: %d records failed; %s", r.File, r.Failed, r.Error)
		}
	}
	t.Logf("one query of %d\n%s", opts.QueryShare, summary)
}

func corpusExceptions(t *testing.T) []slt.Exception {
	t.Helper()
	const name = "testdata/corpus.except"
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list, err := slt.ParseExceptions(name, f)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func runCorpus(ctx context.Context, files []string, opts slt.Options) *slt.Summary {
	summary := &slt.Summary{Engines: opts.Engines, Protocol: opts.Protocol.String()}
	began := time.Now()
	todo := make(chan string)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for path := range todo {
				report, _ := slt.RunFile(ctx, path, opts) // the report holds the error
				mu.Lock()
				summary.Add(report)
				mu.Unlock()
			}
		})
	}
	for _, path := range files {
		todo <- path
	}
	close(todo)
	wg.Wait()
	summary.Seconds = time.Since(began).Seconds()
	return summary
}
