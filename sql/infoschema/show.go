package infoschema

import (
	"strings"
	"time"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// show is one SHOW statement. columns, when set, gives the columns that depend
// on the words. check, when set, refuses what the account may not see, before the
// statement is bound and, since another account may run its plan, before it is read.
type show struct {
	name    string
	cols    []logical.Column
	columns func(q *query) string
	check   func(q *query) error
	rows    func(q *query) error
}

func newShow(name, spec string, rows func(q *query) error) *show {
	if rows == nil {
		rows = func(*query) error { return nil }
	}
	return &show{name: name, cols: columns(spec), rows: rows}
}

// checked makes check that of the statement.
func (s *show) checked(check func(q *query) error) *show {
	s.check = check
	return s
}

func (s *show) allowed(q *query) error {
	if s.check == nil {
		return nil
	}
	return s.check(q)
}

// read makes the rows.
func (s *show) read(q *query) error {
	if err := s.allowed(q); err != nil {
		return err
	}
	return s.rows(q)
}

const routineColumns = "Db n64, Name s64, Type e:FUNCTION|PROCEDURE, Definer s288, Modified d, Created d, Security_type e:INVOKER|DEFINER, Comment t, character_set_client s64, collation_connection s64, Database Collation s64"

// showStatements are those of logical.ShowDatabase, with MySQL's columns.
func showStatements() []*show {
	variables := "Variable_name s64, Value s2048?"
	warnings := "Level s7, Code u, Message s512"
	list := []*show{
		newShow("databases", "Database n64", func(q *query) error {
			for _, n := range q.databaseNames() {
				if err := q.emit(n); err != nil {
					return err
				}
			}
			return nil
		}),
		{name: "tables", columns: showTablesColumns, check: checkDatabase, rows: showTables},
		{name: "columns", columns: showColumnsColumns, check: checkTable, rows: showColumns},
		newShow("index", "Table n64, Non_unique i, Key_name s64?, Seq_in_index u, Column_name s64?, Collation s1?, Cardinality i?, Sub_part i?, Packed s1?, Null s3, Index_type s11, Comment s8, Index_comment s2048, Visible s3, Expression t?", showIndex).checked(checkTable),
		newShow("create_view", "View n64, Create View t, character_set_client s64, collation_connection s64", showCreateView).checked(checkCreateView),
		newShow("create_table", "Table n64, Create Table t", showCreateTable).checked(checkCreateTable),
		newShow("create_database", "Database n64, Create Database t", showCreateDatabase).checked(checkDatabase),
		{name: "create_user", columns: func(q *query) string { return "CREATE USER for " + q.accountHeader() + " t" }, check: checkCreateUser, rows: showCreateUser},
		newShow("variables", variables, showVariables),
		newShow("status", variables, showStatus),
		newShow("warnings", warnings, func(q *query) error { return showWarnings(q, false) }),
		newShow("errors", warnings, func(q *query) error { return showWarnings(q, true) }),
		newShow("count_warnings", "@@session.warning_count u", func(q *query) error { return q.emit(uint64(len(q.sess.Warnings()))) }),
		newShow("count_errors", "@@session.error_count u", func(q *query) error {
			n := uint64(0)
			for _, w := range q.sess.Warnings() {
				if w.Level == sqlerr.LevelError {
					n++
				}
			}
			return q.emit(n)
		}),
		newShow("processlist", "Id u, User s32, Host s261, db n64?, Command s16, Time i, State s64?, Info t?", func(q *query) error {
			return processRows(q, q.arg(0) == "full")
		}),
		newShow("engines", "Engine s64, Support s8, Comment s80, Transactions s3?, XA s3?, Savepoints s3?", engines),
		newShow("engine_status", "Type s10, Name s64, Status t", engineStatus).checked(needs(priv.Process)),
		newShow("character_set", "Charset s64, Description s2048, Default collation s64, Maxlen u", func(q *query) error {
			for _, c := range collate.Charsets() {
				if err := q.emit(c.Name, c.Description, c.DefaultCollation, uint64(c.MaxLen)); err != nil {
					return err
				}
			}
			return nil
		}),
		newShow("collation", "Collation s64, Charset s64, Id u, Default s3, Compiled s3, Sortlen u, Pad_attribute e:PAD SPACE|NO PAD", func(q *query) error {
			return eachCollation(func(c *collate.Collation, def, pad string) error {
				return q.emit(c.Name, c.Charset, uint64(c.ID), def, "Yes", uint64(sortLen(c)), pad)
			})
		}),
		newShow("table_status", "Name n64, Engine s64?, Version i?, Row_format s10?, Rows u?, Avg_row_length u?, Data_length u?, Max_data_length u?, Index_length u?, Data_free u?, Auto_increment u?, Create_time d?, Update_time d?, Check_time d?, Collation s64?, Checksum i?, Create_options s256?, Comment t?", showTableStatus).checked(checkDatabase),
		{name: "grants", columns: func(q *query) string { return "Grants for " + q.accountHeader() + " t" }, check: checkGrants, rows: showGrants},
		newShow("privileges", "Privilege s32, Context s64, Comment s128", privileges),
		newShow("plugins", "Name s64, Status s10, Type s80, Library s64?, License s80?", func(q *query) error {
			for _, p := range plugins {
				if err := q.emit(p.name, "ACTIVE", p.kind, nil, "Apache-2.0"); err != nil {
					return err
				}
			}
			return nil
		}),
		newShow("open_tables", "Database n64, Table n64, In_use i, Name_locked i", nil),
		newShow("triggers", "Trigger s64, Event e:INSERT|UPDATE|DELETE, Table n64, Statement t, Timing e:BEFORE|AFTER, Created d?, sql_mode s512, Definer s288, character_set_client s64, collation_connection s64, Database Collation s64", nil).checked(checkDatabase),
		newShow("events", "Db n64, Name s64, Definer s288, Time zone s64, Type s9, Execute at d?, Interval value s256?, Interval field s18?, Starts d?, Ends d?, Status s18, Originator u, character_set_client s64, collation_connection s64, Database Collation s64", nil).checked(checkEvents),
		newShow("procedure_status", routineColumns, nil),
		newShow("function_status", routineColumns, nil),
		newShow("profiles", "Query_ID u, Duration f, Query t", nil),
	}
	return list
}

func showTablesColumns(q *query) string {
	spec := "Tables_in_" + strings.ReplaceAll(q.arg(0), ",", "_") + " n64"
	if q.arg(1) == "full" {
		spec += ", Table_type e:BASE TABLE|VIEW|SYSTEM VIEW"
	}
	return spec
}

func showTables(q *query) error {
	db := q.arg(0)
	row := func(name, kind string) error {
		if q.arg(1) == "full" {
			return q.emit(name, kind)
		}
		return q.emit(name)
	}
	if q.provider.IsVirtual(db) {
		kind := "BASE TABLE"
		if strings.EqualFold(db, infoDB) {
			kind = "SYSTEM VIEW"
		}
		for _, t := range q.virtualTables(db) {
			if err := row(t.name, kind); err != nil {
				return err
			}
		}
		return nil
	}
	list := q.listed(db, func(*schema.Table) []any { return []any{"BASE TABLE"} }, func(*schema.View) []any { return []any{"VIEW"} })
	for _, t := range list {
		if err := row(t.name, t.rest[0].(string)); err != nil {
			return err
		}
	}
	return nil
}

// storedTable is the table of a SHOW statement; nil for a virtual one.
func (q *query) storedTable(db, name string) (*schema.Table, *table, error) {
	if t := q.temporary(db, name); t != nil {
		return t, nil, nil
	}
	if t, ok := q.snap.Table(db, name); ok {
		return t, nil, nil
	}
	if v := q.provider.dbs[strings.ToLower(db)][strings.ToLower(name)]; v != nil {
		return nil, v, nil
	}
	return nil, nil, sqlerr.NoSuchTable(db, name)
}

func showColumnsColumns(q *query) string {
	if q.arg(2) == "full" {
		return "Field s64?, Type t, Collation s64?, Null s3, Key e:PRI|UNI|MUL, Default t?, Extra s256?, Privileges s154?, Comment t"
	}
	return "Field s64?, Type t, Null s3, Key e:PRI|UNI|MUL, Default t?, Extra s256?"
}

func showColumns(q *query) error {
	rights := q.columnRights(q.arg(0), q.arg(1))
	row := func(c *schema.Column, key string) error {
		may := rights.of(c.Name)
		if may == 0 {
			return nil
		}
		if q.arg(2) == "full" {
			return q.emit(c.Name, columnType(c.Type), columnCollation(c.Type), yesNo(c.Nullable), key, columnDefault(c), columnExtra(c), columnPrivileges(may), c.Comment)
		}
		return q.emit(c.Name, columnType(c.Type), yesNo(c.Nullable), key, columnDefault(c), columnExtra(c))
	}
	if q.temporary(q.arg(0), q.arg(1)) != nil {
		rights = columnRights{whole: priv.AllColumn}
	} else if view, ok := q.snap.View(q.arg(0), q.arg(1)); ok {
		cols, _, err := q.describe(view)
		if err != nil {
			return err
		}
		for i := range cols {
			if err := row(&cols[i], ""); err != nil {
				return err
			}
		}
		return nil
	}
	t, v, err := q.storedTable(q.arg(0), q.arg(1))
	if err != nil {
		return err
	}
	if v != nil {
		for i := range v.cols {
			c := virtualColumn(&v.cols[i])
			if err := row(&c, ""); err != nil {
				return err
			}
		}
		return nil
	}
	return shownColumns(t, func(c *schema.Column, _ int) error { return row(c, columnKey(t, c)) })
}

func showIndex(q *query) error {
	if _, ok := q.snap.View(q.arg(0), q.arg(1)); ok && q.temporary(q.arg(0), q.arg(1)) == nil {
		return nil
	}
	t, _, err := q.storedTable(q.arg(0), q.arg(1))
	if err != nil || t == nil {
		return err
	}
	return q.keyRows(t, func(k *key, seq int, c *schema.Column, order, cardinality, sub, null any) error {
		return q.emit(t.Name, !k.unique, k.name, uint64(seq), keyColumnName(c), order, cardinality, sub, nil, null, k.indexType(), "", k.comment, yesNo(!k.invisible), keyExpressionText(c))
	})
}

func showCreateTable(q *query) error {
	t, v, err := q.storedTable(q.arg(0), q.arg(1))
	if err != nil {
		return err
	}
	if v != nil {
		d := &schema.Table{Name: v.name, Collation: schema.CollationUTF8MB3GeneralCI, Engine: "MEMORY"}
		for i := range v.cols {
			c := virtualColumn(&v.cols[i])
			c.ID = schema.ColumnID(i + 1)
			d.Columns = append(d.Columns, c)
		}
		d.Columns = append(d.Columns, schema.Column{ID: schema.ColumnID(len(d.Columns) + 1), Name: schema.HiddenKeyColumn, Hidden: true})
		d.PrimaryKey = []schema.KeyPart{{Column: schema.ColumnID(len(d.Columns))}}
		return q.emit(v.name, q.quoting().apply(createTable(d, 0)))
	}
	text := createTable(t, q.server.NextAutoIncrement(t))
	if q.temporary(q.arg(0), q.arg(1)) != nil {
		text = "CREATE TEMPORARY" + strings.TrimPrefix(text, "CREATE")
	}
	return q.emit(t.Name, q.quoting().apply(text))
}

func showCreateDatabase(q *query) error {
	d, ok := q.snap.Database(q.arg(0))
	if !ok {
		d = &schema.Database{Name: q.arg(0), Collation: schema.CollationUTF8GeneralCI}
	}
	return q.emit(d.Name, q.quoting().apply(CreateDatabase(d, q.arg(1) != "")))
}

func showVariables(q *query) error {
	list := q.sess.Variables
	if q.arg(0) == "global" {
		list = q.server.GlobalVariables
	}
	return emitVariables(q, list())
}

func showStatus(q *query) error {
	if q.arg(0) == "global" {
		return emitVariables(q, q.server.GlobalStatus())
	}
	return emitVariables(q, q.status())
}

func emitVariables(q *query, list []Variable) error {
	for _, v := range list {
		if err := q.emit(v.Name, v.Value); err != nil {
			return err
		}
	}
	return nil
}

func showWarnings(q *query, errorsOnly bool) error {
	// A copy: the rows are read while the statement may warn itself.
	for _, w := range append([]sqlerr.Warning(nil), q.sess.Warnings()...) {
		if errorsOnly && w.Level != sqlerr.LevelError {
			continue
		}
		if err := q.emit(w.Level.String(), uint64(w.Err.Number), w.Err.Message); err != nil {
			return err
		}
	}
	return nil
}

// processRows are the lines of SHOW PROCESSLIST.
func processRows(q *query, full bool) error {
	now := time.Now()
	for _, p := range q.processes() {
		info := p.Info
		if r := []rune(info); !full && len(r) > 100 {
			info = string(r[:100])
		}
		err := q.emit(p.ID, p.User, hostText(p.Host), orNull(p.DB), p.Command, int64(now.Sub(p.Since)/time.Second), p.State, orNull(info))
		if err != nil {
			return err
		}
	}
	return nil
}

func hostText(h string) string {
	if h == "" {
		return "localhost"
	}
	return h
}

func showTableStatus(q *query) error {
	db := q.arg(0)
	for _, t := range q.virtualTables(db) {
		err := q.emit(t.name, nil, 10, nil, uint64(0), uint64(0), uint64(0), uint64(0), uint64(0), uint64(0), nil, q.server.Started(), nil, nil, nil, nil, "", "")
		if err != nil {
			return err
		}
	}
	if q.provider.IsVirtual(db) {
		return nil
	}
	for _, t := range q.listed(db, q.tableStatus, viewStatus) {
		if err := q.emit(append([]any{t.name}, t.rest...)...); err != nil {
			return err
		}
	}
	return nil
}

func engines(q *query) error {
	for _, e := range []struct{ name, support, comment string }{
		{"sqlots", "DEFAULT", "Wide-column store with transactions and row-level locking"},
		{"InnoDB", "YES", "Another name of sqlots"},
		{"MyISAM", "YES", "Another name of sqlots"},
		{"MEMORY", "YES", "Another name of sqlots"},
	} {
		if err := q.emit(e.name, e.support, e.comment, "YES", "NO", "YES"); err != nil {
			return err
		}
	}
	return nil
}
