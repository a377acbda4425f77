package metamorphic

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// kind is what a step is, as far as option sets treat it differently.
type kind uint8

const (
	change kind = iota
	query
	crash
	load    // rows into a table
	expire  // the expired rows of a table go
	analyze // statistics
	build   // an index, during changes
)

// step is one step of a history. Text holds marks: literals that may become
// parameters, tables that may get a hint.
type step struct {
	kind    kind
	text    string
	table   string
	ordered bool
	rows    [][]string // of load: literals
	columns string     // of load
	during  []string   // of build
}

const (
	literal = "\x01" // around a literal
	hint    = "\x02" // after a table that may be read by any index, followed by its name and another
)

func lit(s string) string { return literal + s + literal }

// column is a column, or an attribute, of a table.
type column struct {
	name, kind string
	attribute  bool
	// mixed: the column may be of another kind.
	mixed bool
}

// model is what the generator believes about a table. A statement that failed
// makes it wrong, which does no harm.
type model struct {
	name    string
	cols    []column
	key     []string // names of the primary key's columns; none for a hidden key
	indexes []string
	dynamic bool
	ttl     bool
	stream  bool
	// partitioned: it has, or had, partitions by a column of the key.
	partitioned bool
}

// keyed are the columns by which it may have partitions.
func (t *model) keyed() []string {
	if len(t.key) == 0 {
		return []string{"a", "b"}
	}
	return t.key
}

// history makes steps.
type history struct {
	r      *rand.Rand
	strict bool // sql_mode is
	// changing: a condition belongs to a change.
	changing bool
	tables   []*model
	inTxn    bool
	saved    int
	queries  []step
	serial   int
	steps    []step
}

// newHistory makes n steps, the first of which sets the mode.
func newHistory(seed uint64, n int) []step {
	h := &history{r: rand.New(rand.NewPCG(seed, 99))}
	h.strict = h.chance(50)
	if h.strict {
		h.add(change, "SET SESSION sql_mode = DEFAULT")
	} else {
		h.add(change, "SET SESSION sql_mode = ''")
	}
	for range 2 + h.r.IntN(2) {
		h.create()
	}
	for len(h.steps) < n {
		h.next()
	}
	return h.steps
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func (h *history) chance(percent int) bool { return h.r.IntN(100) < percent }

func (h *history) add(k kind, format string, args ...any) {
	h.steps = append(h.steps, step{kind: k, text: fmt.Sprintf(format, args...)})
}

// next adds a step or a few.
func (h *history) next() {
	if len(h.tables) == 0 {
		h.create()
	}
	t := pick(h.r, h.tables)
	switch n := h.r.IntN(100); {
	case n < 30:
		h.query()
	case n < 62:
		h.change(t)
	case n < 72:
		h.transaction()
	case n < 87:
		h.define(t)
	case n < 90:
		h.add(analyze, "ANALYZE TABLE %s", t.name)
		h.ended()
	case n < 94:
		h.add(crash, "")
		h.ended()
	case n < 97:
		if rows, cols := h.loaded(t); rows != nil && !h.inTxn {
			h.steps = append(h.steps, step{kind: load, table: t.name, rows: rows, columns: cols})
		}
	case t.ttl && !h.inTxn:
		h.steps = append(h.steps, step{kind: expire})
	}
}

// ended: the transaction is over.
func (h *history) ended() { h.inTxn, h.saved = false, 0 }

func (h *history) transaction() {
	if !h.inTxn {
		h.add(change, "%s", pick(h.r, []string{"BEGIN", "START TRANSACTION", "START TRANSACTION WITH CONSISTENT SNAPSHOT"}))
		h.inTxn = true
		return
	}
	switch n := h.r.IntN(10); {
	case n < 3:
		h.saved = min(h.saved+1, 3)
		h.add(change, "SAVEPOINT s%d", h.saved)
	case n < 6 && h.saved > 0:
		h.add(change, "ROLLBACK TO SAVEPOINT s%d", 1+h.r.IntN(h.saved))
	case n < 7 && h.saved > 0:
		h.add(change, "RELEASE SAVEPOINT s%d", 1+h.r.IntN(h.saved))
	case n < 9:
		h.add(change, "COMMIT")
		h.ended()
	default:
		h.add(change, "ROLLBACK")
		h.ended()
	}
}

var kinds = []string{"INT", "BIGINT", "VARCHAR(20)", "TEXT", "DECIMAL(10,2)", "DATETIME"}

// tableNames are few, so that tables come back under the names of others.
var tableNames = []string{"t0", "t1", "t2", "t3"}

func (h *history) create() {
	name := pick(h.r, tableNames)
	if slices.ContainsFunc(h.tables, func(t *model) bool { return t.name == name }) {
		return
	}
	t := &model{name: name, cols: []column{{name: "a", kind: "INT"}, {name: "b", kind: "VARCHAR(20)"}}}
	key := ""
	switch h.r.IntN(5) {
	case 0:
		t.key, key = []string{"a", "b"}, ", PRIMARY KEY (a, b)"
	case 1:
		t.key, key = []string{"b"}, ", PRIMARY KEY (b)"
	case 2: // a hidden one
	default:
		t.key, key = []string{"a"}, ", PRIMARY KEY (a)"
	}
	for i := range 2 + h.r.IntN(3) {
		t.cols = append(t.cols, column{name: fmt.Sprintf("c%d", i), kind: pick(h.r, kinds)})
	}
	t.cols = append(t.cols, column{name: "d", kind: "DATETIME"})
	partitions := h.partitions(t)
	var defs []string
	for _, c := range t.cols {
		defs = append(defs, c.name+" "+c.kind)
	}
	for range h.r.IntN(3) {
		defs = append(defs, h.index(t))
	}
	options := h.attributes(t)
	if h.chance(15) {
		options += " TTL = d + INTERVAL 1 DAY"
		t.ttl = true
	}
	h.tables = append(h.tables, t)
	h.add(change, "CREATE TABLE %s (%s%s)%s%s", name, strings.Join(defs, ", "), key, options, partitions)
	h.ended()
	h.fill(t)
}

// partitions is PARTITION BY by a column of the key, or nothing.
func (h *history) partitions(t *model) string {
	if !h.chance(30) {
		return ""
	}
	t.partitioned = true
	if len(t.key) == 1 && t.key[0] == "b" {
		return pick(h.r, []string{" PARTITION BY KEY (b) PARTITIONS 3", " PARTITION BY RANGE COLUMNS (b) (PARTITION p0 VALUES LESS THAN ('k4'), PARTITION p1 VALUES LESS THAN (MAXVALUE))"})
	}
	return pick(h.r, []string{" PARTITION BY HASH (a) PARTITIONS 5", " PARTITION BY KEY (a) PARTITIONS 2",
		" PARTITION BY RANGE (a) (PARTITION p0 VALUES LESS THAN (20), PARTITION p1 VALUES LESS THAN (500), PARTITION p2 VALUES LESS THAN MAXVALUE)"})
}

// fill inserts some rows, or many of a pattern.
func (h *history) fill(t *model) {
	if h.chance(30) {
		c := t.cols[2]
		h.add(change, "INSERT IGNORE INTO %s (a, b, %s) WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT i * 7 %% 1000, CONCAT('k', i), NULL FROM n",
			t.name, c.name, 100+h.r.IntN(800))
		return
	}
	rows, cols := h.loaded(t)
	for i := range rows {
		rows[i][0] = "(" + strings.Join(rows[i], ", ") + ")"
		rows[i] = rows[i][:1]
	}
	h.add(change, "INSERT IGNORE INTO %s (%s) VALUES %s", t.name, cols, strings.Join(slices.Concat(rows...), ", "))
}

// attributes is the option with what MySQL does not have.
func (h *history) attributes(t *model) string {
	var list []string
	t.dynamic = h.chance(30)
	if t.dynamic {
		list = append(list, `"dynamic_columns": true`)
	}
	if h.chance(25) {
		list = append(list, `"stream": true`)
		t.stream = true
	}
	if h.chance(20) {
		list = append(list, fmt.Sprintf(`"max_versions": %d`, 2+h.r.IntN(4)))
	}
	return " SECONDARY_ENGINE_ATTRIBUTE='{" + strings.Join(list, ", ") + "}'"
}

// index is the definition of an index, and puts it into the model.
func (h *history) index(t *model) string {
	h.serial++
	name := fmt.Sprintf("i%d", h.serial)
	t.indexes = append(t.indexes, name)
	if h.chance(12) {
		if h.chance(60) {
			return "COLUMNAR INDEX " + name + " (*)"
		}
		return "COLUMNAR INDEX " + name + " (" + h.declared(t).name + ")"
	}
	var parts []string
	for range 1 + h.r.IntN(2) {
		c := h.declared(t)
		if slices.ContainsFunc(parts, func(p string) bool { return strings.HasPrefix(p, c.name) }) {
			continue
		}
		part := c.name
		if c.kind == "TEXT" {
			part += "(5)"
		}
		if h.chance(25) {
			part += " DESC"
		}
		parts = append(parts, part)
	}
	if t.dynamic && h.chance(20) {
		parts = []string{"(CAST(p AS CHAR(20)))"}
	}
	unique, rest := "", ""
	if h.chance(20) && !t.partitioned {
		unique = "UNIQUE "
	}
	if h.chance(20) {
		rest = fmt.Sprintf(" WHERE %s", pick(h.r, []string{"a > 5", "b = 'x'", "a IS NOT NULL"}))
	} else if c := h.declared(t); h.chance(20) && c.kind != "TEXT" && !strings.Contains(strings.Join(parts, ","), c.name) {
		rest = " INCLUDE (" + c.name + ")"
	}
	return unique + "KEY " + name + " (" + strings.Join(parts, ", ") + ")" + rest
}

// declared is a column that is not an attribute.
func (h *history) declared(t *model) column {
	for {
		if c := pick(h.r, t.cols); !c.attribute {
			return c
		}
	}
}

func (h *history) define(t *model) {
	defer h.ended()
	alter := func(format string, args ...any) {
		h.add(change, "ALTER TABLE "+t.name+" "+format, args...)
	}
	spare := t.cols[2 : len(t.cols)-1] // neither key nor d
	if t.partitioned && h.chance(25) {
		// What some of them do not fit is refused.
		alter("%s", pick(h.r, []string{"TRUNCATE PARTITION p0", "TRUNCATE PARTITION p1", "DROP PARTITION p0", "ADD PARTITION PARTITIONS 2", "COALESCE PARTITION 1",
			"REORGANIZE PARTITION p1 INTO (PARTITION n1 VALUES LESS THAN (100), PARTITION p1 VALUES LESS THAN (500))", "REMOVE PARTITIONING", "PARTITION BY KEY (" + pick(h.r, t.keyed()) + ") PARTITIONS 4"}))
		return
	}
	switch h.r.IntN(16) {
	case 0:
		h.create()
	case 1:
		if h.chance(50) {
			h.add(change, "DROP TABLE %s", t.name)
			h.tables = slices.DeleteFunc(h.tables, func(x *model) bool { return x == t })
		}
	case 2:
		if h.chance(50) {
			h.add(change, "TRUNCATE TABLE %s", t.name)
			h.fill(t)
		}
	case 3:
		name := pick(h.r, tableNames)
		if !slices.ContainsFunc(h.tables, func(x *model) bool { return x.name == name }) {
			h.add(change, "RENAME TABLE %s TO %s", t.name, name)
			t.name = name
		}
	case 4, 5, 6:
		// Other clauses next to the index, whose effect no change depends on; the
		// records of a change log have the columns that there are.
		other, cols := "", slices.Clone(t.cols)
		if !t.stream && h.chance(30) {
			h.serial++
			c := column{name: fmt.Sprintf("n%d", h.serial), kind: "BIGINT"}
			other += "ADD COLUMN " + c.name + " BIGINT DEFAULT 7, "
			t.cols = slices.Insert(t.cols, len(t.cols)-1, c)
		}
		if len(t.indexes) > 0 && h.chance(20) {
			i := h.r.IntN(len(t.indexes))
			other += "DROP INDEX " + t.indexes[i] + ", "
			t.indexes = slices.Delete(t.indexes, i, i+1)
		}
		def := h.index(t)
		if h.chance(50) || strings.HasPrefix(def, "UNIQUE") {
			alter("%sADD %s", other, def)
			return
		}
		all := t.cols
		t.cols = cols
		defer func() { t.cols = all }()
		s := step{kind: build, text: "ALTER TABLE " + t.name + " " + other + "ADD " + def}
		for range 1 + h.r.IntN(4) {
			before := len(h.steps)
			h.change(t)
			for _, x := range h.steps[before:] {
				s.during = append(s.during, x.text)
			}
			h.steps = h.steps[:before]
		}
		h.add(change, "COMMIT")
		h.steps = append(h.steps, s)
	case 7:
		if len(t.indexes) > 0 {
			i := h.r.IntN(len(t.indexes))
			alter("DROP INDEX %s", t.indexes[i])
			t.indexes = slices.Delete(t.indexes, i, i+1)
		}
	case 8, 9:
		h.serial++
		c := column{name: fmt.Sprintf("n%d", h.serial), kind: pick(h.r, kinds)}
		extra := ""
		if h.chance(50) {
			extra = " DEFAULT " + strings.ReplaceAll(h.value(c.kind), literal, "")
			if c.kind == "TEXT" {
				extra = ""
			}
		} else if h.chance(30) && c.kind != "DATETIME" {
			c.kind = "BIGINT"
			extra = pick(h.r, []string{" AS (a + 1)", " AS (a * 2) STORED"})
		}
		place := pick(h.r, []string{"", "", " FIRST", " AFTER a"})
		alter("ADD COLUMN %s %s%s%s", c.name, c.kind, extra, place)
		if extra == "" || strings.HasPrefix(extra, " DEFAULT") {
			t.cols = slices.Insert(t.cols, len(t.cols)-1, c)
		}
	case 10:
		if i := slices.IndexFunc(spare, func(c column) bool { return !c.attribute }); i >= 0 && len(spare) > 1 {
			alter("DROP COLUMN %s", spare[i].name)
			t.cols = slices.Delete(t.cols, i+2, i+3)
		}
	case 11:
		if i := slices.IndexFunc(spare, func(c column) bool { return !c.attribute }); i >= 0 {
			spare[i].kind, spare[i].mixed = pick(h.r, kinds), true
			alter("MODIFY COLUMN %s %s", spare[i].name, spare[i].kind)
		}
	case 12:
		if i := slices.IndexFunc(spare, func(c column) bool { return !c.attribute }); i >= 0 {
			h.serial++
			name := fmt.Sprintf("r%d", h.serial)
			alter("RENAME COLUMN %s TO %s", spare[i].name, name)
			spare[i].name = name
		}
	case 13:
		t.ttl = true
		alter("TTL = d + INTERVAL %d DAY", 1+h.r.IntN(300))
	case 14:
		alter("%s", pick(h.r, []string{"REMOVE TTL", "TTL_ENABLE = 'OFF'", "TTL_ENABLE = 'ON'"}))
	default:
		alter("%s", strings.TrimSpace(h.attributes(t)))
		if !t.dynamic {
			t.cols = slices.DeleteFunc(t.cols, func(c column) bool { return c.attribute })
		}
	}
}
