package session

import (
	"math"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/sysvar"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// Globals are the global values of the system variables.
type Globals struct {
	defs *sysvar.Table
	mu   sync.RWMutex
	vals map[string]value.Datum // those that differ from the default
	// onChange, if set, learns of global values that SET changes.
	onChange func(name string, v value.Datum)
}

func (g *Globals) notify(name string, v value.Datum) {
	if g.onChange != nil {
		g.onChange(name, v)
	}
}

func newGlobals() *Globals {
	return &Globals{defs: sysvar.Definitions(), vals: map[string]value.Datum{}}
}

// lookup finds a definition by its name or by its name before MySQL 8; nil if
// there is none.
func (g *Globals) lookup(name string) *sysvar.Def {
	switch strings.ToLower(name) {
	case "tx_isolation":
		name = "transaction_isolation"
	case "tx_read_only":
		name = "transaction_read_only"
	}
	return g.defs.Lookup(name)
}

// Get is the global value.
func (g *Globals) Get(d *sysvar.Def) value.Datum {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if v, ok := g.vals[strings.ToLower(d.Name)]; ok {
		return v
	}
	return d.Default
}

// Value is the global value of a variable that exists.
func (g *Globals) Value(name string) value.Datum { return g.Get(g.lookup(name)) }

// changed is the global value if it was set.
func (g *Globals) changed(name string) (value.Datum, bool) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	v, ok := g.vals[name]
	return v, ok
}

// Set changes a global value without checks of scope; the server uses it for
// what its flags say.
func (g *Globals) Set(name string, v value.Datum) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.vals[strings.ToLower(name)] = v
}

// vars are the session values of the system variables, with those that matter
// on each statement in plain form.
type vars struct {
	globals *Globals
	vals    map[string]value.Datum
	warn    func(sqlerr.Warning) // nil: nobody listens
	changed []string             // variables that SET changed, see Session.StateChanges

	autocommit  bool
	mode        types.SQLMode
	loc         *time.Location
	collation   schema.CollationID // of the connection
	charsets    charsets
	isolation   string
	readOnly    bool
	completion  string // completion_type
	idleTxn     time.Duration
	lockTimeout time.Duration
	mdlTimeout  time.Duration
	maxTime     time.Duration
	longQuery   time.Duration // long_query_time
	memoryLimit int64
	spillOver   int64
	txnLimit    int64
	// Bounds of the attributes of a row.
	maxAttributes, maxAttributeSize int
	limits                          table.Limits
	parallelism                     int
	batchSize                       int
	selectLimit, maxRecursion       uint64
	groupConcatMax                  int
	divDigits                       int // div_precision_increment
	disabled                        map[string]bool
	showExpired                     bool
	eventual                        bool
	invisible                       bool // invisible indexes may be used
	// switches is optimizer_switch, empty for its default.
	switches   string
	durability storage.Durability
	fixedTime  time.Time // SET timestamp = …
	generation uint64    // grows when a variable that plans depend on changes
}

func newVars(g *Globals) *vars {
	v := &vars{globals: g, vals: map[string]value.Datum{}}
	for _, n := range g.defs.Names() {
		if d := g.defs.Lookup(n); d.Scope != sysvar.ScopeGlobal {
			if cur, ok := g.changed(n); ok {
				v.vals[n] = cur
			}
		}
	}
	v.refresh()
	return v
}

// get is the value that @@name shows.
func (v *vars) get(scope, name string) (value.Datum, *sysvar.Def, error) {
	d := v.globals.lookup(name)
	if d == nil {
		return value.Null, nil, sqlerr.UnknownSystemVariable(name)
	}
	switch scope {
	case "global":
		if d.Scope == sysvar.ScopeSession {
			return value.Null, nil, sqlerr.WrongScopeOfVariable(d.Name, "SESSION")
		}
		return v.globals.Get(d), d, nil
	case "session", "local":
		if d.Scope == sysvar.ScopeGlobal {
			return value.Null, nil, sqlerr.WrongScopeOfVariable(d.Name, "GLOBAL")
		}
	}
	if d.Scope == sysvar.ScopeGlobal {
		return v.globals.Get(d), d, nil
	}
	if cur, ok := v.vals[strings.ToLower(d.Name)]; ok {
		return cur, d, nil
	}
	return d.Default, d, nil
}

// set changes a session or global variable. A nil value is DEFAULT.
func (v *vars) set(global bool, name string, val *value.Datum, t schema.Type) error {
	d := v.globals.lookup(name)
	if d == nil {
		return sqlerr.UnknownSystemVariable(name)
	}
	if !d.Dynamic {
		return sqlerr.ReadOnlyVariable(d.Name)
	}
	if global && d.Scope == sysvar.ScopeSession {
		return sqlerr.LocalVariable(d.Name)
	}
	if !global && d.Scope == sysvar.ScopeGlobal {
		return sqlerr.GlobalVariable(d.Name)
	}
	key := strings.ToLower(d.Name)
	var stored value.Datum
	switch {
	case val == nil && global:
		stored = d.Default
	case val == nil:
		stored = v.globals.Get(d)
		if d.Scope == sysvar.ScopeSession {
			stored = d.Default
		}
	default:
		var err error
		if stored, err = v.checked(d, val, t); err != nil {
			return err
		}
		if key == "optimizer_switch" { // SET changes the flags that it names
			now := v.text(key)
			if global {
				now = d.Text(v.globals.Get(d))
			}
			stored = value.String(sysvar.MergeSwitches(now, d.Text(stored)))
		}
	}
	if global {
		v.globals.Set(key, stored)
		v.globals.notify(key, stored)
		return nil
	}
	v.vals[key] = stored
	v.changed = append(v.changed, key)
	v.follow(key, stored)
	v.refresh()
	return nil
}

// checked is the value that SET stores; nil is DEFAULT.
func (v *vars) checked(d *sysvar.Def, val *value.Datum, t schema.Type) (value.Datum, error) {
	if val == nil {
		return d.Default, nil
	}
	checked, err := v.check(d, *val, t)
	if err != nil {
		return checked, err
	}
	key := strings.ToLower(d.Name)
	if err := checkSupported(key, checked); err != nil {
		return checked, err
	}
	if onlyDefault(key) && d.Text(checked) != d.Text(d.Default) {
		return checked, sqlerr.NotSupported(d.Name + " = " + d.Text(checked))
	}
	return checked.Clone(), nil
}

// check is Def.Check with the consequence of a number out of range: 1231 in
// strict mode, else warning 1292.
func (v *vars) check(d *sysvar.Def, val value.Datum, t schema.Type) (value.Datum, error) {
	checked, err := d.Check(val, t)
	if err != nil || !d.Cut(val, checked) {
		return checked, err
	}
	text := string(types.AppendText(nil, t, val))
	if v.mode&types.ModeStrictAllTables != 0 {
		return checked, sqlerr.WrongValueForVariable(d.Name, text)
	}
	if v.warn != nil {
		v.warn(sqlerr.Warning{Level: sqlerr.LevelWarning, Err: sqlerr.TruncatedWrongValue(d.Name, text)})
	}
	return checked, nil
}

// onlyDefault reports variables whose other values would change results, or
// promise a protection, that sqlots does not have.
func onlyDefault(name string) bool {
	switch name {
	case "sql_auto_is_null", "auto_increment_increment",
		"auto_increment_offset", "sql_require_primary_key", "explicit_defaults_for_timestamp", "read_only",
		"super_read_only", "offline_mode", "require_secure_transport", "init_connect",
		"default_collation_for_utf8mb4", "default_table_encryption", "innodb_redo_log_encrypt", "innodb_undo_log_encrypt",
		"binlog_encryption", "partial_revokes", "mandatory_roles", "password_history", "password_reuse_interval",
		"password_require_current", "default_password_lifetime", "sql_generate_invisible_primary_key", "sql_quote_show_create",
		"resultset_metadata", "rand_seed1", "rand_seed2", "event_scheduler":
		return true
	}
	return false
}

// checkSupported refuses values whose meaning sqlots does not have.
func checkSupported(name string, v value.Datum) error {
	switch name {
	case "character_set_client", "character_set_connection", "character_set_results":
		return checkConnectionCharset(name, v)
	case "collation_connection":
		if c, ok := collate.ByName(v.Str()); ok {
			return checkConnectionCharset("character_set_connection", value.String(c.Charset))
		}
	}
	if name == "transaction_isolation" || name == "tx_isolation" {
		if v.Str() == "SERIALIZABLE" {
			return sqlerr.NotSupported("transaction isolation level SERIALIZABLE")
		}
	}
	return nil
}

// follow keeps variables in step that MySQL couples.
func (v *vars) follow(name string, val value.Datum) {
	switch name {
	case "character_set_connection":
		if c, ok := collate.DefaultForCharset(val.Str()); ok {
			v.vals["collation_connection"] = value.String(c.Name)
		}
	case "collation_connection":
		if c, ok := collate.ByName(val.Str()); ok {
			v.vals["character_set_connection"] = value.String(c.Charset)
		}
	case "character_set_server", "character_set_database":
		if c, ok := collate.DefaultForCharset(val.Str()); ok {
			v.vals["collation_"+strings.TrimPrefix(name, "character_set_")] = value.String(c.Name)
		}
	case "collation_server", "collation_database":
		if c, ok := collate.ByName(val.Str()); ok {
			v.vals["character_set_"+strings.TrimPrefix(name, "collation_")] = value.String(c.Charset)
		}
	}
}

func (v *vars) text(name string) string {
	d, _, err := v.get("", name)
	if err != nil || d.Kind() != value.KindBytes {
		return ""
	}
	return d.Str()
}

func (v *vars) number(name string) uint64 {
	d, _, err := v.get("", name)
	if err != nil || d.IsNull() {
		return 0
	}
	return d.Bits()
}

func (v *vars) float(name string) float64 {
	d, _, err := v.get("", name)
	if err != nil || d.IsNull() {
		return 0
	}
	return d.Float()
}

// refresh derives the plain forms.
func (v *vars) refresh() {
	v.autocommit = v.number("autocommit") != 0
	v.mode, _ = types.ParseSQLMode(v.text("sql_mode"))
	if loc, err := types.LoadLocation(v.text("time_zone")); err == nil {
		v.loc = loc
	} else {
		v.loc = time.UTC
	}
	v.collation = schema.CollationUTF8MB40900AICI
	if c, ok := collate.ByName(v.text("collation_connection")); ok {
		v.collation = c.ID
	}
	v.deriveCharsets()
	v.isolation = v.text("transaction_isolation")
	v.readOnly = v.number("transaction_read_only") != 0
	v.completion = v.text("completion_type")
	v.lockTimeout = time.Duration(v.number("innodb_lock_wait_timeout")) * time.Second
	v.mdlTimeout = time.Duration(v.number("lock_wait_timeout")) * time.Second
	v.maxTime = time.Duration(v.number("max_execution_time")) * time.Millisecond
	v.longQuery = time.Duration(v.float("long_query_time") * float64(time.Second))
	v.memoryLimit = int64(v.number("sqlots_query_memory_limit"))
	v.spillOver = int64(v.number("sqlots_spill_over"))
	v.idleTxn = time.Duration(v.number("sqlots_idle_transaction_timeout")) * time.Second
	v.txnLimit = int64(v.number("sqlots_max_transaction_size"))
	v.limits = table.Limits{KeyColumn: int(v.number("sqlots_max_key_column_size")), Key: int(v.number("sqlots_max_key_size")), Value: int(v.number("sqlots_max_value_size"))}
	v.maxAttributes, v.maxAttributeSize = int(v.number("sqlots_max_attributes")), int(v.number("sqlots_max_attribute_size"))
	v.parallelism = int(v.number("sqlots_parallelism"))
	v.batchSize = int(v.number("sqlots_batch_size"))
	v.selectLimit = v.number("sql_select_limit")
	v.maxRecursion = v.number("cte_max_recursion_depth")
	v.groupConcatMax = int(min(v.number("group_concat_max_len"), math.MaxInt32))
	v.divDigits = int(v.number("div_precision_increment"))
	v.durability = map[uint64]storage.Durability{0: storage.DurabilityNone, 1: storage.DurabilitySync, 2: storage.DurabilityWrite}[v.number("innodb_flush_log_at_trx_commit")]
	v.showExpired = v.number("sqlots_show_expired") != 0
	v.eventual = v.text("sqlots_search_consistency") == "eventual"
	v.disabled = nil
	v.optimizerSwitches()
	for _, n := range strings.Split(v.text("sqlots_disabled_rules"), ",") {
		if n = strings.TrimSpace(n); n != "" {
			v.disable(n)
		}
	}
	v.generation++
}

// optimizerSwitches applies optimizer_switch. The flags that are not here are
// kept and have no effect.
func (v *vars) optimizerSwitches() {
	v.switches = ""
	text := v.text("optimizer_switch")
	if text == sysvar.DefaultSwitches() {
		v.invisible = false
		return
	}
	v.switches = text
	on := sysvar.Switches(text)
	v.invisible = on["use_invisible_indexes"]
	for _, s := range []struct {
		flag string
		off  []string
	}{
		{"index_merge", []string{"IndexUnion", "IndexIntersection"}}, {"index_merge_sort_union", []string{"IndexSortUnion"}},
		{"index_merge_intersection", []string{"IndexIntersection"}}, {"skip_scan", []string{"SkipScan"}}, {"block_nested_loop", []string{"HashJoin"}},
		{"semijoin", []string{"InToSemiJoin", "ExistsToSemiJoin"}},
	} {
		if !on[s.flag] {
			v.disable(s.off...)
		}
	}
	if !on["index_merge_union"] && !on["index_merge_sort_union"] {
		v.disable("IndexUnion")
	}
}

// disable switches rules and operators of the planner off.
func (v *vars) disable(names ...string) {
	if v.disabled == nil {
		v.disabled = map[string]bool{}
	}
	for _, n := range names {
		v.disabled[n] = true
	}
}

// Variable is a line of SHOW VARIABLES.
type Variable struct{ Name, Value string }

// list is what SHOW [GLOBAL] VARIABLES prints.
func (v *vars) list(global bool) []Variable {
	var out []Variable
	for _, n := range v.globals.defs.Names() {
		d := v.globals.defs.Lookup(n)
		if global && d.Scope == sysvar.ScopeSession {
			continue
		}
		val := v.globals.Get(d)
		if !global {
			val, _, _ = v.get("", n)
		}
		out = append(out, Variable{Name: d.Name, Value: d.Text(val)})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}
