package priv

import "strings"

// Check reports why the account may not run a statement with the needs; nil if it may.
func (s *Set) Check(n *Needs) *Denied {
	if n == nil || s.all {
		return nil
	}
	for i := range n.Global {
		if d := s.global1(&n.Global[i]); d != nil {
			return d
		}
	}
	for i := range n.Databases {
		x := &n.Databases[i]
		if x.Mask&^s.global == 0 && !x.Any {
			continue
		}
		if x.Any && !s.UsesDatabase(x.DB) || x.Mask&^s.OnDatabase(x.DB) != 0 {
			return &Denied{DB: x.DB}
		}
	}
	var column *ColumnNeed // the first that is refused
	var of *TableNeed
	var locking *Denied
	for i := range n.Tables {
		t := &n.Tables[i]
		c, d := s.table(t)
		switch {
		case d != nil && d.Command != lockRows:
			return d
		case d != nil && locking == nil:
			locking = d
		}
		if c != nil && (column == nil || c.Order < column.Order) {
			column, of = c, t
		}
	}
	if locking != nil {
		return locking
	}
	for i := range n.Explained {
		if _, d := s.table(&n.Explained[i]); d != nil {
			return &Denied{Explain: true}
		}
	}
	for i := range n.Views {
		if d := s.view(&n.Views[i]); d != nil {
			return d
		}
	}
	if column == nil {
		return nil
	}
	d := &Denied{DB: of.DB, Table: of.Table, Command: column.Mask.Command()}
	if !column.Unnamed {
		d.Column = column.Name
	}
	return d
}

func (s *Set) global1(n *GlobalNeed) *Denied {
	if s.Has(n.Mask, n.Dynamic) {
		return nil
	}
	if n.Mysql != 0 && (s.OnDatabase("mysql")&n.Mysql != 0 || n.MysqlTable != "" && s.OnTable("mysql", n.MysqlTable)&n.Mysql != 0) {
		return nil
	}
	if n.Denied {
		return &Denied{Global: true}
	}
	return &Denied{NeedsOneOf: OneOf(n.Mask, n.Dynamic)}
}

// OneOf lists privileges as 1227 does: "SUPER or SYSTEM_VARIABLES_ADMIN".
func OneOf(m Mask, d Dynamics) string {
	var list []string
	for p := range m.Each() {
		list = append(list, p.Name())
	}
	for p := range d.Each() {
		list = append(list, p.Name())
	}
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " or " + list[last]
}

// table checks the needs of one table as a whole, and gives the first of its columns that
// is refused. Who has all on all tables is through with the first comparison.
func (s *Set) table(n *TableNeed) (*ColumnNeed, *Denied) {
	all := n.Mask | n.AnyColumn | n.columnMask()
	if all&^s.global == 0 && (n.OneOf == 0 || n.OneOf&s.global != 0) && (!n.AnyRight || s.global&OnTable != 0) {
		return nil, nil
	}
	have := s.OnDatabase(n.DB)
	var few [4]*Table
	tables := few[:0] // the grants on it
	for _, g := range s.ids {
		if t := g.OnTable(n.DB, n.Table); t != nil {
			have |= t.Mask
			tables = append(tables, t)
		}
	}
	var columns Mask // that some column has
	for _, t := range tables {
		columns |= t.OfColumns()
	}
	missing := n.Mask &^ have
	if (have|columns)&n.Or == 0 {
		missing |= n.AnyColumn &^ (have | columns)
	}
	command := ""
	switch {
	case missing&^AllTable != 0: // no grant on a table has it
		return nil, &Denied{DB: n.DB}
	case missing != 0:
		command = missing.Command()
	case n.AnyRight && (have|columns)&OnTable == 0:
	default:
		c := refusedColumn(n.Columns, have, tables)
		if c == nil || n.Command == "" || (have|columns)&OnTable != 0 {
			return c, n.oneOf(have)
		}
	}
	if n.Command != "" && (have|columns)&OnTable == 0 {
		command = n.Command
	}
	return nil, &Denied{DB: n.DB, Table: n.Table, Command: command}
}

// lockRows is how the refusal of a TableNeed.OneOf names what is needed.
const lockRows = "SELECT with locking clause"

// oneOf is the last check of tables, so that who lacks more does not learn whether it is
// a table that can be locked. Columns are checked after it.
func (n *TableNeed) oneOf(have Mask) *Denied {
	if n.OneOf == 0 || n.OneOf&have != 0 {
		return nil
	}
	return &Denied{DB: n.DB, Table: n.Table, Command: lockRows}
}

// refusedColumn is the first of the columns on which a privilege is missing; nil for none.
func refusedColumn(list []ColumnNeed, have Mask, tables []*Table) *ColumnNeed {
	var first *ColumnNeed
	for i := range list {
		c := &list[i]
		missing := c.Mask &^ have
		if missing == 0 {
			continue
		}
		for _, t := range tables {
			missing &^= t.OnColumn(c.Name)
		}
		if missing != 0 && (first == nil || c.Order < first.Order) {
			first = c
		}
	}
	return first
}

func (n *TableNeed) columnMask() (m Mask) {
	for i := range n.Columns {
		m |= n.Columns[i].Mask
	}
	return m
}

// view checks the body of a view.
func (s *Set) view(v *ViewNeeds) *Denied {
	as := s
	if !v.Invoker {
		if s.state.ids[v.Definer] == nil {
			return &Denied{ViewDB: v.DB, View: v.View, NoDefiner: &v.Definer}
		}
		as = s.state.Set(v.Definer, s.state.LoginRoles(v.Definer))
	}
	if d := as.Check(v.Needs); d != nil {
		if d.NoDefiner != nil {
			return d
		}
		return &Denied{ViewDB: v.DB, View: v.View}
	}
	return nil
}
