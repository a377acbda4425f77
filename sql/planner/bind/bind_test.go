package bind

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

// testCatalog is a catalog that DDL statements of the test file fill.
type testCatalog struct {
	dbs    map[string]*schema.Database
	tables map[string]*schema.Table
}

func newTestCatalog() *testCatalog {
	return &testCatalog{dbs: map[string]*schema.Database{"test": {Name: "test", Collation: schema.CollationUTF8MB40900AICI}}, tables: map[string]*schema.Table{}}
}

func (c *testCatalog) Database(name string) (*schema.Database, bool) {
	d, ok := c.dbs[strings.ToLower(name)]
	return d, ok
}

func (c *testCatalog) Table(db, name string) (*schema.Table, bool) {
	t, ok := c.tables[strings.ToLower(db+"."+name)]
	return t, ok
}

func (c *testCatalog) add(t *schema.Table) { c.tables[strings.ToLower(t.Database+"."+t.Name)] = t }

// testVirtual makes up virtual tables.
type testVirtual struct{}

func (testVirtual) IsVirtual(db string) bool {
	return strings.EqualFold(db, "information_schema")
}

func (testVirtual) Virtual(db, name string, args ...string) (logical.VirtualTable, bool, error) {
	text := types.VarcharOf(64, schema.CollationUTF8GeneralCI)
	cols := func(names ...string) []logical.Column {
		var out []logical.Column
		for _, n := range names {
			out = append(out, logical.Column{Name: n, T: text})
		}
		return out
	}
	v := logical.VirtualTable{Name: strings.ToUpper(name), Key: db + "." + name + fmt.Sprint(args)}
	switch {
	case db == logical.ShowDatabase && name == "columns":
		v.Cols = cols("Field", "Type", "Null", "Key", "Default", "Extra")
	case db == logical.ShowDatabase && name == "tables":
		v.Cols = cols("Tables_in_" + args[0])
	case db == logical.ShowDatabase:
		v.Cols = cols("Name", "Value")
	case strings.EqualFold(name, "tables"):
		v.Cols = cols("TABLE_SCHEMA", "TABLE_NAME")
	default:
		return v, false, nil
	}
	return v, true, nil
}

func testEnv(c *testCatalog) *Env {
	return &Env{Catalog: c, Virtual: testVirtual{}, Database: "test", Mode: types.DefaultSQLMode, Collation: schema.CollationUTF8MB40900AICI,
		ServerCollation: schema.CollationUTF8MB40900AICI}
}

func bindText(env *Env, sql string) (logical.Statement, error) {
	st, err := parser.New().Parse(sql, env.Mode)
	if err != nil {
		return nil, err
	}
	return Bind(env, st)
}

func errText(err error) string {
	var e *sqlerr.Error
	if !errors.As(err, &e) {
		return "NOT A MYSQL ERROR: " + err.Error()
	}
	return fmt.Sprintf("%d %s: %s", e.Number, e.State, e.Message)
}

// TestGolden runs testdata. Commands: ddl creates tables, bind prints the plan
// of the statement, each prints one line for each line of input: the error, or
// ok. Arguments: mode=… replaces sql_mode.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		c := newTestCatalog()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			env := testEnv(c)
			if d.HasArg("loose") {
				env.Mode &^= types.ModeOnlyFullGroupBy
			}
			if d.HasArg("nodb") {
				env.Database = ""
			}
			switch d.Cmd {
			case "ddl":
				rest := d.Input
				for {
					sql, r, ok := parser.Next(rest, env.Mode)
					if !ok {
						return "ok"
					}
					rest = r
					st, err := bindText(env, sql)
					if err != nil {
						return errText(err)
					}
					table := st.(*logical.CreateTable).Table
					table.ID = schema.TableID(len(c.tables) + 1)
					c.add(table)
				}
			case "bind":
				st, err := bindText(env, d.Input)
				if err != nil {
					return errText(err)
				}
				return (&printer{}).statement(st)
			case "each":
				var out strings.Builder
				for _, line := range strings.Split(d.Input, "\n") {
					_, err := bindText(env, line)
					if err != nil {
						out.WriteString(errText(err))
					} else {
						out.WriteString("ok")
					}
					out.WriteByte('\n')
				}
				return out.String()
			}
			return "unknown command"
		})
	})
}
