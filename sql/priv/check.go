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
	for i := range n.Tables {
		if d := s.table(&n.Tables[i]); d != nil {
			return d
		}
	}
	for i := range n.Views {
		if d := s.view(&n.Views[i]); d != nil {
			return d
		}
	}
	return nil
}

func (s *Set) global1(n *GlobalNeed) *Denied {
	if s.Has(n.Mask, n.Dynamic) || n.Mysql != 0 && s.OnDatabase("mysql")&n.Mysql != 0 {
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

// table checks the needs of one table. Who has all on all tables is through with the
// first comparison.
func (s *Set) table(n *TableNeed) *Denied {
	all := n.Mask | n.AnyColumn | n.columnMask()
	if all&^s.global == 0 && (n.OneOf == 0 || n.OneOf&s.global != 0) && (!n.AnyRight || s.global&OnTable != 0) {
		return nil
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
	denied := func(command string) *Denied { return &Denied{DB: n.DB, Table: n.Table, Command: command} }
	if missing := n.Mask &^ have; missing != 0 {
		if missing&^AllTable != 0 { // no grant on a table has it
			return &Denied{DB: n.DB}
		}
		return denied(n.Mask.Command())
	}
	if n.OneOf != 0 && n.OneOf&have == 0 {
		return denied(n.OneOf.Command())
	}
	if all&^have == 0 && (!n.AnyRight || have&OnTable != 0) {
		return nil
	}
	var columns Mask
	for _, t := range tables {
		columns |= t.OfColumns()
	}
	if n.AnyRight && (have|columns)&OnTable == 0 {
		return denied(n.Command)
	}
	if missing := n.AnyColumn &^ (have | columns); missing != 0 {
		return denied(missing.Command())
	}
	for i := range n.Columns {
		c := &n.Columns[i]
		missing := c.Mask &^ have
		if missing == 0 {
			continue
		}
		if lacks := missing &^ columns; lacks != 0 && (lacks != Select || !n.Changed) {
			return denied(lacks.Command())
		}
		for _, t := range tables {
			missing &^= t.OnColumn(c.Name)
		}
		if missing == 0 {
			continue
		}
		if n.Star {
			return denied(missing.Command())
		}
		return &Denied{DB: n.DB, Table: n.Table, Column: c.Name, Command: missing.Command()}
	}
	return nil
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
		as = s.state.Set(v.Definer, s.state.DefaultRoles(v.Definer))
	}
	if d := as.Check(v.Needs); d != nil {
		if d.NoDefiner != nil {
			return d
		}
		return &Denied{ViewDB: v.DB, View: v.View}
	}
	return nil
}
