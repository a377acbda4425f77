package bind

import (
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
	scans   map[*logical.Scan]*tableRight
	// star: the columns of * are being bound.
	star bool
}

// viewRights are those of the body of a view.
type viewRights struct {
	view *schema.View
	own  *rights
}

// tableRight is what is needed of one table or view that is mentioned.
type tableRight struct {
	need priv.TableNeed
	// reads: it is in FROM, where some column must be readable even if none is named.
	reads bool
	names []string // of its columns
	masks []priv.Mask
	free  bool // a temporary table: nothing is needed
}

type columnAt struct {
	t   *tableRight
	pos int
}

// mentions adds a table or view.
func (b *binder) mentions(db, table string) *tableRight {
	t := &tableRight{need: priv.TableNeed{DB: db, Table: table}, free: db == ""} // without a database: 1046
	b.rights.tables = append(b.rights.tables, t)
	return t
}

// readsTable adds a table or view of FROM.
func (b *binder) readsTable(db, table string) *tableRight {
	t := b.mentions(db, table)
	t.reads = true
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
	if ref.opened != nil {
		ref.opened.right = t
	}
	r := b.rights
	if r.columns == nil {
		r.columns, r.scans = map[expr.ColID][]columnAt{}, map[*logical.Scan]*tableRight{}
	}
	if ref.scan != nil {
		r.scans[ref.scan] = t
	}
	t.sized(len(ref.cols))
	for i := range ref.cols {
		c := &ref.cols[i]
		if t.names[i] = c.Name; ref.scan != nil {
			t.names[i] = c.OrgName
		}
		r.columns[c.ID] = append(r.columns[c.ID], columnAt{t, i})
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
		x.t.masks[x.pos] |= priv.Select
		x.t.need.Star = x.t.need.Star || b.rights.star
	}
}

// changing notes that a column is written; at is its position in the table.
func (t *tableRight) changing(at int, m priv.Mask) {
	if t != nil && at >= 0 && at < len(t.masks) {
		t.masks[at] |= m
	}
}

// assigning notes the columns that assignments write.
func (t *tableRight) assigning(set []logical.Assignment, m priv.Mask) {
	for i := range set {
		t.changing(set[i].Column, m)
	}
}

// result is what is needed of the table; false if that is nothing.
func (t *tableRight) result() (priv.TableNeed, bool) {
	if t.free {
		return priv.TableNeed{}, false
	}
	n := t.need
	read := false
	for i, m := range t.masks {
		if m != 0 {
			n.Columns = append(n.Columns, priv.ColumnNeed{Name: t.names[i], Mask: m})
			read = read || m&priv.Select != 0
		}
	}
	if t.reads && !read {
		n.AnyColumn |= priv.Select
	}
	return n, n.Mask|n.OneOf|n.AnyColumn != 0 || n.AnyRight || n.Columns != nil
}

func (r *rights) needs() *priv.Needs {
	n := &priv.Needs{Global: r.global, Databases: r.databases}
	for _, t := range r.tables {
		if x, ok := t.result(); ok {
			n.Tables = append(n.Tables, x)
		}
	}
	for _, v := range r.views {
		if x := v.own.needs(); !x.IsEmpty() {
			n.Views = append(n.Views, priv.ViewNeeds{DB: v.view.Database, View: v.view.Name, Needs: x,
				Definer: priv.Name{User: v.view.DefinerUser, Host: v.view.DefinerHost}, Invoker: strings.EqualFold(v.view.Security, "INVOKER")})
		}
	}
	return n
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
// and the positions in the table of its columns.
type viewLevel struct {
	right *tableRight
	bases []int
}

// changing notes that a column of the table is written through the views.
func (t *viewTarget) changing(at int, m priv.Mask) {
	if t.opened != nil {
		t.opened.changing(t.scan, t.scan.Cols[at].ID, m)
	}
	for _, l := range t.levels {
		for i, base := range l.bases {
			if base == at {
				l.right.changing(i, m)
			}
		}
	}
}

// changingRows notes a change of rows through the views.
func (t *viewTarget) changingRows(m priv.Mask) {
	if t.opened != nil {
		t.opened.changingRows(t.scan, m)
	}
	for _, l := range t.levels {
		l.right.changingRows(m)
	}
}

// changingRows notes a change of rows of the table: of some column at least where
// columns can have the privilege.
func (t *tableRight) changingRows(m priv.Mask) {
	t.need.Changed = true
	if m&priv.AllColumn == m {
		t.need.AnyColumn |= m
	} else {
		t.need.Mask |= m
	}
}

// level adds the view or table that has the right to those through which t changes
// rows. Its columns are those of t now.
func (t *viewTarget) level(r *tableRight) {
	l := viewLevel{right: r, bases: make([]int, len(t.cols))}
	for i := range t.cols {
		l.bases[i] = t.cols[i].base
	}
	r.ofView(t.cols)
	t.levels = append(t.levels, l)
}

// changing notes that a column of the scan is written through an opened view.
func (o *openedView) changing(s *logical.Scan, id expr.ColID, m priv.Mask) {
	for i := range o.cols {
		if o.cols[i].ID == id {
			o.right.changing(i, m)
		}
	}
	for _, in := range o.inner {
		if scan, _ := in.base(id); scan == s {
			in.changing(s, id, m)
		}
	}
	if t := o.tables[s]; t != nil {
		t.changing(columnPosition(s, id), m)
	}
}

// changingRows notes a change of rows of the scan through an opened view.
func (o *openedView) changingRows(s *logical.Scan, m priv.Mask) {
	o.right.changingRows(m)
	for _, in := range o.inner {
		if containsScan(in.scans, s) {
			in.changingRows(s, m)
		}
	}
	if t := o.tables[s]; t != nil {
		t.changingRows(m)
	}
}

// joinedRights notes what a change of a table of a join needs of it, or of the view that
// shows it.
func (b *binder) joinedRights(src *source, s *logical.Scan, set []logical.Assignment, m priv.Mask) {
	for _, t := range src.tables {
		switch {
		case t.opened != nil && containsScan(t.opened.scans, s):
			t.opened.changingRows(s, m)
			for i := range set {
				t.opened.changing(s, s.Cols[set[i].Column].ID, m)
			}
		case t.scan == s && t.right != nil:
			t.right.reads = false
			t.right.changingRows(m)
			t.right.assigning(set, m)
			t.right.need.Changed = m != priv.Delete // MySQL looks first whether any column may be read
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
