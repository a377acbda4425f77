package bind

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/priv"
)

// rights collects what a statement needs, or the body of a view, which is read as
// another account. A table is added before it is looked up, so that who may not know of
// it does not learn whether it exists.
type rights struct {
	global    []priv.GlobalNeed
	databases []priv.DatabaseNeed
	tables    []*tableRight
	views     []viewRights
	// columns finds those of the tables by the ids that they have in the plan.
	columns map[expr.ColID][]columnAt
	// uses are those of columns, in the order in which MySQL checks them; later are those
	// of ON, which come after the select list and WHERE.
	uses, later []columnUse
	// star: the columns of * are being bound.
	star bool
}

// columnUse is a privilege that is needed of a column.
type columnUse struct {
	t       *tableRight
	pos     int
	name    string
	mask    priv.Mask
	unnamed bool // see priv.ColumnNeed
}

// viewRights are those of the body of a view.
type viewRights struct {
	view *schema.View
	own  *rights
}

// tableRight is what is needed of one table or view that is mentioned.
type tableRight struct {
	need priv.TableNeed
	of   *rights
	// names are those of its columns, masks what is needed of each.
	names []string
	masks []priv.Mask
	free  bool // a temporary table: nothing is needed
}

type columnAt struct {
	t   *tableRight
	pos int
}

// mentions adds a table or view.
func (b *binder) mentions(db, table string) *tableRight {
	t := &tableRight{of: b.rights, need: priv.TableNeed{DB: db, Table: table}, free: db == ""} // without a database: 1046
	b.rights.tables = append(b.rights.tables, t)
	return t
}

// readsTable adds a table or view of FROM, of which some column must be readable.
func (b *binder) readsTable(db, table string) *tableRight {
	t := b.mentions(db, table)
	t.need.AnyColumn = priv.Select
	return t
}

// readsVirtual adds a virtual table: those of information_schema are open to all, and the
// variables of performance_schema.
func (b *binder) readsVirtual(db, table string) *tableRight {
	t := b.readsTable(strings.ToLower(db), strings.ToLower(table))
	switch strings.ToLower(db) {
	case "information_schema":
		t.free = true
	case "performance_schema":
		t.free = openPerformanceTables[strings.ToLower(table)]
	}
	return t
}

// openPerformanceTables are those that MySQL lets everybody read.
var openPerformanceTables = map[string]bool{"global_variables": true, "session_variables": true, "global_status": true, "session_status": true,
	"session_account_connect_attrs": true, "processlist": true, "variables_info": false}

// writes adds the table of a change, which needs the privilege on it or on columns.
func (b *binder) writes(db, table string, m priv.Mask) *tableRight {
	t := b.mentions(db, table)
	t.changingRows(m)
	return t
}

// needTable adds privileges on a table as a whole.
func (b *binder) needTable(n logical.TableName, m priv.Mask) *tableRight {
	t := b.mentions(n.DB, n.Name)
	t.need.Mask = m
	return t
}

// needNamed is needTable for a name of a statement.
func (b *binder) needNamed(n *ast.TableName, m priv.Mask) *tableRight {
	db := n.Schema.O
	if db == "" {
		db = b.env.Database
	}
	return b.needTable(logical.TableName{DB: db, Name: n.Name.O}, m)
}

// attach gives t the columns of its source.
func (b *binder) attach(t *tableRight, src *source) {
	ref := src.tables[0]
	ref.right = t
	r := b.rights
	if r.columns == nil {
		r.columns = map[expr.ColID][]columnAt{}
	}
	t.sized(len(ref.cols))
	for i := range ref.cols {
		c := &ref.cols[i]
		if t.names[i] = c.Name; ref.scan != nil {
			t.names[i] = c.OrgName
		}
		r.columns[c.ID] = append(r.columns[c.ID], columnAt{t, i})
	}
	if ref.opened != nil {
		ref.opened.shownAs(t)
	}
}

// ofTable gives t the columns of a table that is written and not scanned.
func (t *tableRight) ofTable(d *schema.Table) {
	t.sized(len(d.Columns))
	for i := range d.Columns {
		t.names[i] = d.Columns[i].Name
	}
}

// ofView gives t the columns of a view that is changed.
func (t *tableRight) ofView(cols []viewColumn) {
	t.sized(len(cols))
	for i := range cols {
		t.names[i] = cols[i].name
	}
}

func (t *tableRight) sized(n int) {
	if len(t.masks) != n {
		t.names, t.masks = make([]string, n), make([]priv.Mask, n)
	}
}

// ofTemporary: everybody may do everything with a temporary table of one's own.
func (b *binder) ofTemporary(t *tableRight, d *schema.Table) {
	if c, ok := b.env.Catalog.(TemporaryCatalog); ok && c.IsTemporary(d) {
		t.free = true
	}
}

// reading notes that a column is read. Expressions of a descriptor need no privilege.
func (b *binder) reading(c *logical.Column) {
	if b.inStored {
		return
	}
	at := b.rights.columns[c.ID]
	for _, x := range at {
		if len(at) > 1 && !strings.EqualFold(x.t.names[x.pos], c.Name) {
			continue // a view shows it under several names
		}
		x.t.use(x.pos, priv.Select, b.rights.star)
	}
}

// changing notes that a column is written; at is its position in the table.
func (t *tableRight) changing(at int, m priv.Mask) {
	if t != nil && at >= 0 && at < len(t.masks) {
		t.use(at, m, false)
	}
}

func (t *tableRight) use(at int, m priv.Mask, unnamed bool) {
	t.of.uses = append(t.of.uses, columnUse{t: t, pos: at, name: t.names[at], mask: m, unnamed: unnamed})
}

// used is the number of uses so far, a place for earlier.
func (r *rights) used() int { return len(r.uses) }

// earlier moves the uses from the place at on before those from the place to on: what was
// bound later is checked earlier.
func (r *rights) earlier(at, to int) {
	moved := slices.Clone(r.uses[at:])
	copy(r.uses[to+len(moved):], r.uses[to:at])
	copy(r.uses[to:], moved)
}

// defers takes the uses from the place at on for later.
func (r *rights) defers(at int) {
	r.later = append(r.later, r.uses[at:]...)
	r.uses = r.uses[:at]
}

// flush adds those that were taken for later, of which before are of an outer block.
func (r *rights) flush(before int) {
	r.uses = append(r.uses, r.later[before:]...)
	r.later = r.later[:before]
}

// assigning notes the columns that assignments write.
func (t *tableRight) assigning(set []logical.Assignment, m priv.Mask) {
	for i := range set {
		t.changing(set[i].Column, m)
	}
}

// isEmpty reports that nothing is needed of the table.
func isEmpty(n *priv.TableNeed) bool {
	return n.Mask|n.OneOf|n.AnyColumn == 0 && !n.AnyRight && n.Columns == nil
}

func (r *rights) needs() *priv.Needs {
	n := &priv.Needs{Global: r.global, Databases: r.databases}
	r.flush(0)
	for i, u := range r.uses {
		t, m := u.t, u.mask
		if u.pos < len(t.names) && t.names[u.pos] == u.name { // each once
			m &^= t.masks[u.pos]
			t.masks[u.pos] |= m
		}
		if m != 0 {
			t.need.Columns = append(t.need.Columns, priv.ColumnNeed{Name: u.name, Mask: m, Order: i, Unnamed: u.unnamed})
		}
	}
	for _, t := range r.tables {
		if !t.free && !isEmpty(&t.need) {
			n.Tables = append(n.Tables, t.need)
		}
	}
	definers := map[*schema.View]bool{}
	for _, v := range r.views {
		x := priv.ViewNeeds{DB: v.view.Database, View: v.view.Name, Needs: v.own.needs(),
			Definer: priv.Name{User: v.view.DefinerUser, Host: v.view.DefinerHost}, Invoker: strings.EqualFold(v.view.Security, "INVOKER")}
		if x.Needs.IsEmpty() && (x.Invoker || definers[v.view]) {
			continue
		}
		definers[v.view] = true // without needs, it has to exist
		n.Views = append(n.Views, x)
	}
	return n
}

// explained appends what EXPLAIN needs of the views and of what they read, since it shows
// that: of the account of the statement, whoever the definers are.
func (r *rights) explained(list []priv.TableNeed) []priv.TableNeed {
	for _, v := range r.views {
		list = append(list, priv.TableNeed{DB: v.view.Database, Table: v.view.Name, Mask: priv.ShowView, AnyColumn: priv.Select})
		for _, t := range v.own.tables {
			if !t.free {
				list = append(list, priv.TableNeed{DB: t.need.DB, Table: t.need.Table, AnyColumn: priv.Select})
			}
		}
		list = v.own.explained(list)
	}
	return list
}

// enterRights begins the needs of a view's body; leave ends them.
func (b *binder) enterRights(v *schema.View) (leave func()) {
	outer, own := b.rights, &rights{}
	b.rights = own
	return func() {
		b.rights = outer
		outer.views = append(outer.views, viewRights{v, own})
	}
}

// writesTarget adds the one table of a change.
func (b *binder) writesTarget(n *ast.TableName, operation string) *tableRight {
	t := b.needNamed(n, 0)
	t.changingRows(changeRights[operation])
	return t
}

// changeRights are the privileges of changes of one table.
var changeRights = map[string]priv.Mask{"INSERT": priv.Insert, "UPDATE": priv.Update, "DELETE": priv.Delete, "LOAD": priv.Insert}

// viewLevel is one of the views, or the table, through which a change goes: its needs,
// and the columns of the table that its columns show.
type viewLevel struct {
	right *tableRight
	ids   []expr.ColID
}

// viewLevels are a table and the views through which its rows are changed, from the inside
// out. Each of them needs the privileges of the change.
type viewLevels []viewLevel

// changing notes that a column of the table is written.
func (l viewLevels) changing(id expr.ColID, m priv.Mask) {
	for _, x := range l {
		for i := range x.ids {
			if x.ids[i] == id {
				x.right.changing(i, m)
			}
		}
	}
}

// changingRows notes a change of rows of the table.
func (l viewLevels) changingRows(m priv.Mask) {
	for _, x := range l {
		x.right.changingRows(m)
	}
}

// columnIDs are those of the columns.
func columnIDs(cols []logical.Column) []expr.ColID {
	ids := make([]expr.ColID, len(cols))
	for i := range cols {
		ids[i] = cols[i].ID
	}
	return ids
}

// changingRows notes a change of rows of the table: of some column at least where
// columns can have the privilege.
func (t *tableRight) changingRows(m priv.Mask) {
	if m&priv.AllColumn == m {
		t.need.AnyColumn |= m
	} else {
		t.need.Mask |= m
	}
}

// changing notes that a column of the table is written through the view.
func (t *viewTarget) changing(at int, m priv.Mask) { t.levels.changing(t.scan.Cols[at].ID, m) }

// shownAs adds the view that has the right to those through which t changes rows. Its
// columns are those of t now.
func (t *viewTarget) shownAs(r *tableRight) {
	l := viewLevel{right: r, ids: make([]expr.ColID, len(t.cols))}
	for i, c := range t.cols {
		if c.base >= 0 {
			l.ids[i] = t.scan.Cols[c.base].ID
		}
	}
	r.ofView(t.cols)
	t.levels = append(t.levels, l)
}

// shownAs adds the view itself, which has the right, to the levels of its tables.
func (o *openedView) shownAs(r *tableRight) {
	l := viewLevel{right: r, ids: columnIDs(o.cols)}
	for s := range o.levels {
		o.levels[s] = append(o.levels[s], l)
	}
}

// joinedRights notes what a change of a table of a join needs of it, or of the view that
// shows it.
func (b *binder) joinedRights(src *source, s *logical.Scan, set []logical.Assignment, m priv.Mask) {
	for _, t := range src.tables {
		switch {
		case t.opened != nil && containsScan(t.opened.scans, s):
			levels := t.opened.levels[s]
			levels.changingRows(m)
			levels[len(levels)-1].right.need.Command = "SELECT" // as before the tables are found
			for i := range set {
				levels.changing(s.Cols[set[i].Column].ID, m)
			}
		case t.scan == s && t.right != nil:
			t.right.need.Command = "SELECT"
			if m&priv.AllColumn == 0 {
				t.right.changingRows(m)
			} else {
				t.right.need.Or |= m
			}
			t.right.assigning(set, m)
		}
	}
}

func containsScan(list []*logical.Scan, s *logical.Scan) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
