package diff

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/sqlots/sqlots/sql/planner"
)

// path is one way to run a query. Each query takes a few of them, the first two always.
type path struct {
	name   string
	conn   *sql.Conn
	binary bool
	set    func(r *rand.Rand) string // before the query, on conn
	hint   func(t *table) string     // after each table
	// text makes another query of one of n columns; it answers "" where that
	// is not possible. changes: that may be done with an INSERT and its like.
	text     func(r *run, text string, n int) string
	changes  bool
	params   bool // literals as parameters
	reorders bool // rows come in any order
	retypes  bool // columns may have another type
}

// always are the paths that each query takes, others how many more.
const (
	always = 2
	others = 3
)

const (
	errTooLate    = 3024 // of max_execution_time
	errOracleLate = 1969 // of max_statement_time
	errNotGrouped = 1055
	errMemory     = 3170
	errLogarithm  = 3020 // a warning in queries, an error where rows are stored
)

func (r *run) connect(dsn, oracle string) {
	sm := "SET sql_mode = '" + mode + "'"
	to := func(settings ...string) *sql.Conn {
		return open(r.t, dsn, append(settings, sm, "SET max_execution_time = 2500")...)
	}
	r.base = to()
	one := to("SET sqlots_batch_size = 1", "SET sqlots_parallelism = 1")
	three := to("SET sqlots_batch_size = 3", "SET sqlots_parallelism = 4")
	naive := to("SET sqlots_disabled_rules = '" + strings.Join(planner.Rules(), ",") + "'")
	spilling := to("SET sqlots_spill_over = 500", "SET sqlots_batch_size = 3")
	varied := to()
	force := func(i int) func(*table) string {
		return func(t *table) string {
			if len(t.indexes) == 0 {
				return " FORCE INDEX (PRIMARY)"
			}
			return " FORCE INDEX (" + t.indexes[i%len(t.indexes)] + ")"
		}
	}
	search := func(t *table) string {
		if t.searched {
			return " FORCE INDEX (xs)"
		}
		return ""
	}
	scan := func(t *table) string { return " USE INDEX ()" }
	rules := func(list []string, n int) func(*rand.Rand) string {
		return func(r *rand.Rand) string {
			off := make([]string, n)
			for i := range off {
				off[i] = pick(r, list)
			}
			return "SET sqlots_disabled_rules = '" + strings.Join(off, ",") + "'"
		}
	}
	switches := func(r *rand.Rand) string {
		return "SET optimizer_switch = '" + pick(r, []string{"index_merge", "index_merge_sort_union", "index_merge_intersection", "skip_scan", "block_nested_loop", "semijoin"}) + "=off,use_invisible_indexes=" + pick(r, []string{"on'", "off'"})
	}
	r.paths = append([]path{
		{name: "text", conn: r.base, changes: true, text: func(_ *run, text string, _ int) string { return "/*+ */ " + text }},
		{name: "binary", conn: r.base, binary: true},
		{name: "parameters", conn: r.base, params: true, changes: true},
		{name: "batches of 1", conn: one, changes: true},
		{name: "batches of 3", conn: three, changes: true},
		{name: "spilling", conn: spilling, changes: true},
		{name: "spilling, scan", conn: spilling, hint: scan},
		{name: "no rules", conn: naive, changes: true},
		{name: "no rules, scan", conn: naive, hint: scan},
		{name: "a rule off", conn: varied, set: rules(planner.Rules(), 1), changes: true},
		{name: "operators off", conn: varied, set: rules(planner.Operators(), 3), changes: true},
		{name: "a switch off", conn: to(), set: switches, changes: true},
		{name: "scan", conn: r.base, hint: scan},
		{name: "search", conn: r.base, hint: search},
		{name: "search, batches of 3", conn: three, hint: search},
		{name: "index 0", conn: r.base, hint: force(0)},
		{name: "index 1", conn: one, hint: force(1)},
		{name: "index 2", conn: three, hint: force(2)},
		{name: "straight join", conn: r.base, text: straight},
		{name: "PREPARE", conn: varied, text: prepare},
	}, wrapped(r.base)...)
	if oracle != "" {
		r.oracle = open(r.t, oracle, "SET sql_mode = '"+mode+",TIME_ROUND_FRACTIONAL'", "SET group_concat_max_len = 1024",
			"SET optimizer_switch = 'subquery_cache=off'", "SET max_statement_time = 20")
	}
}

// choose chooses the paths of a query or a change.
func (r *run) choose(change bool) []*path {
	var list []*path
	for i := range r.paths {
		if d := &r.paths[i]; d.changes || !change {
			list = append(list, d)
		}
	}
	fixed := always
	if change {
		fixed = 1
	}
	rest := list[fixed:]
	r.rnd.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	return list[:min(fixed+others, len(list))]
}

func (d *path) start(r *run) {
	r.answers++
	r.taken[d.name]++
	if d.set != nil {
		s := d.set(r.rnd)
		if a := do(r.ctx, d.conn, s); a.err != nil {
			r.report(d.name, s, "\n ", a.err)
		}
	}
}

// change is a change on the path.
func (d *path) change(text string) (string, []any) {
	switch {
	case d.params:
		return parameters(text)
	case d.text != nil:
		return d.text(nil, plain(text), 0), nil
	}
	return plain(text), nil
}

// run runs a query along the path; got is base where that is not possible.
func (d *path) run(r *run, q query, base answer) (got answer, text string) {
	text = plain(q.text)
	if d.hint != nil {
		text = render(q.text, func(name string) string {
			for _, t := range r.tables {
				if t.name == name {
					return d.hint(t)
				}
			}
			return ""
		})
	}
	if d.params {
		s, args := parameters(q.text)
		return runPrepared(r.ctx, d.conn, s, args), fmt.Sprint(s, " ", args)
	}
	if d.text != nil {
		if text = d.text(r, text, len(base.double)); text == "" {
			return base, ""
		}
	}
	return runQuery(r.ctx, d.conn, text, d.binary), text
}

// straight joins in the order of FROM.
func straight(_ *run, text string, _ int) string {
	return strings.ReplaceAll(text, "SELECT ", "SELECT STRAIGHT_JOIN ")
}

// prepare has the statement prepared by name.
func prepare(r *run, text string, _ int) string {
	s := "PREPARE p FROM '" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
	for i := range r.paths {
		if d := &r.paths[i]; d.name == "PREPARE" {
			if do(r.ctx, d.conn, s).err != nil {
				return ""
			}
		}
	}
	return "EXECUTE p"
}

// literal marks a literal that may be a parameter; parameters takes it out.
const literal = "\x01"

func param(s string) string { return literal + s + literal }

// parameters replaces the marked literals by parameters.
func parameters(text string) (string, []any) {
	parts := strings.Split(hinted(text, noHint), literal)
	var args []any
	for i := 1; i < len(parts); i += 2 {
		v, ok := argument(parts[i])
		if ok {
			args, parts[i] = append(args, v), "?"
		}
	}
	return strings.Join(parts, ""), args
}

// argument is the value of an integer or a text.
func argument(s string) (any, bool) {
	if rest, ok := strings.CutPrefix(s, "'"); ok {
		return strings.NewReplacer("''", "'", `\\`, `\`, `\%`, `\%`).Replace(strings.TrimSuffix(rest, "'")), true
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, true
	}
	return nil, false
}
