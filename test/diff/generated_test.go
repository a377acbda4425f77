package diff

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/servertest"
	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
)

const (
	generatedRounds     = 60
	generatedStatements = 80
)

// TestGenerated compares the answers of generated statements with recorded digests.
// What the answers ought to be is for TestDifferences, which compares with MariaDB; this
// test finds changes, and is fast. -update writes the digests again.
//
// A line is the digests of a statement and of its answer, and how large that is.
func TestGenerated(t *testing.T) {
	testflag.Normal(t) // all of it takes 8 s
	s := servertest.Start(t, server.Config{Memory: 256 << 20, CheckPlans: true})
	r := &run{t: t, ctx: t.Context(), base: open(t, servertest.DSN(s), "SET sql_mode = '"+mode+"'", "SET timestamp = 1700000000.123456", "SET sqlots_parallelism = 1")}
	var out strings.Builder
	var texts []string
	for i := range testflag.PickRecorded(0, generatedRounds/4, generatedRounds) {
		seed := uint64(1000 + i)
		fmt.Fprintf(&out, "## seed %d\n", seed)
		texts = append(texts, "")
		r.generated(seed, func(text, line string) {
			out.WriteString(line + "\n")
			texts = append(texts, text)
		})
	}
	testflag.GoldenPart(t, "testdata/generated.txt", out.String(), func(line int, _ string) string { return texts[line] })
}

// generated makes the tables of a round and runs its statements.
func (r *run) generated(seed uint64, record func(text, line string)) {
	r.seed, r.tables = seed, nil
	rnd := rand.New(rand.NewPCG(seed, 77))
	for _, s := range []string{"DROP DATABASE IF EXISTS made", "CREATE DATABASE made", "USE made"} {
		if !r.setup(s, "") {
			return
		}
	}
	for i := range 2 + rnd.IntN(3) {
		t := newTable(rnd, fmt.Sprintf("t%d", i))
		if !r.setup(t.ddl[0], "") {
			return
		}
		r.tables = append(r.tables, t)
		for _, s := range newGen(rnd.Uint64(), r.tables, 0).fill(t, rnd.IntN(60)) {
			do(r.ctx, r.base, s)
		}
		do(r.ctx, r.base, "ANALYZE TABLE "+t.name)
	}
	for i := range generatedStatements {
		s := rnd.Uint64()
		if i%4 == 3 {
			t := pick(rnd, r.tables)
			text := plain(newGen(s, r.tables, 0).change(t))
			a := do(r.ctx, r.base, text)
			a.rows = append(a.rows, runQuery(r.ctx, r.base, "SHOW WARNINGS", false).rows...)
			after := runQuery(r.ctx, r.base, t.selectAll(), false)
			after.rows = append(after.rows, a.rows...)
			record(text, fmt.Sprintf("%s %s, %d affected, error %d", digest(text), digest(lines(after, false)...), a.affected, a.errNumber()))
			continue
		}
		var q query
		var text string
		var a answer
		for range 4 { // one that has rows, if there is one
			q = newGen(s, r.tables, 0).query()
			text = plain(q.text)
			if a = runQuery(r.ctx, r.base, text, false); len(a.rows) > 0 {
				break
			}
			s = rnd.Uint64()
		}
		if !q.ordered {
			slices.SortFunc(a.rows, slices.Compare)
		}
		record(text, fmt.Sprintf("%s %s, %d rows, error %d", digest(text), digest(append(lines(a, q.loose), a.types)...), len(a.rows), a.errNumber()))
	}
}

func lines(a answer, loose bool) []string {
	list := make([]string, len(a.rows))
	for i, row := range a.rows {
		if list[i] = strings.Join(row, "\x00"); loose {
			list[i] = foldText(list[i])
		}
	}
	return list
}

func digest(list ...string) string {
	h := fnv.New32a()
	for _, s := range list {
		fmt.Fprintf(h, "%d %s", len(s), s)
	}
	return fmt.Sprintf("%08x", h.Sum32())
}
