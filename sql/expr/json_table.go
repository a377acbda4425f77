package expr

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// JSONTable is JSON_TABLE: the rows that a path selects of a document, and how
// their columns come from them (MySQL manual 14.17.6).
type JSONTable struct {
	// Name is the table's alias, for messages.
	Name string
	Root JSONTableRows
	// Width is the number of columns of a row.
	Width int
}

// JSONTableRows are the rows of a path with their columns and nested paths.
type JSONTableRows struct {
	Path    *value.JSONPath
	Columns []JSONTableColumn
	Nested  []JSONTableRows
}

// JSONTableColumn is one column; At is its place in the row.
type JSONTableColumn struct {
	At         int
	Column     schema.Column
	Ordinality bool
	Exists     bool
	Path       *value.JSONPath
	OnEmpty    JSONTableClause
	OnError    JSONTableClause
}

// JSONTableClause is ON EMPTY or ON ERROR: Kind is null, error or default, whose
// Default is a document.
type JSONTableClause struct {
	Kind    string
	Default []byte
}

// NewJSONDocument is the document of JSON_TABLE: 3141, 3146.
func NewJSONDocument(env *BindEnv, e Expr) (Expr, error) {
	d, err := convertArg(env, 'j', e)
	return namedJSON(d, err, 1, "json_table")
}

// Rows calls emit with each row of the document; the row is valid during the
// call.
func (t *JSONTable) Rows(c *Ctx, doc []byte, emit func(row []value.Datum) error) error {
	r := jsonTableRun{t: t, c: c, emit: emit, row: make([]value.Datum, t.Width)}
	return r.rows(&t.Root, doc)
}

type jsonTableRun struct {
	t    *JSONTable
	c    *Ctx
	row  []value.Datum
	emit func(row []value.Datum) error
	n    int
}

// rows emits the rows that a path selects of doc. The columns of paths next to
// it are NULL in them.
func (r *jsonTableRun) rows(s *JSONTableRows, doc []byte) error {
	list, err := r.c.extract(s.Path, nil, doc)
	if err != nil {
		return err
	}
	for i, part := range list {
		for j := range s.Columns {
			col := &s.Columns[j]
			d, err := r.value(col, part, i+1)
			if err != nil {
				return err
			}
			r.row[col.At] = d
		}
		before := r.n
		for j := range s.Nested {
			if err := r.rows(&s.Nested[j], part); err != nil {
				return err
			}
			r.clear(&s.Nested[j])
		}
		if r.n > before {
			continue
		}
		r.n++
		if err := r.emit(r.row); err != nil {
			return err
		}
	}
	return nil
}

// clear makes the columns of a path NULL.
func (r *jsonTableRun) clear(s *JSONTableRows) {
	for i := range s.Columns {
		r.row[s.Columns[i].At] = value.Null
	}
	for i := range s.Nested {
		r.clear(&s.Nested[i])
	}
}

func (r *jsonTableRun) value(col *JSONTableColumn, doc []byte, number int) (value.Datum, error) {
	if col.Ordinality {
		return value.Uint(uint64(number)), nil
	}
	found, err := r.c.extract(col.Path, nil, doc)
	if err != nil {
		return value.Null, err
	}
	switch {
	case col.Exists:
		n := int64(0)
		if len(found) > 0 {
			n = 1
		}
		return types.Store(r.storing(nil), value.Int(n), types.BigInt, &col.Column, number)
	case len(found) == 0:
		if col.OnEmpty.Kind == "error" {
			return value.Null, sqlerr.MissingJSONTableValue(col.Column.Name)
		}
		return r.other(&col.OnEmpty, col, number)
	case len(found) == 1:
		doc = found[0]
	default:
		doc = value.JSONArray(found...)
	}
	d, err := r.store(col, doc, number)
	if err == nil || col.OnError.Kind == "error" {
		return d, err
	}
	return r.other(&col.OnError, col, number)
}

// other is the value of NULL or DEFAULT.
func (r *jsonTableRun) other(clause *JSONTableClause, col *JSONTableColumn, number int) (value.Datum, error) {
	if clause.Kind != "default" {
		return value.Null, nil
	}
	return r.store(col, clause.Default, number)
}

// storing is the environment of a store in strict mode; warnings set bad.
func (r *jsonTableRun) storing(bad *bool) *types.Env {
	env := r.c.Env
	env.Write, env.Mode = true, env.Mode|types.ModeStrictAllTables
	env.Warn = func(w sqlerr.Warning) {
		if bad != nil && w.Level != sqlerr.LevelNote {
			*bad = true
		}
	}
	return &env
}

// store converts a part of the document to the column's type; what does not
// fit is an error.
func (r *jsonTableRun) store(col *JSONTableColumn, doc []byte, number int) (value.Datum, error) {
	t := col.Column.Type
	if t.ID == schema.TypeJSON {
		return value.JSONOf(doc), nil
	}
	d, from := value.JSONOf(doc), jsonType()
	switch value.JSONType(doc) {
	case "NULL":
		return value.Null, nil
	case "ARRAY", "OBJECT":
		return value.Null, sqlerr.WrongJSONTableValue(col.Column.Name)
	case "STRING":
		text, _ := value.JSONText(doc)
		d, from = value.Bytes(text), types.Text(schema.CollationUTF8MB4Bin)
	case "BOOLEAN":
		if !t.IsString() {
			n := int64(0)
			if string(value.AppendJSONText(nil, doc)) == "true" {
				n = 1
			}
			d, from = value.Int(n), types.BigInt
			break
		}
		d, from = value.Bytes(value.AppendJSONText(nil, doc)), types.Text(schema.CollationUTF8MB4Bin)
	default:
		if t.IsString() {
			d, from = value.Bytes(value.AppendJSONUnquoted(nil, doc)), types.Text(schema.CollationUTF8MB4Bin)
		}
	}
	bad := false
	out, err := types.Store(r.storing(&bad), d, from, &col.Column, number)
	if err != nil || bad {
		return value.Null, sqlerr.JSONTableOutOfRange(col.Column.Name)
	}
	return out, nil
}
