package infoschema

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/stream"
	"github.com/sqlots/sqlots/value"
)

// busy is a server that has something of everything.
type busy struct{ *fake }

var anyTables = [][2]string{{"d", "whole"}, {"d", "t_hidden"}, {"shared", "x"}, {"hidden", "s"}}

func (b *busy) Processes() []Process {
	return []Process{{ID: 7, User: "root", Info: "hidden 7", Since: started, Attributes: [][2]string{{"program", "hidden"}}},
		{ID: 8, User: "few", Info: "own 8", Since: started, Attributes: [][2]string{{"program", "own"}}},
		{ID: 9, User: "few", Info: "own 9", Since: started}, {ID: 10, User: "other", Info: "hidden 10", Since: started}}
}

func (b *busy) RowLocks() []LockedKey {
	lock := func(id, thread uint64, name string, waits bool) RowLock {
		return RowLock{ID: fmt.Sprint(name, id), Txn: id, ThreadID: thread, Exclusive: true, Waits: waits, Since: started}
	}
	return []LockedKey{
		{Database: "d", Table: "whole", Index: "PRIMARY", Data: "1", Locks: []RowLock{lock(1, 8, "own", false), lock(2, 9, "own", true), lock(3, 10, "hidden", true)}},
		{Database: "d", Table: "t_hidden", Index: "PRIMARY", Data: "1", Locks: []RowLock{lock(4, 0, "hidden", false), lock(5, 7, "hidden", true)}},
	}
}

func (b *busy) Transactions() []Transaction {
	var out []Transaction
	for i, thread := range []uint64{8, 9, 10, 0, 7} {
		out = append(out, Transaction{ID: uint64(i + 1), ThreadID: thread, State: "RUNNING", Started: started, Query: "a query"})
	}
	return out
}

func (b *busy) VariablesInfo() []VariableInfo {
	return []VariableInfo{{Name: "port", Source: "PERSISTED", Persisted: true}}
}
func (b *busy) MetadataLocks() []MetadataLock {
	return []MetadataLock{{Database: "d", Table: "whole", Type: "SHARED_READ", Owner: 7}, {Database: "d", Table: "whole", Type: "EXCLUSIVE", Owner: 8, Pending: true}}
}

func (b *busy) PreparedStatements() []PreparedStatement {
	return []PreparedStatement{{Thread: 7, ID: 1, Text: "SELECT 1"}}
}

func (b *busy) MemoryParts() []MemoryPart {
	return []MemoryPart{{Name: "statements", Used: 5, Most: 6}}
}
func (b *busy) LogLines() []LogLine {
	return []LogLine{{Time: started, Priority: "Warning", Text: "a line"}}
}

// measure has an account and a thread run statements.
func (b *busy) measure() {
	s := b.metrics.Open(7, "root", "localhost")
	text := "SELECT * FROM whole WHERE a = 1"
	e := &metrics.Event{Command: metrics.CommandOf("select"), Digest: b.metrics.Digests.Get("d", "0123", "SELECT * FROM `whole` WHERE `a` = ?"), Text: text, Schema: "d", Start: started, Duration: time.Second,
		Errno: 1317, State: "70100", Message: "Query execution was interrupted", Warnings: 2, NoIndex: true}
	e.Work[metrics.SortRows], e.Work[metrics.CreatedTmpTables] = 3, 1
	s.Record(e)
	t, _ := b.cat.Snapshot().Table("d", "whole")
	b.metrics.Uses.Get(metrics.UseKey{Table: uint64(t.ID), Index: metrics.NoIndex}).Fetched.Add(5)
}

func (b *busy) Jobs() []Job       { return []Job{{ID: 1, Name: "hidden", Started: started}} }
func (b *busy) Backups() []Backup { return []Backup{{ID: 1, Destination: "hidden", Started: started}} }
func (b *busy) KeyRanges(_ context.Context, t *schema.Table, x *schema.Index) ([]KeyRange, error) {
	return []KeyRange{{First: "1", Bytes: 5}}, nil
}

func (b *busy) KeyHeat(_ context.Context, t *schema.Table) ([]string, []HeatMinute, error) {
	return []string{"1"}, []HeatMinute{{Start: started, Reads: []uint32{1}, Writes: []uint32{0}}}, nil
}

func (b *busy) Loads() ([]Load, error) {
	return []Load{{Token: "hidden", Time: started, Rejects: "[]"}}, nil
}
func (b *busy) SlowLog() []SlowStatement { return []SlowStatement{{Start: started, Text: "any"}} }
func (b *busy) GeneralLog() []LoggedCommand {
	return []LoggedCommand{{At: started, Command: "Query", Text: "any"}}
}

func (b *busy) Streams(context.Context) (out []stream.Info, err error) {
	for _, t := range anyTables {
		out = append(out, stream.Info{Database: t[0], Table: t[1]})
	}
	return out, nil
}

func (b *busy) StreamConsumers(context.Context) (out []stream.ConsumerInfo, err error) {
	for _, t := range anyTables {
		out = append(out, stream.ConsumerInfo{Consumer: stream.Consumer{Name: "c", At: started.UnixMicro()}, Database: t[0], Table: t[1]})
	}
	return out, nil
}

func (b *busy) IndexBuilds() (out []IndexBuild) {
	for _, t := range anyTables {
		out = append(out, IndexBuild{Database: t[0], Table: t[1], Indexes: []string{"k"}, Started: started})
	}
	return out
}

func (b *busy) Expiries() (out []Expiry) {
	for _, t := range anyTables {
		out = append(out, Expiry{Database: t[0], Table: t[1], Started: started})
	}
	return out
}

func (b *busy) SearchIndexes() (out []SearchIndex) {
	for _, t := range anyTables {
		out = append(out, SearchIndex{Database: t[0], Table: t[1], Name: "s", State: "ready"})
	}
	return out
}

func (b *busy) SearchRejected(_ context.Context, wants func(db, table, index string) bool, emit func(r *SearchRejected) error) error {
	for _, t := range anyTables {
		if !wants(t[0], t[1], "s") {
			continue
		}
		if err := emit(&SearchRejected{Database: t[0], Table: t[1], Index: "s", Value: "v"}); err != nil {
			return err
		}
	}
	return nil
}

// newBusy has tables of the same form, of which the account few sees some, and accounts
// and roles. What few does not see has "hidden" in its name.
func newBusy(t testing.TB) *fake {
	var ddl []string
	for _, n := range []string{"d.whole", "d.part", "d.byrole", "d.t_hidden", "shared.x", "hidden.s"} {
		_, name, _ := strings.Cut(n, ".")
		if n == "hidden.s" {
			name = "hidden"
		}
		ddl = append(ddl, fmt.Sprintf("CREATE TABLE %s (id INT AUTO_INCREMENT PRIMARY KEY, a INT, b INT, c INT, g POINT NOT NULL SRID 0, "+
			"UNIQUE KEY %[2]s_u (a, c), CONSTRAINT %[2]s_f FOREIGN KEY (b) REFERENCES %[1]s (id), CONSTRAINT %[2]s_c CHECK (a > 0))", n, name))
	}
	f := newFake(t)
	f.change(func(ch *catalog.Change) {
		for _, db := range []string{"shared", "hidden"} {
			ch.PutDatabase(schema.Database{Name: db, Collation: schema.CollationUTF8MB40900AICI})
		}
	})
	f.create(ddl...)
	f.p = New(&busy{f})
	(&busy{f}).measure()
	f.views(map[string]string{"v": "root", "w": "root", "mine": "few", "v_hidden": "root"})
	f.accounts()
	return f
}

func (f *fake) views(definers map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(definers)) {
		f.change(func(ch *catalog.Change) {
			text := "select `d`.`whole`.`a` AS `a`,`d`.`whole`.`c` AS `c` from `d`.`whole`"
			ch.PutView(&schema.View{ID: ch.NextTableID(), Database: "d", Name: name, Query: text, Local: text, Algorithm: "UNDEFINED", Security: "DEFINER", Check: "NONE",
				DefinerUser: definers[name], DefinerHost: "%", Collation: schema.CollationUTF8MB40900AICI, CreatedUnix: started.Unix()})
		})
	}
}

var (
	roleName  = priv.Name{User: "r", Host: "%"}
	innerName = priv.Name{User: "inner", Host: "%"}
	mustName  = priv.Name{User: "must", Host: "%"}
)

func (f *fake) accounts() {
	few := &priv.Grants{Name: priv.Name{User: "few", Host: "%"}}
	few.AddDatabase("shared", priv.Insert)
	few.AddTable(priv.Table{DB: "d", Name: "whole", Mask: priv.Select | priv.GrantOption, By: "root@%", At: started.Unix()})
	few.AddTable(priv.Table{DB: "d", Name: "part", Columns: []priv.Column{{Name: "a", Mask: priv.Select | priv.Update}, {Name: "b", Mask: priv.Insert}}, By: "root@%", At: started.Unix()})
	few.AddTable(priv.Table{DB: "d", Name: "v", Mask: priv.Select, By: "root@%", At: started.Unix()})
	few.AddTable(priv.Table{DB: "d", Name: "w", Mask: priv.Select | priv.ShowView, By: "root@%", At: started.Unix()})
	few.AddTable(priv.Table{DB: "d", Name: "mine", Mask: priv.Select, By: "root@%", At: started.Unix()})
	few.AddRole(priv.Role{Name: roleName})
	few.SetDefault([]priv.Name{roleName})
	role, inner := &priv.Grants{Name: roleName}, &priv.Grants{Name: innerName}
	role.AddRole(priv.Role{Name: innerName, Admin: true})
	role.AddTable(priv.Table{DB: "d", Name: "byrole", Mask: priv.Select | priv.CreateView, By: "root@%", At: started.Unix()})
	inner.AddTable(priv.Table{DB: "d", Name: "byrole", Columns: []priv.Column{{Name: "c", Mask: priv.References}}, By: "root@%", At: started.Unix()})
	other := &priv.Grants{Name: priv.Name{User: "other", Host: "%"}, Global: priv.Process}
	other.AddDynamic(priv.BackupAdmin, false)
	other.AddDatabase(`hidd\_n%`, priv.Select|priv.GrantOption)
	other.AddTable(priv.Table{DB: "hidden", Name: "s", Mask: priv.Delete, Columns: []priv.Column{{Name: "a", Mask: priv.Insert}}, By: "root@%", At: started.Unix()})
	f.change(func(ch *catalog.Change) {
		for _, g := range []*priv.Grants{few, role, inner, other, {Name: mustName}} {
			ch.PutAccount(&catalog.Account{User: g.User, Host: g.Host, Plugin: "caching_sha2_password", AuthString: "secret", Locked: g == role})
			ch.PutGrants(g)
		}
	})
	f.cat.SetMandatoryRoles([]priv.Name{mustName})
}

// The rules of tables, with the tables that follow each. A test shows that they do.
const (
	open     = "open to all"
	empty    = "without rows"
	database = "rows of databases that the account sees"
	ofTable  = "rows of tables that it sees"
	column   = "rows of columns that it may read, write or reference"
	process  = "1227 without PROCESS"
	thread   = "rows of its own connections without PROCESS"
	account  = "rows of itself without SELECT on mysql"
	own      = "about the account itself"
	whole    = "all rows: who may read the table is checked elsewhere"
	invoker  = "1356 without SELECT on what it reads"
	idle     = "1356 as well, and here it has no rows"
	pairs    = "rows of tables that it sees, of which there are none here"
)

var rules = map[string]string{
	open: `information_schema.CHARACTER_SETS information_schema.COLLATIONS information_schema.COLLATION_CHARACTER_SET_APPLICABILITY information_schema.ENGINES
		information_schema.KEYWORDS information_schema.PLUGINS information_schema.ST_SPATIAL_REFERENCE_SYSTEMS information_schema.ST_UNITS_OF_MEASURE
		information_schema.GLOBAL_STATUS information_schema.GLOBAL_VARIABLES information_schema.SESSION_STATUS information_schema.SESSION_VARIABLES
		performance_schema.global_status performance_schema.global_variables performance_schema.session_status performance_schema.session_variables
		performance_schema.variables_info performance_schema.persisted_variables sys.version sys.ps_check_lost_instrumentation`,
	database: `information_schema.SCHEMATA information_schema.SCHEMATA_EXTENSIONS sys.schema_object_overview`,
	ofTable: `information_schema.TABLES information_schema.TABLES_EXTENSIONS information_schema.STATISTICS information_schema.TABLE_CONSTRAINTS
		information_schema.TABLE_CONSTRAINTS_EXTENSIONS information_schema.REFERENTIAL_CONSTRAINTS information_schema.CHECK_CONSTRAINTS
		information_schema.VIEWS information_schema.PARTITIONS information_schema.SQLOTS_DDL_JOBS information_schema.SQLOTS_SEARCH_INDEXES
		information_schema.SQLOTS_SEARCH_REJECTED information_schema.SQLOTS_KEY_RANGES information_schema.SQLOTS_KEY_HEAT information_schema.SQLOTS_STREAMS information_schema.SQLOTS_STREAM_CONSUMERS information_schema.SQLOTS_TTL_JOBS sys.x$schema_flattened_keys`,
	column: `information_schema.COLUMNS information_schema.COLUMNS_EXTENSIONS information_schema.KEY_COLUMN_USAGE information_schema.ST_GEOMETRY_COLUMNS
		sys.schema_auto_increment_columns`,
	process: `information_schema.FILES information_schema.INNODB_BUFFER_PAGE information_schema.INNODB_BUFFER_PAGE_LRU information_schema.INNODB_BUFFER_POOL_STATS
		information_schema.INNODB_CACHED_INDEXES information_schema.INNODB_CMP information_schema.INNODB_CMPMEM information_schema.INNODB_CMPMEM_RESET
		information_schema.INNODB_CMP_PER_INDEX information_schema.INNODB_CMP_PER_INDEX_RESET information_schema.INNODB_CMP_RESET information_schema.INNODB_COLUMNS
		information_schema.INNODB_DATAFILES information_schema.INNODB_FIELDS information_schema.INNODB_FOREIGN information_schema.INNODB_FOREIGN_COLS
		information_schema.INNODB_FT_BEING_DELETED information_schema.INNODB_FT_CONFIG information_schema.INNODB_FT_DEFAULT_STOPWORD information_schema.INNODB_FT_DELETED
		information_schema.INNODB_FT_INDEX_CACHE information_schema.INNODB_FT_INDEX_TABLE information_schema.INNODB_INDEXES information_schema.INNODB_METRICS
		information_schema.INNODB_SESSION_TEMP_TABLESPACES information_schema.INNODB_TABLES information_schema.INNODB_TABLESPACES
		information_schema.INNODB_TABLESPACES_BRIEF information_schema.INNODB_TABLESTATS information_schema.INNODB_TEMP_TABLE_INFO information_schema.INNODB_TRX
		information_schema.INNODB_VIRTUAL information_schema.SQLOTS_BACKUPS information_schema.SQLOTS_JOBS information_schema.SQLOTS_LOADS`,
	thread: `information_schema.PROCESSLIST performance_schema.processlist performance_schema.threads performance_schema.data_locks performance_schema.data_lock_waits
		performance_schema.session_account_connect_attrs performance_schema.session_connect_attrs sys.innodb_lock_waits sys.x$innodb_lock_waits`,
	account: `information_schema.USER_PRIVILEGES information_schema.SCHEMA_PRIVILEGES information_schema.TABLE_PRIVILEGES information_schema.COLUMN_PRIVILEGES
		information_schema.USER_ATTRIBUTES`,
	own: `information_schema.APPLICABLE_ROLES information_schema.ADMINISTRABLE_ROLE_AUTHORIZATIONS information_schema.ENABLED_ROLES
		information_schema.ROLE_TABLE_GRANTS information_schema.ROLE_COLUMN_GRANTS`,
	whole: `mysql.columns_priv mysql.db mysql.default_roles mysql.general_log mysql.global_grants mysql.proxies_priv mysql.role_edges mysql.slow_log
		mysql.tables_priv mysql.user performance_schema.metadata_locks performance_schema.setup_actors performance_schema.setup_consumers
		performance_schema.setup_instruments performance_schema.setup_objects performance_schema.setup_threads performance_schema.performance_timers
		performance_schema.accounts performance_schema.users performance_schema.hosts performance_schema.status_by_account performance_schema.status_by_user
		performance_schema.status_by_host performance_schema.status_by_thread`,
	invoker: `sys.memory_global_by_current_bytes sys.memory_global_total sys.metrics sys.schema_index_statistics sys.schema_table_lock_waits sys.schema_table_statistics
		sys.schema_tables_with_full_table_scans sys.statement_analysis sys.statements_with_errors_or_warnings sys.statements_with_full_table_scans
		sys.statements_with_runtimes_in_95th_percentile sys.statements_with_sorting sys.statements_with_temp_tables sys.user_summary sys.user_summary_by_statement_type
		sys.user_summary_by_statement_latency sys.host_summary sys.host_summary_by_statement_type sys.host_summary_by_statement_latency sys.processlist sys.session
		sys.schema_table_statistics_with_buffer sys.session_ssl_status sys.x$ps_digest_avg_latency_distribution sys.x$ps_digest_95th_percentile_by_avg_us`,
	idle:  `sys.schema_unused_indexes`,
	pairs: `sys.schema_redundant_indexes`,
	empty: `information_schema.COLUMN_STATISTICS information_schema.EVENTS information_schema.OPTIMIZER_TRACE information_schema.PARAMETERS information_schema.PROFILING
		information_schema.RESOURCE_GROUPS information_schema.ROLE_ROUTINE_GRANTS information_schema.ROUTINES information_schema.TABLESPACES
		information_schema.TABLESPACES_EXTENSIONS information_schema.TRIGGERS information_schema.VIEW_ROUTINE_USAGE information_schema.VIEW_TABLE_USAGE
		mysql.component mysql.func mysql.help_category mysql.help_keyword mysql.help_relation mysql.help_topic mysql.password_history mysql.plugin mysql.procs_priv
		mysql.servers mysql.time_zone mysql.time_zone_name
		performance_schema.keyring_keys performance_schema.log_status performance_schema.replication_group_members
		performance_schema.user_variables_by_thread performance_schema.variables_by_thread
		sys.sys_config`,
}

// ruleOf is the rule of a table; those of instruments are made in one place, and those of
// what is not measured have no rows. The x$ form of a view has the rule of the view.
func ruleOf() map[string]string {
	out := map[string]string{}
	for rule, names := range rules {
		for _, n := range strings.Fields(names) {
			out[n] = rule
		}
	}
	for _, t := range instrumentTables() {
		out[t.db+"."+t.name] = empty
		if instrumentRows[t.name] != nil {
			out[t.db+"."+t.name] = whole
		}
	}
	for _, v := range idleViews() {
		out[sysDB+"."+v.name] = idle
		if v.process {
			out[sysDB+"."+v.name] = process
		}
	}
	for _, t := range sysViews() {
		name := t.db + "." + t.name
		if rule := out[t.db+"."+strings.TrimPrefix(t.name, "x$")]; rule != "" {
			out[name] = rule
		}
	}
	return out
}

// TestRules: every virtual table follows a rule.
func TestRules(t *testing.T) {
	root := newBusy(t)
	few := root.as("few", 8, roleName)
	known := ruleOf()
	for db, m := range root.p.dbs {
		for _, tab := range m {
			name := db + "." + tab.name
			rule := known[name]
			delete(known, name)
			if rule == "" {
				t.Errorf("%s: who sees which of its rows? Give it a rule", name)
				continue
			}
			all, err := root.table(db, tab.name)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			seen, err := few.table(db, tab.name)
			if why := follows(rule, all, seen, err); why != "" {
				t.Errorf("%s is to follow %q: %s\nall\n%s\nseen\n%s", name, rule, why, strings.Join(all, "\n"), strings.Join(seen, "\n"))
			}
		}
	}
	for name := range known {
		t.Errorf("%s does not exist", name)
	}
}

// table reads a virtual table.
func (f *fake) table(db, name string) ([]string, error) {
	v, ok, err := f.p.For(f).Virtual(db, name)
	if err != nil || !ok {
		return nil, fmt.Errorf("%v %v", ok, err)
	}
	return f.rows(v.Key, v.Cols)
}

// follows says in what the rows that few sees do not follow a rule.
func follows(rule string, all, seen []string, err error) string {
	if rule == process {
		if e, ok := err.(*sqlerr.Error); !ok || e.Number != 1227 {
			return fmt.Sprint(err)
		}
		return ""
	}
	if rule == invoker || rule == idle {
		if e, ok := err.(*sqlerr.Error); !ok || e.Number != 1356 || len(all) == 0 != (rule == idle) {
			return fmt.Sprint(err)
		}
		return ""
	}
	if err != nil {
		return err.Error()
	}
	has := func(list []string, word string) bool {
		return slices.ContainsFunc(list, func(r string) bool { return strings.Contains(r, word) })
	}
	switch rule {
	case open, whole:
		if len(all) == 0 || !slices.Equal(all, seen) {
			return "not the same"
		}
	case empty, pairs:
		if len(all)+len(seen) > 0 {
			return "it has rows"
		}
	case database, ofTable, column, thread:
		if !has(all, "hidden") || has(seen, "hidden") || len(seen) == 0 {
			return "what is hidden?"
		}
		if rule == column && has(seen, "|part|id|") {
			return "a column without a privilege"
		}
	case account:
		if !has(all, "other") || has(seen, "other") || len(seen) == 0 {
			return "another account"
		}
	case own:
		if len(seen) == 0 || has(seen, "other") {
			return "not its own"
		}
	}
	return ""
}

// showCase is a SHOW statement: with words for which the account sees something, and with
// others for which it is refused.
type showCase struct {
	rule        string
	args, other []string
	refusal     string
	// fails is what comes of it for those who may.
	fails string
}

const (
	noDB    = "Access denied for user 'few'@'%' to database 'hidden'"
	noTable = "SELECT command denied to user 'few'@'localhost' for table 't_hidden'"
)

var showCases = map[string]showCase{
	"character_set": {rule: open}, "collation": {rule: open}, "engines": {rule: open}, "plugins": {rule: open}, "privileges": {rule: open},
	"variables": {rule: open}, "status": {rule: open}, "warnings": {rule: open}, "errors": {rule: open}, "count_errors": {rule: open}, "count_warnings": {rule: open},
	"open_tables": {rule: empty}, "procedure_status": {rule: empty}, "function_status": {rule: empty}, "profile": {rule: empty}, "profiles": {rule: empty},
	"databases":       {rule: database},
	"processlist":     {rule: thread},
	"tables":          {rule: ofTable, args: []string{"d"}, other: []string{"hidden"}, refusal: noDB},
	"table_status":    {rule: ofTable, args: []string{"d"}, other: []string{"hidden"}, refusal: noDB},
	"triggers":        {rule: empty, args: []string{"d"}, other: []string{"hidden"}, refusal: noDB},
	"events":          {rule: empty, args: []string{"information_schema"}, other: []string{"shared"}, refusal: "Access denied for user 'few'@'%' to database 'shared'"},
	"create_database": {rule: open, args: []string{"shared"}, other: []string{"hidden"}, refusal: noDB},
	"columns":         {rule: column, args: []string{"d", "part"}, other: []string{"d", "t_hidden"}, refusal: noTable},
	"index":           {rule: open, args: []string{"d", "part"}, other: []string{"d", "t_hidden"}, refusal: noTable},
	"create_table":    {rule: open, args: []string{"d", "whole"}, other: []string{"d", "part"}, refusal: "SHOW command denied to user 'few'@'localhost' for table 'part'"},
	"create_view":     {rule: open, args: []string{"d", "w"}, other: []string{"d", "v"}, refusal: "SHOW VIEW command denied to user 'few'@'localhost' for table 'v'"},
	"create_user":     {rule: own, args: []string{"", ""}, other: []string{"other", "%"}, refusal: "Access denied for user 'few'@'%' to database 'mysql'"},
	"grants":          {rule: own, args: []string{"", ""}, other: []string{"other", "%"}, refusal: "SELECT command denied to user 'few'@'localhost' for table 'user'"},
	"engine_status":   {rule: process, refusal: "Access denied; you need (at least one of) the PROCESS privilege(s) for this operation"},
	"binary_logs": {rule: process, refusal: "Access denied; you need (at least one of) the SUPER, REPLICATION CLIENT privilege(s) for this operation",
		fails: sqlerr.NoBinaryLogging().Error()},
	"binary_log_status": {rule: process, refusal: "Access denied; you need (at least one of) the SUPER, REPLICATION CLIENT privilege(s) for this operation"},
	"replica_status":    {rule: process, refusal: "Access denied; you need (at least one of) the SUPER, REPLICATION CLIENT privilege(s) for this operation"},
	"binlog_events":     {rule: process, refusal: "Access denied; you need (at least one of) the REPLICATION SLAVE privilege(s) for this operation"},
	"relaylog_events":   {rule: process, refusal: "Access denied; you need (at least one of) the REPLICATION SLAVE privilege(s) for this operation"},
	"replicas":          {rule: process, refusal: "Access denied; you need (at least one of) the REPLICATION SLAVE privilege(s) for this operation"},
}

// TestRulesOfShow: every SHOW statement follows a rule, and so does the plan of one that
// another account has bound.
func TestRulesOfShow(t *testing.T) {
	root := newBusy(t)
	few := root.as("few", 8, roleName)
	for name := range root.p.shows {
		c, ok := showCases[name]
		if !ok {
			t.Errorf("SHOW %s: who sees what of it? Give it a rule", name)
			continue
		}
		if c.refusal != "" {
			_, early := few.show(few, name, c.other)
			_, late := root.show(few, name, c.other)
			for _, err := range []error{early, late} {
				if e, ok := err.(*sqlerr.Error); !ok || e.Message != c.refusal {
					t.Errorf("SHOW %s %v: %v, want %s", name, c.other, err, c.refusal)
				}
			}
			if _, err := root.show(root, name, c.other); err != nil && err.Error() != c.fails {
				t.Errorf("SHOW %s %v as root: %v", name, c.other, err)
			}
		}
		if c.rule == process {
			continue
		}
		all, err := root.show(root, name, c.args)
		if err != nil {
			t.Errorf("SHOW %s: %v", name, err)
		}
		if c.rule == column {
			for i := range all {
				all[i] = strings.Replace(all[i], "id|", "hidden|part|id|", 1)
			}
		}
		seen, err := few.show(few, name, c.args)
		if why := follows(c.rule, all, seen, err); why != "" {
			t.Errorf("SHOW %s is to follow %q: %s\nall\n%s\nseen\n%s", name, c.rule, why, strings.Join(all, "\n"), strings.Join(seen, "\n"))
		}
	}
}

// show binds a SHOW statement as f and reads it as another session.
func (f *fake) show(reads *fake, name string, args []string) ([]string, error) {
	v, ok, err := f.p.For(f).Virtual(logical.ShowDatabase, name, args...)
	if err != nil || !ok {
		return nil, err
	}
	return reads.rows(v.Key, v.Cols)
}

// TestVisible: what an account with few rights sees.
func TestVisible(t *testing.T) {
	root := newBusy(t)
	sessions := map[string]*fake{"few": root.as("few", 8), "role": root.as("few", 8, roleName), "other": root.as("other", 10), "must": root.as("must", 11)}
	for _, c := range []struct{ who, sql, want string }{
		{"few", "SHOW DATABASES", "d;information_schema;performance_schema;shared"},
		{"must", "SHOW DATABASES", "information_schema;performance_schema"},
		{"few", "SHOW TABLES", "mine;part;v;w;whole"},
		{"role", "SHOW TABLES", "byrole;mine;part;v;w;whole"},
		{"few", "SHOW TABLES FROM shared", "x"},
		{"must", "SHOW TABLES", "1044 Access denied for user 'must'@'%' to database 'd'"},
		{"must", "SHOW TABLES FROM performance_schema", "1044 Access denied for user 'must'@'%' to database 'performance_schema'"},
		{"must", "SHOW COLUMNS FROM information_schema.ENABLED_ROLES LIKE 'ROLE_NAME'", "ROLE_NAME|varchar(255)|YES||NULL|;ROLE_HOST|varchar(255)|YES||NULL|;IS_DEFAULT|varchar(3)|YES||NULL|;IS_MANDATORY|varchar(3)|NO|||"},
		{"must", "SHOW COLUMNS FROM mysql.db", "1142 SELECT command denied to user 'must'@'localhost' for table 'db'"},
		{"few", "SHOW FULL COLUMNS FROM part", "a|int|NULL|YES|MUL|NULL||select,update|;b|int|NULL|YES||NULL||insert|"},
		{"few", "SHOW FULL COLUMNS FROM shared.x", "id|int|NULL|NO|PRI|NULL|auto_increment|insert|;a|int|NULL|YES|MUL|NULL||insert|;b|int|NULL|YES||NULL||insert|;c|int|NULL|YES||NULL||insert|;g|point|NULL|NO||NULL||insert|"},
		{"role", "SHOW FULL COLUMNS FROM byrole", "id|int|NULL|NO|PRI|NULL|auto_increment|select|;a|int|NULL|YES|MUL|NULL||select|;b|int|NULL|YES||NULL||select|;c|int|NULL|YES||NULL||select,references|;g|point|NULL|NO||NULL||select|"},
		{"few", "DESCRIBE v", "a|int|YES||NULL|;c|int|YES||NULL|"},
		{"few", "DESCRIBE v_hidden", "1142 SELECT command denied to user 'few'@'localhost' for table 'v_hidden'"},
		{"few", "DESCRIBE byrole", "1142 SELECT command denied to user 'few'@'localhost' for table 'byrole'"},
		{"few", "SHOW INDEX FROM t_hidden", "1142 SELECT command denied to user 'few'@'localhost' for table 't_hidden'"},
		{"few", "SHOW CREATE VIEW v_hidden", "1142 SHOW command denied to user 'few'@'localhost' for table 'v_hidden'"},
		{"few", "SHOW CREATE TABLE v", "1142 SHOW VIEW command denied to user 'few'@'localhost' for table 'v'"},
		{"few", "SHOW CREATE TABLE t_hidden", "1142 SHOW command denied to user 'few'@'localhost' for table 't_hidden'"},
		{"other", "SHOW CREATE DATABASE d", "1044 Access denied for user 'other'@'%' to database 'd'"},
		{"few", "SELECT * FROM performance_schema.session_account_connect_attrs", "8|program|own|0"},
		{"few", "SELECT * FROM performance_schema.session_connect_attrs", "8|program|own|0"},
		{"other", "SELECT * FROM performance_schema.session_connect_attrs", "7|program|hidden|0;8|program|own|0"},
		{"few", "SELECT * FROM performance_schema.data_lock_waits", "INNODB|own2|2|9|NULL|0|own1|1|8|NULL|0"},
		{"few", "SHOW GRANTS FOR nobody", "1142 SELECT command denied to user 'few'@'localhost' for table 'user'"},
		{"few", "SHOW CREATE USER nobody", "1044 Access denied for user 'few'@'%' to database 'mysql'"},
		{"few", "SHOW CREATE USER", "CREATE USER `few`@`%` IDENTIFIED WITH 'caching_sha2_password' AS '<secret>' DEFAULT ROLE `r`@`%` REQUIRE NONE PASSWORD EXPIRE DEFAULT ACCOUNT UNLOCK PASSWORD HISTORY DEFAULT PASSWORD REUSE INTERVAL DEFAULT PASSWORD REQUIRE CURRENT DEFAULT"},
	} {
		if got := sessions[c.who].answer(c.sql); got != c.want {
			t.Errorf("%s: %s\n got %s\nwant %s", c.who, c.sql, got, c.want)
		}
	}
}

// answer is the rows of a query, or its error.
func (f *fake) answer(sql string) string {
	f.t.Helper()
	if sql == "SHOW CREATE USER" { // the grammar wants FOR CURRENT_USER
		sql = "SHOW CREATE USER CURRENT_USER"
	}
	_, rows, err := f.tryRead(sql)
	if e, ok := err.(*sqlerr.Error); ok {
		return fmt.Sprintf("%d %s", e.Number, e.Message)
	}
	if err != nil {
		f.t.Errorf("%s: %v", sql, err)
	}
	return strings.Join(rows, ";")
}

// TestViewDefinition: only its definer, and who may see views, reads the text of a view.
func TestViewDefinition(t *testing.T) {
	root := newBusy(t)
	_, rows := root.as("few", 8).read("SELECT * FROM information_schema.VIEWS")
	var got []string
	for _, r := range rows {
		f := strings.Split(r, "|")
		got = append(got, f[2]+" "+fmt.Sprint(f[3] != ""))
	}
	if want := []string{"mine true", "v false", "w true"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestTemporaryIsVisible: a temporary table needs no privilege.
func TestTemporaryIsVisible(t *testing.T) {
	root := newBusy(t)
	tab, _ := root.cat.Snapshot().Table("d", "t_hidden")
	s := &withTemporary{fake: root.as("must", 11), tab: tab}
	for name, args := range map[string][]string{"columns": {"d", "t_hidden", "full"}, "index": {"d", "t_hidden"}, "create_table": {"d", "t_hidden"}} {
		v, _, err := s.p.For(s).Virtual(logical.ShowDatabase, name, args...)
		if err != nil {
			t.Errorf("SHOW %s: %v", name, err)
			continue
		}
		n := 0
		err = s.p.Rows(context.Background(), s, v.Key, nil, func([]value.Datum) error { n++; return nil })
		if err != nil || n == 0 {
			t.Errorf("SHOW %s: %d rows, %v", name, n, err)
		}
	}
}

type withTemporary struct {
	*fake
	tab *schema.Table
}

func (s *withTemporary) TemporaryTable(string, string) *schema.Table { return s.tab }

// TestAllSeen: an account that sees all tables pays nothing for those that others do not
// see.
func TestAllSeen(t *testing.T) {
	f := newFake(t)
	f.change(func(ch *catalog.Change) {
		for i := range 500 {
			tab := &schema.Table{ID: ch.NextTableID(), Database: "d", Name: fmt.Sprint("t", i), Columns: []schema.Column{{ID: 1, Name: "c", Type: schema.Type{ID: schema.TypeInt}}},
				PrimaryKey: []schema.KeyPart{{Column: 1}}}
			ch.PutTable(tab)
		}
		g := &priv.Grants{Name: priv.Name{User: "reader", Host: "%"}, Global: priv.Select}
		ch.PutAccount(&catalog.Account{User: "reader", Host: "%"})
		ch.PutGrants(g)
		one := &priv.Grants{Name: priv.Name{User: "one", Host: "%"}}
		one.AddTable(priv.Table{DB: "d", Name: "t7", Mask: priv.Select})
		ch.PutAccount(&catalog.Account{User: "one", Host: "%"})
		ch.PutGrants(one)
	})
	cost := func(f *fake, set *priv.Set) (allocations float64, tables int) {
		s := &withSet{fake: f, set: set}
		v, _, err := f.p.For(s).Virtual(infoDB, "TABLES_EXTENSIONS")
		if err != nil {
			t.Fatal(err)
		}
		return testing.AllocsPerRun(5, func() {
			tables = 0
			if err := f.p.Rows(context.Background(), s, v.Key, nil, func([]value.Datum) error { tables++; return nil }); err != nil {
				t.Fatal(err)
			}
		}), tables
	}
	server, all := cost(f, priv.Everything)
	reader, seen := cost(f, f.as("reader", 8).Privileges())
	if all != 500 || seen != all || reader > server {
		t.Errorf("%d tables, %v allocations; the server itself: %d, %v", seen, reader, all, server)
	}
	if _, n := cost(f, f.as("one", 8).Privileges()); n != 1 {
		t.Errorf("%d tables, want one", n)
	}
}

type withSet struct {
	*fake
	set *priv.Set
}

func (s *withSet) Privileges() *priv.Set { return s.set }
