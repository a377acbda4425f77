package sqllogic

import (
	"context"
	"database/sql/driver"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/internal/testutil"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/server"
	"github.com/sqlots/sqlots/tool/slt"
)

// plans has a file for each folder of scripts: the queries that read tables, each
// with its plan.
const plans = "testdata/plans"

// TestPlans explains the queries of all scripts and compares their plans with the
// recorded ones. Scripts with search or columnar indexes are left out: whether an index
// is ready, and the number of rows that it knows, depend on how far it has followed.
func TestPlans(t *testing.T) {
	t.Parallel()
	s := start(t, "memkv")
	got := map[string]*strings.Builder{}
	paths, tables := []string{}, recordedTables{}
	for path := range files(t) {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	every := testflag.InShort(8, 1)
	for i, path := range paths {
		if i%every != 0 {
			continue
		}
		script, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if searchIndex.Match(script) || slices.Contains(slow, name(path)) && testflag.InShort(true, false) {
			continue
		}
		folder, _, _ := strings.Cut(name(path), "/")
		if got[folder] == nil {
			got[folder] = &strings.Builder{}
		}
		explainFile(t, s, path, got[folder], &tables)
	}
	testflag.GoldenPart(t, "testdata/tables.txt", strings.Join(tables.lines, "\n")+"\n", func(line int, _ string) string {
		if line < len(tables.dumps) {
			return tables.dumps[line]
		}
		return ""
	})
	for folder, text := range got {
		testflag.GoldenPart(t, filepath.Join(plans, folder+".txt"), text.String(), func(int, string) string { return "" })
	}
}

// explainFile appends the plans of a script's queries, and digests of the descriptors of
// the tables that the script leaves. Statements may fail where a query before them would
// have had an effect.
func explainFile(t *testing.T, s *server.Server, path string, out *strings.Builder, tables *recordedTables) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), fileTimeout)
	defer cancel()
	out.WriteString("## " + name(path) + "\n")
	opts := slt.Options{Open: configuration{batchSize: 1024}.open(s.Addr(), ""), Engines: []string{"mysql", "sqlots"}, Instead: func(ctx context.Context, conn driver.Conn, query string) error {
		if plan := explain(ctx, conn, query); plan != "" {
			query = strings.Join(strings.Fields(query), " ")
			out.WriteString(query[:min(len(query), 120)] + "\n    " + plan + "\n")
		}
		return nil
	}, Finish: func(_ context.Context, _ driver.Conn, database string) error {
		tables.add("## "+name(path), "")
		for _, table := range s.Engine().Catalog.Snapshot().Tables(database) {
			text := databases.ReplaceAllString(numbered.ReplaceAllString(testutil.Dump(table, brief), ""), "db")
			tables.add(table.Name+" "+testutil.Digest(text), text)
		}
		return nil
	}}
	if _, err := slt.RunFile(ctx, path, opts); err != nil {
		t.Error(path, err)
	}
}

// recordedTables are lines with the digests of descriptors, and their texts.
type recordedTables struct{ lines, dumps []string }

func (r *recordedTables) add(line, dump string) {
	r.lines, r.dumps = append(r.lines, line), append(r.dumps, dump)
}

// brief leaves out of descriptors which number of all tables they have.
func brief(v reflect.Value) (string, bool) {
	return "number", v.Type() == reflect.TypeFor[schema.TableID]() || v.Type() == reflect.TypeFor[time.Time]()
}

var (
	searchIndex = regexp.MustCompile(`(?i)SEARCH INDEX|FULLTEXT|COLUMNAR`)

	numbered  = regexp.MustCompile(`CreatedUnix:[0-9]+|&Stream{ID:[0-9]+`) // by the time, or by the tables before
	isQuery   = regexp.MustCompile(`(?is)^\s*(SELECT|WITH|TABLE|\()`)
	costs     = regexp.MustCompile(`  \((cost=[^)]*|rows=[^)]* each)\)`) // estimates; some are from samples
	digits    = regexp.MustCompile(`[0-9]+`)
	databases = regexp.MustCompile(`slt_[0-9a-f]{12}`)
)

// explain is the plan of a query in one line, with depths of operators; "" for what
// reads no table, and is not explained.
func explain(ctx context.Context, conn driver.Conn, query string) string {
	if !isQuery.MatchString(query) {
		return ""
	}
	lines, err := texts(ctx, conn, "EXPLAIN FORMAT=TREE "+query, 0)
	if err != nil {
		var failed *mysql.MySQLError
		if errors.As(err, &failed) {
			return ""
		}
		return err.Error()
	}
	plan := strings.Join(lines, "\n")
	if !strings.Contains(plan, " on ") {
		return ""
	}
	if strings.Contains(plan, "stream@PRIMARY") { // sequences count the commits of all scripts
		plan = digits.ReplaceAllString(plan, "N")
	}
	plan = costs.ReplaceAllString(databases.ReplaceAllString(plan, "db"), "")
	var out []string
	for line := range strings.SplitSeq(plan, "\n") {
		text := strings.TrimLeft(line, " ")
		if rest, ok := strings.CutPrefix(text, "-> "); ok {
			text = strings.Repeat(">", 1+(len(line)-len(text))/4) + " " + rest
		}
		if text != "" {
			out = append(out, text)
		}
	}
	return strings.Join(out, " ")
}
