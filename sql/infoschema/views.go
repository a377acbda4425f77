package infoschema

import (
	"slices"
	"strings"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// ViewDescriber is a Session that can bind views.
type ViewDescriber interface {
	// DescribeView returns the present columns of a view, and whether rows can be
	// changed through it: 1356 when it cannot be read any more.
	DescribeView(v *schema.View) (cols []schema.Column, updatable bool, err error)
}

// describe is DescribeView of the session.
func (q *query) describe(v *schema.View) ([]schema.Column, bool, error) {
	d, ok := q.sess.(ViewDescriber)
	if !ok {
		return nil, false, sqlerr.ViewReferencesInvalid(v.Database, v.Name)
	}
	return d.DescribeView(v)
}

// viewStatus are the columns ENGINE to TABLE_COMMENT of TABLES.
func viewStatus(v *schema.View) []any {
	return []any{nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, time.Unix(v.CreatedUnix, 0), nil, nil, nil, nil, nil, "VIEW"}
}

// viewColumnRows are the rows of COLUMNS for a view; none when it is invalid.
func (q *query) viewColumnRows(v *schema.View) error {
	cols, _, err := q.describe(v)
	if err != nil {
		return nil //nolint:nilerr // MySQL shows no columns of such a view
	}
	rights := q.columnRights(v.Database, v.Name)
	for i := range cols {
		if err := q.columnRow(v.Database, v.Name, &cols[i], i+1, "", rights.of(cols[i].Name)); err != nil {
			return err
		}
	}
	return nil
}

// viewRows are information_schema.VIEWS.
func viewRows(q *query) error {
	return q.eachView(func(v *schema.View) error {
		_, updatable, err := q.describe(v)
		charset, collation := connectionNames(v)
		definition := ""
		if q.showsDefinition(v) {
			definition = v.Query
		}
		return q.emit("def", v.Database, v.Name, definition, v.Check, yesNo(err == nil && updatable), v.DefinerUser+"@"+v.DefinerHost, v.Security, charset, collation)
	})
}

// connectionNames are the client's character set and the collation with which
// a view was made.
func connectionNames(v *schema.View) (charset, collation string) {
	return charsetName(v.Collation), collationName(v.Collation)
}

// CreateView is the statement that makes a view like v, as SHOW CREATE VIEW
// prints it: without its database when that is the current one.
func CreateView(v *schema.View, database string) string {
	var b strings.Builder
	b.WriteString("CREATE ALGORITHM=" + v.Algorithm + " DEFINER=" + quoteName(v.DefinerUser) + "@" + quoteName(v.DefinerHost) +
		" SQL SECURITY " + v.Security + " VIEW ")
	query := v.Local
	if database != v.Database {
		b.WriteString(quoteName(v.Database) + ".")
		query = v.Query
	}
	b.WriteString(quoteName(v.Name))
	if len(v.ColumnNames) > 0 {
		names := make([]string, len(v.ColumnNames))
		for i, n := range v.ColumnNames {
			names[i] = quoteName(n)
		}
		b.WriteString(" (" + strings.Join(names, ",") + ")")
	}
	b.WriteString(" AS " + query)
	if v.Check != "NONE" {
		b.WriteString(" WITH " + v.Check + " CHECK OPTION")
	}
	return b.String()
}

// showCreateView is SHOW CREATE VIEW, and SHOW CREATE TABLE of a view.
func showCreateView(q *query) error {
	v, ok := q.snap.View(q.arg(0), q.arg(1))
	if !ok {
		return sqlerr.NoSuchTable(q.arg(0), q.arg(1))
	}
	charset, collation := connectionNames(v)
	return q.emit(v.Name, q.quoting().apply(CreateView(v, q.sess.Database())), charset, collation)
}

// named is a table or view with what a statement shows of it.
type named struct {
	name string
	rest []any
}

// listed are the tables and views of a database in the order of their names.
func (q *query) listed(db string, table func(*schema.Table) []any, view func(*schema.View) []any) []named {
	var out []named
	for _, t := range q.tables(db) {
		out = append(out, named{t.Name, table(t)})
	}
	for _, v := range q.views(db) {
		out = append(out, named{v.Name, view(v)})
	}
	slices.SortFunc(out, func(a, b named) int { return strings.Compare(a.name, b.name) })
	return out
}

// TemporaryTables is a Session that has temporary tables.
type TemporaryTables interface {
	// TemporaryTable finds one; nil if none exists.
	TemporaryTable(db, name string) *schema.Table
}

// temporary is the session's temporary table of that name; nil if none exists.
func (q *query) temporary(db, name string) *schema.Table {
	if t, ok := q.sess.(TemporaryTables); ok {
		return t.TemporaryTable(db, name)
	}
	return nil
}
