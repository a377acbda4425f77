package bind

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
)

// printer writes bound statements as text.
type printer struct{ b strings.Builder }

func (p *printer) line(depth int, format string, args ...any) {
	p.b.WriteString(strings.Repeat("  ", depth))
	fmt.Fprintf(&p.b, format, args...)
	p.b.WriteByte('\n')
}

func exprText(e expr.Expr) string {
	if e == nil {
		return "default"
	}
	e = expr.Map(e, func(x expr.Expr) expr.Expr {
		if c, ok := x.(*expr.Col); ok {
			d := *c
			if d.ID < 0 {
				d.Name = fmt.Sprintf("%s#%d", d.Name, d.Index)
			} else {
				d.Name = fmt.Sprintf("%s:%d", d.Name, d.ID)
			}
			return &d
		}
		return x
	})
	return e.String()
}

func exprsText(list []expr.Expr) string {
	s := make([]string, len(list))
	for i, e := range list {
		s[i] = exprText(e)
	}
	return strings.Join(s, ", ")
}

func columnsText(cols []logical.Column) string {
	s := make([]string, len(cols))
	for i, c := range cols {
		s[i] = fmt.Sprintf("%s:%d", c.Name, c.ID)
		if !c.Hidden {
			s[i] += " " + c.T.String()
		}
		if c.Null {
			s[i] += " null"
		}
	}
	return strings.Join(s, ", ")
}

func (p *printer) node(depth int, n logical.Node) {
	switch n := n.(type) {
	case nil:
		p.line(depth, "(moved)")
		return
	case *logical.Scan:
		s := "scan " + n.Table.Name
		if n.Alias != n.Table.Name {
			s += " as " + n.Alias
		}
		s += fmt.Sprintf(" [%d-%d]", n.Cols[0].ID, n.Cols[len(n.Cols)-1].ID)
		if !reflect.DeepEqual(n.Hint, logical.IndexHint{}) {
			s += fmt.Sprintf(" hint%+v", n.Hint)
		}
		if n.Lock.Strength != logical.LockNone {
			s += fmt.Sprintf(" lock%+v", n.Lock)
		}
		p.line(depth, "%s", s)
	case *logical.Virtual:
		p.line(depth, "virtual %s %v [%s]", n.Name, n.Key, columnsText(n.Cols))
	case *logical.CTEScan:
		p.line(depth, "cte %s [%s]", n.CTE.Name, columnsText(n.Cols))
	case *logical.Values:
		p.line(depth, "values %d rows [%s]", len(n.Rows), columnsText(n.Cols))
		for _, r := range n.Rows {
			if len(r) > 0 {
				p.line(depth+1, "(%s)", exprsText(r))
			}
		}
	case *logical.Filter:
		p.line(depth, "filter %s", exprsText(n.Conds))
	case *logical.Project:
		p.line(depth, "project [%s]", columnsText(n.Cols))
		p.line(depth, "  = %s", exprsText(n.Exprs))
	case *logical.Join:
		s := n.Kind.String() + "-join"
		if n.Straight {
			s += " straight"
		}
		p.line(depth, "%s on %s", s, exprsText(n.On))
	case *logical.Aggregate:
		aggs := make([]string, len(n.Aggs))
		for i, a := range n.Aggs {
			args := exprsText(a.Args)
			if a.Distinct {
				args = "distinct " + args
			}
			aggs[i] = fmt.Sprintf("%s(%s):%d", a.Op, args, n.AggCols[i].ID)
		}
		p.line(depth, "aggregate by %s [%s] -> %s", exprsText(n.GroupBy), columnsText(n.GroupCols), strings.Join(aggs, ", "))
	case *logical.Distinct:
		p.line(depth, "distinct")
	case *logical.Sort:
		keys := make([]string, len(n.Keys))
		for i, k := range n.Keys {
			keys[i] = exprText(k.Expr)
			if k.Desc {
				keys[i] += " desc"
			}
		}
		p.line(depth, "sort %s", strings.Join(keys, ", "))
	case *logical.Limit:
		s := ""
		if n.Count != nil {
			s += " " + n.Count.String()
		}
		if n.Offset != nil {
			s += " offset " + n.Offset.String()
		}
		p.line(depth, "limit%s", s)
	case *logical.SetOperation:
		op := [...]string{"union", "intersect", "except"}[n.Op]
		if n.All {
			op += " all"
		}
		p.line(depth, "%s [%s]", op, columnsText(n.Output))
	default:
		p.line(depth, "%T", n)
	}
	for _, in := range n.Inputs() {
		p.node(depth+1, in)
	}
}

func (p *printer) subqueries(list []logical.Node) {
	for i, n := range list {
		p.line(0, "subquery#%d", i+1)
		p.node(1, n)
	}
}

func (p *printer) assignments(list []logical.Assignment, t *schema.Table) {
	for _, a := range list {
		d := ""
		if a.Default {
			d = " (default)"
		}
		p.line(1, "%s = %s%s", t.Columns[a.Column].Name, exprText(a.Value), d)
	}
}

func (p *printer) insert(n *logical.Insert) {
	names := make([]string, len(n.Columns))
	for i, c := range n.Columns {
		names[i] = n.Table.Columns[c].Name
	}
	verb := "insert"
	if n.Replace {
		verb = "replace"
	}
	if n.Ignore {
		verb += " ignore"
	}
	p.line(0, "%s %s (%s)", verb, n.Table.Name, strings.Join(names, ", "))
	p.line(1, "defaults: %s", exprsText(n.Defaults))
	for _, r := range n.Rows {
		p.line(1, "(%s)", exprsText(r))
	}
	if n.Source != nil {
		p.node(1, n.Source)
	}
	if len(n.OnDuplicate) > 0 {
		p.line(0, "on duplicate")
		p.assignments(n.OnDuplicate, n.Table)
	}
	p.subqueries(n.Subqueries)
}

func (p *printer) statement(st logical.Statement) string {
	switch n := st.(type) {
	case *logical.Query:
		if n.CalcFoundRows || len(n.Into) > 0 {
			p.line(0, "query calc=%v into=%v", n.CalcFoundRows, n.Into)
		}
		p.node(0, n.Root)
		p.subqueries(n.Subqueries)
	case *logical.Insert:
		p.insert(n)
	case *logical.LoadData:
		p.insert(&n.Insert)
		p.line(0, "load local=%v path=%q charset=%q fields=%q %q %q optionally=%v lines=%q %q ignore=%d %v", n.Local, n.Path, n.Charset,
			n.FieldsTerminated, n.FieldsEnclosed, n.FieldsEscaped, n.OptionallyEnclosed, n.LinesStarting, n.LinesTerminated, n.IgnoreLines, n.Fields)
		p.assignments(n.Set, n.Insert.Table)
	case *logical.Update:
		p.line(0, "update %s ignore=%v", n.Table.Name, n.Ignore)
		p.assignments(n.Assignments, n.Table)
		p.node(1, n.Input)
		p.subqueries(n.Subqueries)
	case *logical.Delete:
		p.line(0, "delete %s", n.Table.Name)
		p.node(1, n.Input)
		p.subqueries(n.Subqueries)
	case *logical.MultiUpdate:
		p.line(0, "update of a join ignore=%v", n.Ignore)
		for _, t := range n.Targets {
			p.line(1, "set %s", t.Scan.Alias)
			p.assignments(t.Assignments, t.Scan.Table)
		}
		p.node(1, n.Input)
		p.subqueries(n.Subqueries)
	case *logical.MultiDelete:
		p.line(0, "delete from a join ignore=%v", n.Ignore)
		for _, t := range n.Targets {
			p.line(1, "delete %s", t.Alias)
		}
		p.node(1, n.Input)
		p.subqueries(n.Subqueries)
	case *logical.Explain:
		p.line(0, "explain format=%s analyze=%v", n.Format, n.Analyze)
		p.statement(n.Stmt)
	case *logical.Set:
		for _, s := range n.Items {
			p.line(0, "set %d %s = %s", s.Scope, s.Name, exprText(s.Value))
		}
		p.subqueries(n.Subqueries)
	case *logical.CreateTable:
		p.line(0, "create table %v if-not-exists=%v temporary=%v", n.Name, n.IfNotExists, n.Temporary)
		if n.Like != nil {
			p.line(1, "like %v", *n.Like)
		} else {
			p.table(n.Table)
			for _, k := range n.ForeignKeys {
				p.line(1, "foreign key %s %v references %v %v on delete %s on update %s", k.Name, k.Columns, k.Table, k.References, k.OnDelete, k.OnUpdate)
			}
		}
	case *logical.AlterTable:
		p.line(0, "alter table %v", n.Table)
		for _, s := range n.Specs {
			p.line(1, "%s", alterText(s))
		}
	case *logical.Do:
		p.line(0, "do %s", exprsText(n.Exprs))
	case *logical.Kill:
		p.line(0, "kill %s query=%v", n.ID.String(), n.Query)
	case *logical.CreateUser:
		p.line(0, "create user %s", setFields(reflect.ValueOf(*n)))
	case *logical.AlterUser:
		p.line(0, "alter user %s", setFields(reflect.ValueOf(*n)))
	case *logical.SetPassword:
		p.line(0, "set password %s", setFields(reflect.ValueOf(n.User)))
	default:
		p.line(0, "%s", strings.TrimPrefix(fmt.Sprintf("%T%+v", st, reflect.ValueOf(st).Elem().Interface()), "*logical."))
	}
	return p.b.String()
}

// setFields are the fields of a structure that are not zero.
func setFields(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return "nil"
		}
		return setFields(v.Elem())
	case reflect.Slice:
		out := make([]string, v.Len())
		for i := range out {
			out[i] = setFields(v.Index(i))
		}
		return "[" + strings.Join(out, ", ") + "]"
	case reflect.String:
		return strconv.Quote(v.String())
	case reflect.Struct:
		var out []string
		for i := range v.NumField() {
			if f := v.Field(i); !f.IsZero() {
				out = append(out, v.Type().Field(i).Name+"="+setFields(f))
			}
		}
		return "{" + strings.Join(out, " ") + "}"
	}
	return fmt.Sprint(v)
}

func defaultText(d *schema.Default) string {
	switch {
	case d == nil:
		return ""
	case d.Null:
		return " default null"
	case d.Expr != "":
		return " default " + d.Expr
	}
	return " default '" + d.Literal + "'"
}

func columnText(c *schema.Column) string {
	s := fmt.Sprintf("%s %s", c.Name, c.Type)
	if c.Type.IsCharacter() || len(c.Type.Elems) > 0 {
		s += " " + collate.Must(c.Type.Collation).Name
	}
	if !c.Nullable {
		s += " not null"
	}
	s += defaultText(c.Default)
	for _, f := range []struct {
		on   bool
		text string
	}{{c.OnUpdateNow, "on-update-now"}, {c.AutoIncrement, "auto_increment"}, {c.Hidden, "hidden"}, {c.Comment != "", "comment " + c.Comment}} {
		if f.on {
			s += " " + f.text
		}
	}
	return s
}

func (p *printer) table(t *schema.Table) {
	part := func(list []schema.KeyPart) string {
		s := make([]string, len(list))
		for i, k := range list {
			s[i] = t.Column(k.Column).Name
			if k.Prefix > 0 {
				s[i] += fmt.Sprintf("(%d)", k.Prefix)
			}
			if k.Desc {
				s[i] += " desc"
			}
		}
		return strings.Join(s, ", ")
	}
	for i := range t.Columns {
		p.line(1, "%d %s", t.Columns[i].ID, columnText(&t.Columns[i]))
	}
	p.line(1, "primary key (%s)", part(t.PrimaryKey))
	for _, x := range t.Indexes {
		s := ""
		if x.Unique {
			s += " unique"
		}
		if x.Invisible {
			s += " invisible"
		}
		for _, id := range x.Include {
			s += " +" + t.Column(id).Name
		}
		if x.Comment != "" {
			s += " comment " + x.Comment
		}
		p.line(1, "index %d %s (%s)%s", x.ID, x.Name, part(x.Parts), s)
	}
	s := "options " + collate.Must(t.Collation).Name
	if t.Engine != "" {
		s += " engine=" + t.Engine
	}
	if t.AutoIncrement > 0 {
		s += fmt.Sprintf(" auto_increment=%d", t.AutoIncrement)
	}
	if t.Comment != "" {
		s += " comment=" + t.Comment
	}
	p.line(1, "%s", s)
}

func alterText(s logical.AlterSpec) string {
	kinds := [...]string{"add column", "drop column", "rename column", "modify column", "set default", "drop default", "add index", "drop index",
		"rename index", "index visibility", "add primary key", "drop primary key", "rename table", "auto_increment", "comment", "attributes", "convert charset",
		"default charset", "engine", "add foreign key", "drop foreign key", "no-op", "add check", "drop check", "drop constraint", "enforce check", "column visibility"}
	out := kinds[s.Kind]
	if s.Name != "" {
		out += " " + s.Name
	}
	if s.NewName != "" {
		out += " to " + s.NewName
	}
	if s.Column.Name != "" {
		out += " (" + columnText(&s.Column) + ")"
	}
	if len(s.IndexColumns) > 0 {
		out += fmt.Sprintf(" %+v unique=%v", s.IndexColumns, s.Index.Unique)
	}
	if s.Check.Expr != "" {
		out += " " + s.Check.Expr
	}
	if len(s.Include) > 0 {
		out += fmt.Sprintf(" include %v", s.Include)
	}
	out += defaultText(s.Default)
	if s.Table.Name != "" {
		out += fmt.Sprintf(" %v", s.Table)
	}
	if s.Text != "" {
		out += " " + s.Text
	}
	if s.Number > 0 {
		out += fmt.Sprintf(" %d", s.Number)
	}
	if s.Collation != 0 {
		out += " " + collate.Must(s.Collation).Name
	}
	if s.First {
		out += " first"
	}
	if s.After != "" {
		out += " after " + s.After
	}
	if s.InlineKey {
		out += " inline-key"
	}
	if s.InlineUnique {
		out += " inline-unique"
	}
	return out
}
