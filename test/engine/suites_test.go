package engine

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/dolthub/go-mysql-server/enginetest/queries"
	"github.com/dolthub/go-mysql-server/enginetest/scriptgen/setup"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
	errors "gopkg.in/src-d/go-errors.v1"
)

// step is one statement and what must come of it.
type step struct {
	sql      string
	bindings map[string]sqlparser.Expr
	// check is false where only success matters.
	check    bool
	expected []sql.Row
	columns  sql.Schema
	// fails demands an error; number is MySQL's, 0 where the corpus names none.
	fails  bool
	number int
	// warning is the number of the warnings that must be there, warnings how
	// many; 0 is not checked.
	warning, warnings int
	newSession        bool
	// as runs the step, root if it is nil.
	as *account
	// denied demands a refusal, whatever its number.
	denied bool
}

// testCase begins with its own statements; they must succeed.
type testCase struct {
	name  string
	setUp []string
	steps []step
}

// suite is a list of cases over one set-up.
type suite struct {
	name string
	// shared cases run over one set-up: they only read, or go on where the one
	// before ended.
	shared bool
	// accounts has cases begin with root@localhost as the only account.
	accounts bool
	setUp    [][]setup.SetupScript
	cases    []testCase
}

// omitted are the suites of the corpus that are not run.
//
//	Trigger*, Procedure*, Event*, CallAsof, External*   sqlots has no stored programs
//	Versioned*, parts of Transaction*                   AS OF and branches are Dolt's
//	Fulltext*, Vector*                                  no such indexes yet
//	*Plans                                              go-mysql-server's plans
//	Transaction*                                        conflicts at commit instead of row locks
//	Regex, TimeQueries, OnUpdateExpr                    run under a clock or engine of their own
func suites() []suite {
	all := func(parts ...[]setup.SetupScript) [][]setup.SetupScript { return parts }
	mydb, mytable := setup.MydbData, setup.MytableData
	joins := all(mydb, mytable, setup.Pk_tablesData, setup.OthertableData, setup.NiltableData, setup.XyData, setup.FooData, setup.Comp_index_tablesData, setup.EmptytableData)
	inserts := all(mydb, mytable, setup.Mytable_del_idxData, setup.KeylessData, setup.Keyless_idxData, setup.NiltableData, setup.TypestableData, setup.EmptytableData, setup.AutoincrementData, setup.OthertableData, setup.Othertable_del_idxData)
	updates := all(mydb, mytable, setup.Mytable_del_idxData, setup.FloattableData, setup.NiltableData, setup.TypestableData, setup.Pk_tablesData, setup.OthertableData, setup.TabletestData)
	deletes := all(mydb, mytable, setup.TabletestData)
	replaces := all(mydb, mytable, setup.Mytable_del_idxData, setup.TypestableData)
	blobs := all(mydb, setup.BlobData, mytable)
	errorSetUp := all(mydb, mytable, setup.Pk_tablesData, setup.MyhistorytableData, setup.OthertableData, setup.SpecialtableData, setup.DatetimetableData, setup.NiltableData, setup.FooData)

	out := []suite{
		ofQueries("Queries", setup.SimpleSetup, queries.QueryTests),
		ofQueries("Functions", setup.SimpleSetup, queries.FunctionQueryTests),
		ofQueries("Keyless", setup.SimpleSetup, queries.KeylessQueries),
		ofQueries("DateParse", all(mydb), queries.DateParseQueries),
		ofQueries("Joins", joins, queries.JoinQueryTests),
		ofQueries("JSONTable", all(mydb, setup.Pk_tablesData), queries.JSONTableQueryTests),
		ofQueries("Broken", all(mydb, mytable, setup.Pk_tablesData, setup.Fk_tblData, setup.OthertableData), queries.BrokenQueries),
		ofQueries("InfoSchema", all(mydb, mytable, setup.Fk_tblData, setup.FooData), queries.InfoSchemaQueries),
		ofQueries("OrdinalDDL", setup.OrdinalSetup, queries.OrdinalDDLQueries),
		ofQueries("ComplexIndex", setup.ComplexIndexSetup, queries.ComplexIndexQueries),
		ofQueries("ShowTableStatus", all(mydb, mytable, setup.OthertableData), queries.ShowTableStatusQueries),
		ofQueries("NullRange", setup.NullsSetup, queries.NullRangeTests),
		ofQueries("Blob", blobs, queries.BlobQueries),
		ofQueries("Views", append(all(mydb, mytable), []setup.SetupScript{{"CREATE VIEW myview2 AS SELECT * FROM myview WHERE i = 1"}}), queries.ViewTests),
		ofQueries("Tuples", all(mydb, mytable), tupleTests()),
		ofQueries("Convert", all(mydb, setup.TypestableData), convertTests()),
		ofErrors("Errors", errorSetUp, queries.ErrorQueries),
		ofErrors("BrokenErrors", errorSetUp, queries.BrokenErrorQueries),
		ofErrors("VariableErrors", all(mydb), queries.VariableErrorTests),
		ofErrors("BlobErrors", blobs, queries.BlobErrors),
		ofErrors("UpdateErrors", all(mydb, setup.KeylessData, setup.Keyless_idxData, setup.PeopleData, setup.Pk_tablesData), queries.UpdateErrorTests),
		ofGenericErrors("InsertErrors", setup.Mytable, queries.InsertErrorTests),
		ofGenericErrors("ReplaceErrors", all(mydb, mytable), queries.ReplaceErrorTests),
		ofGenericErrors("GenericUpdateErrors", all(mydb, mytable, setup.FloattableData, setup.TypestableData), queries.GenericUpdateErrorTests),
		ofWrites("Insert", inserts, queries.InsertQueries),
		ofWrites("Replace", replaces, queries.ReplaceQueries),
		ofWrites("Update", updates, queries.UpdateWriteQueryTests),
		ofWrites("UpdateIgnore", updates, queries.UpdateIgnoreTests),
		ofWrites("Delete", deletes, queries.DeleteTests),
		ofWrites("DeleteJoin", deletes, queries.DeleteJoinTests),
		ofWrites("OrdinalDDLWrite", setup.OrdinalSetup, queries.OrdinalDDLWriteQueries),
		ofWrites("BlobWrite", blobs, queries.BlobWriteQueries),
		ofQueries("Spatial", setup.SpatialSetup, queries.SpatialQueryTests),
		ofWrites("SpatialInsert", setup.SpatialSetup, queries.SpatialInsertQueries),
		ofWrites("SpatialUpdate", setup.SpatialSetup, queries.SpatialUpdateTests),
		ofWrites("SpatialDelete", setup.SpatialSetup, queries.SpatialDeleteTests),
		ofWrites("CreateTable", all(mydb, mytable, setup.FooData), queries.CreateTableQueries),
		ofTypeWire(all(mydb)),
		ofCharsets("CharsetCollation", all(mydb), queries.CharsetCollationWireTests),
		ofCharsets("DatabaseCollation", all(mydb), queries.DatabaseCollationWireTests),
	}
	for _, s := range []struct {
		name    string
		setUp   [][]setup.SetupScript
		scripts []queries.ScriptTest
	}{
		{"Scripts", all(mydb), queries.ScriptTests},
		{"BrokenScripts", all(mydb), queries.BrokenScriptTests},
		{"JoinScripts", joins, queries.JoinScriptTests},
		{"LateralJoin", all(mydb), queries.LateralJoinScriptTests},
		{"JSONTableScripts", all(mydb), queries.JSONTableScriptTests},
		{"InfoSchemaScripts", all(mydb, mytable, setup.Fk_tblData, setup.FooData), queries.InfoSchemaScripts},
		{"AnsiQuotes", all(mydb), queries.AnsiQuotesTests},
		{"OrderByGroupBy", all(mydb), queries.OrderByGroupByScriptTests},
		{"ColumnAlias", setup.Mytable, queries.ColumnAliasQueries},
		{"DerivedTableOuterScope", all(mydb), queries.DerivedTableOuterScopeVisibilityQueries},
		{"InsertScripts", all(mydb), queries.InsertScripts},
		{"InsertDuplicateKeyKeyless", all(mydb), queries.InsertDuplicateKeyKeyless},
		{"InsertIgnore", all(mydb), queries.InsertIgnoreScripts},
		{"InsertIgnoreKeyless", all(mydb), queries.IgnoreWithDuplicateUniqueKeyKeylessScripts},
		{"InsertErrorScripts", all(mydb), queries.InsertErrorScripts},
		{"InsertBroken", all(mydb), queries.InsertBrokenScripts},
		{"UpdateScripts", updates, queries.UpdateScriptTests},
		{"UpdateIgnoreScripts", updates, queries.UpdateIgnoreScripts},
		{"UpdateErrorScripts", all(mydb, setup.KeylessData, setup.Keyless_idxData, setup.PeopleData, setup.Pk_tablesData), queries.UpdateErrorScripts},
		{"DeleteErrors", append(all(mydb, mytable, setup.TabletestData, setup.TestdbData), []setup.SetupScript{{"create table test.other (pk int primary key);"}}), queries.DeleteErrorTests},
		{"RowLimit", all(mydb), queries.RowLimitTests},
		{"NumericErrors", all(mydb), queries.NumericErrorQueries},
		{"GeneratedColumns", all(mydb), queries.GeneratedColumnTests},
		{"JSON", all(mydb, setup.BlobData), queries.JsonScripts},
		{"CreateCheck", setup.ChecksSetup, queries.CreateCheckConstraintsScripts},
		{"ChecksOnInsert", all(mydb), queries.ChecksOnInsertScripts},
		{"ChecksOnUpdate", all(mydb), queries.ChecksOnUpdateScriptTests},
		{"DisallowedChecks", all(mydb), queries.DisallowedCheckConstraintsScripts},
		{"DropChecks", all(mydb), queries.DropCheckConstraintsScripts},
		{"ViewScripts", all(mydb), queries.ViewScripts},
		{"CreateTableScripts", all(mydb, mytable, setup.FooData), queries.CreateTableScriptTests},
		{"CreateTableAutoIncrement", all(mydb), queries.CreateTableAutoIncrementTests},
		{"RenameTable", all(mydb, mytable, setup.OthertableData, setup.NiltableData, setup.EmptytableData), queries.RenameTableScripts},
		{"RenameColumn", all(mydb, mytable, setup.TabletestData), queries.RenameColumnScripts},
		{"AddColumn", all(mydb, mytable), queries.AddColumnScripts},
		{"ModifyColumn", all(mydb, mytable, setup.Mytable_del_idxData), queries.ModifyColumnScripts},
		{"DropColumn", all(mydb, mytable, setup.TabletestData), queries.DropColumnScripts},
		{"DropColumnKeyless", all(mydb, setup.TabletestData), queries.DropColumnKeylessTablesScripts},
		{"AlterTable", all(mydb, setup.Pk_tablesData), queries.AlterTableScripts},
		{"AlterTableAutoIncrement", all(mydb), queries.AlterTableAddAutoIncrementScripts},
		{"AddDropPrimaryKey", all(mydb), queries.AddDropPrimaryKeyScripts},
		{"ColumnDefault", all(mydb), queries.ColumnDefaultTests},
		{"CreateDatabase", all(mydb), queries.CreateDatabaseScripts},
		{"DropDatabase", all(mydb), queries.DropDatabaseScripts},
		{"ForeignKeys", all(mydb, setup.Parent_childData), queries.ForeignKeyTests},
		{"CreateForeignKeys", all(mydb, mytable), queries.CreateForeignKeyTests},
		{"DropForeignKeys", all(mydb, mytable), queries.DropForeignKeyTests},
		{"Windows", all(mydb), queries.WindowFunctionsScriptTests},
		{"WindowRowFrames", all(mydb), queries.WindowRowFramesScriptTests},
		{"WindowRangeFrames", all(mydb, mytable), queries.WindowRangeFramesScriptTests},
		{"NamedWindows", all(mydb), queries.NamedWindowsScriptTests},
		{"Variables", all(mydb), queries.VariableQueries},
		{"Prepared", all(mydb), queries.PreparedScriptTests},
		{"ShowTableStatusScripts", all(mydb, mytable, setup.OthertableData), queries.ShowTableStatusScripts},
		{"CharsetEngine", all(mydb), queries.CharsetCollationEngineTests},
		{"Indexes", all(mydb), queries.IndexQueries},
		{"IndexPrefix", all(mydb), queries.IndexPrefixQueries},
		{"IndexedExpressions", all(mydb), queries.IndexedExpressionsScriptTests},
		{"LogicJoins", all(mydb), queries.SQLLogicJoinTests},
		{"LogicSubqueries", all(mydb), queries.SQLLogicSubqueryTests},
		{"QueryPlanScripts", all(mydb), queries.QueryPlanScriptTests},
		{"MySqlDb", all(mydb), queries.MySqlDbTests},
		{"SpatialScripts", all(mydb), queries.SpatialScriptTests},
		{"SpatialIndex", all(mydb), queries.SpatialIndexScriptTests},
		{"LargeGeometry", all(mydb), queries.LargeGeometryScriptTests},
	} {
		scripts := ofScripts(s.name, s.setUp, s.scripts)
		scripts.shared = slices.Contains([]string{"RenameTable", "RenameColumn", "AddColumn", "ModifyColumn", "DropColumn",
			"DropColumnKeyless", "CreateDatabase", "ChecksOnInsert", "DisallowedChecks", "DropChecks"}, s.name)
		out = append(out, scripts)
	}
	// The last ones: they leave another root.
	return append(out, ofUserPrivileges(all(mydb, mytable)), ofQuickPrivileges(), ofServerAuthentication(all(mydb, mytable)))
}

func tupleTests() []queries.QueryTest {
	var out []queries.QueryTest
	queries.MakeTupleQueryTests(func(t queries.QueryTest) { out = append(out, t) })
	return out
}

func convertTests() []queries.QueryTest {
	var out []queries.QueryTest
	for _, t := range queries.ConvertTests {
		q := fmt.Sprintf("select count(*) from typestable where %s %s %s", t.Field, t.Op, t.Operand)
		out = append(out, queries.QueryTest{Query: q, Expected: []sql.Row{{t.ExpCnt}}})
	}
	return out
}

// forMySQL reports that a test is not one of another dialect.
func forMySQL(dialect string) bool { return dialect == "" || dialect == "mysql" }

// numberOf is MySQL's number of an error kind, 0 where it has none.
func numberOf(k *errors.Kind) int {
	if k == nil {
		return 0
	}
	if n := sql.CastSQLError(k.New()).Num; n != 1105 {
		return n
	}
	return 0
}

// errno finds the number in the text of an error.
var errno = regexp.MustCompile(`\(errno (\d+)\)`)

func failure(sqlText string, bindings map[string]sqlparser.Expr, kind *errors.Kind, text string) step {
	s := step{sql: sqlText, bindings: bindings, fails: true, number: numberOf(kind)}
	if m := errno.FindStringSubmatch(text); m != nil && m[1] != "1105" {
		fmt.Sscan(m[1], &s.number)
	}
	return s
}

func one(sqlText string, s step) testCase { return testCase{name: sqlText, steps: []step{s}} }

func ofQueries(name string, setUp [][]setup.SetupScript, tests []queries.QueryTest) suite {
	s := suite{name: name, shared: true, setUp: setUp}
	for _, t := range tests {
		if t.Skip || !forMySQL(t.Dialect) {
			continue
		}
		st := step{sql: t.Query, bindings: t.Bindings, check: t.Expected != nil, expected: t.Expected, columns: t.ExpectedColumns,
			warning: t.ExpectedWarning, warnings: t.ExpectedWarningsCount}
		if t.ExpectedErr != nil || t.ExpectedErrStr != "" {
			st = failure(t.Query, t.Bindings, t.ExpectedErr, t.ExpectedErrStr)
		}
		s.cases = append(s.cases, one(t.Query, st))
	}
	return s
}

func ofErrors(name string, setUp [][]setup.SetupScript, tests []queries.QueryErrorTest) suite {
	s := suite{name: name, shared: true, setUp: setUp}
	for _, t := range tests {
		s.cases = append(s.cases, one(t.Query, failure(t.Query, t.Bindings, t.ExpectedErr, t.ExpectedErrStr)))
	}
	return s
}

func ofGenericErrors(name string, setUp [][]setup.SetupScript, tests []queries.GenericErrorQueryTest) suite {
	s := suite{name: name, setUp: setUp}
	for _, t := range tests {
		s.cases = append(s.cases, one(t.Name, step{sql: t.Query, fails: true}))
	}
	return s
}

func ofWrites(name string, setUp [][]setup.SetupScript, tests []queries.WriteQueryTest) suite {
	s := suite{name: name, setUp: setUp}
	for _, t := range tests {
		if t.Skip || !forMySQL(t.Dialect) {
			continue
		}
		s.cases = append(s.cases, testCase{name: t.WriteQuery, steps: []step{
			{sql: t.WriteQuery, bindings: t.Bindings, check: t.ExpectedWriteResult != nil, expected: t.ExpectedWriteResult},
			{sql: t.SelectQuery, check: t.ExpectedSelect != nil, expected: t.ExpectedSelect},
		}})
	}
	return s
}

func ofScripts(name string, setUp [][]setup.SetupScript, tests []queries.ScriptTest) suite {
	s := suite{name: name, setUp: setUp}
	for _, t := range tests {
		if t.Skip || !forMySQL(t.Dialect) {
			continue
		}
		c := testCase{name: t.Name, setUp: t.SetUpScript}
		if len(t.Assertions) == 0 {
			t.Assertions = []queries.ScriptTestAssertion{{Query: t.Query, Expected: t.Expected, ExpectedErr: t.ExpectedErr}}
		}
		for _, a := range t.Assertions {
			if !a.Skip && forMySQL(a.Dialect) {
				c.steps = append(c.steps, ofAssertion(a))
			}
		}
		s.cases = append(s.cases, c)
	}
	return s
}

func ofAssertion(a queries.ScriptTestAssertion) step {
	st := step{sql: a.Query, bindings: a.Bindings, check: a.Expected != nil && !a.SkipResultsCheck, expected: a.Expected,
		columns: a.ExpectedColumns, warning: a.ExpectedWarning, warnings: a.ExpectedWarningsCount}
	if a.ExpectedErr != nil || a.ExpectedErrStr != "" {
		st = failure(a.Query, a.Bindings, a.ExpectedErr, a.ExpectedErrStr)
	}
	st.newSession = a.NewSession
	return st
}

func ofTypeWire(setUp [][]setup.SetupScript) suite {
	s := suite{name: "TypeWire", setUp: setUp}
	for _, t := range queries.TypeWireTests {
		c := testCase{name: t.Name, setUp: t.SetUpScript}
		for i, q := range t.Queries {
			c.steps = append(c.steps, step{sql: q, check: true, expected: t.Results[i]})
		}
		s.cases = append(s.cases, c)
	}
	return s
}

func ofCharsets(name string, setUp [][]setup.SetupScript, tests []queries.CharsetCollationWireTest) suite {
	s := suite{name: name, setUp: setUp}
	for _, t := range tests {
		c := testCase{name: t.Name, setUp: t.SetUpScript}
		for _, q := range t.Queries {
			c.steps = append(c.steps, step{sql: q.Query, check: !q.Error && q.Expected != nil, expected: q.Expected, fails: q.Error})
		}
		s.cases = append(s.cases, c)
	}
	return s
}
