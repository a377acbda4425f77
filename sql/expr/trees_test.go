package expr

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/internal/testutil"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/vec"
)

// recordedTrees of each kind; ten have one line.
const recordedTrees = 600

// TestRecordedTrees compares what calls of calls give, and how they are bound, with
// recorded digests. TestVectorAgainstRow finds where the ways to compute them differ, this
// test what they have in common. Look at the trees that it names, then write the digests
// with -update.
func TestRecordedTrees(t *testing.T) {
	var got strings.Builder
	var trees [][]string
	record := func(name string, text func(r *rand.Rand) string) {
		for line := range recordedTrees / 10 {
			r := rand.New(rand.NewSource(int64(line)))
			var texts []string
			for range 10 {
				texts = append(texts, text(r))
			}
			trees = append(trees, texts)
			fmt.Fprintf(&got, "%s %d  %s\n", name, line, testutil.Digests(texts))
		}
	}
	g := newTwinGen(nil)
	g.names = []string{"+", "concat", "field", "elt", "interval", "strcmp", "isnull", "round", "truncate", "left", "substring_index", "find_in_set", "make_set", "mod", "pow", "sign", "bit_count", "&", "|", "^", "<<", ">>", "~", "json_array", "format", "char_length", "quote", "hex", "conv", "least", "greatest"}
	record("tree", func(r *rand.Rand) string {
		g.r = r
		e := g.expr(1 + r.Intn(3))
		return treeText(e, twinBatch(r, 6))
	})
	record("in", func(r *rand.Rand) string {
		g.r = r
		return boundText(NewFunc(testEnv, "in", g.list(2+r.Intn(7))...)) + treeText(g.in(), twinBatch(r, 6))
	})
	record("rows", func(r *rand.Rand) string {
		g.r = r
		name := []string{"=", "<", "<=", ">", ">=", "<>", "<=>", "in"}[r.Intn(8)]
		return treeText(g.rows(name, 2+r.Intn(2)), twinBatch(r, 6))
	})
	groups := kernelGroups()
	record("kernel", func(r *rand.Rand) string {
		e, err := groups[r.Intn(len(groups))](r)
		if err != nil {
			return err.Error()
		}
		return treeText(e, kernelBatch(r, e, 5))
	})
	testflag.GoldenOf(t, "testdata/trees.txt", got.String(), func(line int, want string) string {
		if line >= len(trees) {
			return ""
		}
		_, digests, _ := strings.Cut(want, "  ")
		return testutil.Differing(digests, trees[line])
	})
}

// list is operands of which the first is compared with the others.
func (g *twinGen) list(n int) []Expr {
	out := make([]Expr, n)
	for i := range out {
		out[i] = g.expr(g.r.Intn(2))
		if i > 0 && g.r.Intn(3) > 0 { // mostly constants
			j := g.r.Intn(len(g.ts))
			out[i] = NewConst(g.vals[j][g.r.Intn(len(g.vals[j]))], g.ts[j])
		}
	}
	return out
}

// in is a column in a list of constants of one or two types.
func (g *twinGen) in() Expr {
	j, k := g.r.Intn(len(g.ts)-1), g.r.Intn(len(g.ts)-1)
	args := []Expr{&Col{ID: ColID(j), Index: j, T: g.ts[j], Null: true, Name: "c"}}
	for range 1 + g.r.Intn(20) {
		of := j
		if g.r.Intn(4) == 0 {
			of = k
		}
		args = append(args, NewConst(g.vals[of][g.r.Intn(len(g.vals[of]))], g.ts[of]))
	}
	e, err := NewFunc(testEnv, "in", args...)
	if err != nil {
		return lit(nil)
	}
	if g.r.Intn(3) == 0 {
		return Not(e)
	}
	return e
}

// rows is a comparison of rows of n values.
func (g *twinGen) rows(name string, n int) Expr {
	args := make([]Expr, 2)
	if name == "in" {
		args = make([]Expr, 2+g.r.Intn(4))
	}
	for i := range args {
		row, err := NewFunc(testEnv, "row", g.list(n)...)
		if err != nil {
			return lit(nil)
		}
		args[i] = row
	}
	e, err := NewFunc(testEnv, name, args...)
	if err != nil {
		return lit(nil)
	}
	return e
}

func boundText(e Expr, err error) string {
	if err != nil {
		return err.Error() + "\n"
	}
	return fmt.Sprintf("%s %+v\n", e, e.Type())
}

// treeText is what an expression is, and gives for the rows of a batch, one by one, with
// what is known of it: its negation, its conjuncts and the columns it reads.
func treeText(e Expr, b *vec.Batch) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s %+v null %t const %t volatile %t\n", e, e.Type(), e.Nullable(), IsConst(e), IsVolatile(e))
	for _, c := range SplitAnd(nil, e) {
		fmt.Fprintf(&out, "%s; not: %s\n", c, Not(c))
	}
	var warns []string
	c := testCtx(nil)
	c.Warn = func(w sqlerr.Warning) { warns = append(warns, fmt.Sprint(w.Level, w.Err)) }
	v, err := Eval(c, e, b)
	if err != nil {
		return out.String() + err.Error()
	}
	for l := range b.Live() {
		out.WriteString(recordedText(v.Datum(b.Row(l))) + "; ")
	}
	c.Release(v)
	slices.Sort(warns)
	fmt.Fprintln(&out, slices.Compact(warns))
	if cond, err := NewFilter(testEnv, e); err == nil {
		if err := EvalFilter(c, cond, b); err != nil {
			return out.String() + "filter " + err.Error()
		}
		fmt.Fprint(&out, b.Live())
	}
	return out.String()
}
