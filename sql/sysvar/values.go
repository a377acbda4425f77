package sysvar

import (
	"math"
	"sort"
	"strings"
	"time"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// Values are the session values of the system variables, with those that matter
// on each statement in plain form.
type Values struct {
	Globals *Globals
	vals    map[string]value.Datum
	Warn    func(sqlerr.Warning) // nil: warnings are dropped
	Changed []string             // variables that SET changed, for clients that track them

	Autocommit bool
	Mode       types.SQLMode
	Location   *time.Location
	// ClocksChange is types.ClocksChange of Location.
	ClocksChange bool
	Collation    schema.CollationID // of the connection
	Charsets     Charsets
	Isolation    string
	ReadOnly     bool
	Completion   string // completion_type
	IdleTxn      time.Duration
	LockTimeout  time.Duration
	MdlTimeout   time.Duration
	MaxTime      time.Duration
	LongQuery    time.Duration // long_query_time
	MemoryLimit  int64
	SpillOver    int64
	TxnLimit     int64
	// Bounds of the attributes of a row.
	MaxAttributes, MaxAttributeSize int
	Limits                          table.Limits
	Parallelism                     int
	BatchSize                       int
	SelectLimit, MaxRecursion       uint64
	GroupConcatMax                  int
	DivDigits                       int // div_precision_increment
	Disabled                        map[string]bool
	ShowExpired                     bool
	Eventual                        bool
	Invisible                       bool // invisible indexes may be used
	// Switches is optimizer_switch, empty for its default.
	Switches   string
	Durability storage.Durability
	FixedTime  time.Time // SET timestamp = …
}

// NewValues gives a new session the global values.
func NewValues(g *Globals) *Values {
	v := &Values{Globals: g, vals: map[string]value.Datum{}}
	for _, n := range g.Defs.Names() {
		if d := g.Defs.Lookup(n); d.Scope != ScopeGlobal {
			if cur, ok := g.Changed(n); ok {
				v.vals[n] = cur
			}
		}
	}
	v.Refresh()
	return v
}

// Get is the value that @@name shows.
func (v *Values) Get(scope, name string) (value.Datum, *Def, error) {
	d := v.Globals.Lookup(name)
	if d == nil {
		return value.Null, nil, sqlerr.UnknownSystemVariable(name)
	}
	switch scope {
	case "global":
		if d.Scope == ScopeSession {
			return value.Null, nil, sqlerr.WrongScopeOfVariable(d.Name, "SESSION")
		}
		return v.Globals.Get(d), d, nil
	case "session", "local":
		if d.Scope == ScopeGlobal {
			return value.Null, nil, sqlerr.WrongScopeOfVariable(d.Name, "GLOBAL")
		}
	}
	if d.Scope == ScopeGlobal {
		return v.Globals.Get(d), d, nil
	}
	if cur, ok := v.vals[strings.ToLower(d.Name)]; ok {
		return cur, d, nil
	}
	return d.Default, d, nil
}

// Set changes a session or global variable. A nil value is DEFAULT.
func (v *Values) Set(global bool, name string, val *value.Datum, t schema.Type) error {
	d := v.Globals.Lookup(name)
	if d == nil {
		return sqlerr.UnknownSystemVariable(name)
	}
	if !d.Dynamic {
		return sqlerr.ReadOnlyVariable(d.Name)
	}
	if global && d.Scope == ScopeSession {
		return sqlerr.LocalVariable(d.Name)
	}
	if !global && d.Scope == ScopeGlobal {
		return sqlerr.GlobalVariable(d.Name)
	}
	key := strings.ToLower(d.Name)
	var stored value.Datum
	switch {
	case val == nil && global:
		stored = d.Default
	case val == nil:
		stored = v.Globals.Get(d)
		if d.Scope == ScopeSession {
			stored = d.Default
		}
	default:
		var err error
		if stored, err = v.Checked(d, val, t); err != nil {
			return err
		}
		if key == "optimizer_switch" { // SET changes the flags that it names
			now := v.Text(key)
			if global {
				now = d.Text(v.Globals.Get(d))
			}
			stored = value.String(MergeSwitches(now, d.Text(stored)))
		}
	}
	if global {
		v.Globals.Set(key, stored)
		v.Globals.notify(key, stored)
		return nil
	}
	v.vals[key] = stored
	v.Changed = append(v.Changed, key)
	v.follow(key, stored)
	v.Refresh()
	return nil
}

// Override sets variables that exist, without checks.
func (v *Values) Override(vals map[string]value.Datum) {
	for name, d := range vals {
		v.vals[name] = d
	}
	v.Refresh()
}

// Own is the session's own value of a variable, if it has one; name is in lower case.
func (v *Values) Own(name string) (value.Datum, bool) {
	d, ok := v.vals[name]
	return d, ok
}

// Restore gives a variable back what Own returned, nil for none. Refresh has to
// follow.
func (v *Values) Restore(name string, was *value.Datum) {
	if was == nil {
		delete(v.vals, name)
		return
	}
	v.vals[name] = *was
}

// Checked is the value that SET stores; nil is DEFAULT.
func (v *Values) Checked(d *Def, val *value.Datum, t schema.Type) (value.Datum, error) {
	if val == nil {
		return d.Default, nil
	}
	checked, err := v.check(d, *val, t)
	if err != nil {
		return checked, err
	}
	key := strings.ToLower(d.Name)
	if err := CheckSupported(key, checked); err != nil {
		return checked, err
	}
	if onlyDefault(key) && d.Text(checked) != d.Text(d.Default) {
		return checked, sqlerr.NotSupported(d.Name + " = " + d.Text(checked))
	}
	return checked.Clone(), nil
}

// check is Def.Check with the consequence of a number out of range: 1231 in
// strict mode, else warning 1292.
func (v *Values) check(d *Def, val value.Datum, t schema.Type) (value.Datum, error) {
	checked, err := d.Check(val, t)
	if err != nil || !d.Cut(val, checked) {
		return checked, err
	}
	text := string(types.AppendText(nil, t, val))
	if v.Mode&types.ModeStrictAllTables != 0 {
		return checked, sqlerr.WrongValueForVariable(d.Name, text)
	}
	if v.Warn != nil {
		v.Warn(sqlerr.Warning{Level: sqlerr.LevelWarning, Err: sqlerr.TruncatedWrongValue(d.Name, text)})
	}
	return checked, nil
}

// onlyDefault reports variables whose other values would change results, or
// promise a protection, that sqlots does not have.
func onlyDefault(name string) bool {
	switch name {
	case "sql_auto_is_null", "sql_require_primary_key", "explicit_defaults_for_timestamp", "read_only",
		"super_read_only", "offline_mode", "init_connect",
		"default_collation_for_utf8mb4", "default_table_encryption", "innodb_redo_log_encrypt", "innodb_undo_log_encrypt",
		"binlog_encryption", "partial_revokes", "sql_generate_invisible_primary_key",
		"resultset_metadata", "rand_seed1", "rand_seed2", "event_scheduler":
		return true
	}
	return false
}

// CheckSupported refuses values whose meaning sqlots does not have.
func CheckSupported(name string, v value.Datum) error {
	switch name {
	case "character_set_client", "character_set_connection", "character_set_results":
		return CheckConnectionCharset(name, v)
	case "collation_connection":
		if c, ok := collate.ByName(v.Str()); ok {
			return CheckConnectionCharset("character_set_connection", value.String(c.Charset))
		}
	}
	return nil
}

// follow keeps variables in step that MySQL couples.
func (v *Values) follow(name string, val value.Datum) {
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

// Text is a variable that is a string; "" for others.
func (v *Values) Text(name string) string {
	d, _, err := v.Get("", name)
	if err != nil || d.Kind() != value.KindBytes {
		return ""
	}
	return d.Str()
}

// Number is a variable that is an integer; 0 for others.
func (v *Values) Number(name string) uint64 {
	d, _, err := v.Get("", name)
	if err != nil || d.IsNull() {
		return 0
	}
	return d.Bits()
}

// Float is a variable that is a number with a fraction.
func (v *Values) Float(name string) float64 {
	d, _, err := v.Get("", name)
	if err != nil || d.IsNull() {
		return 0
	}
	return d.Float()
}

// Refresh derives the plain forms.
func (v *Values) Refresh() {
	v.Autocommit = v.Number("autocommit") != 0
	v.Mode, _ = types.ParseSQLMode(v.Text("sql_mode"))
	if loc, err := types.LoadLocation(v.Text("time_zone")); err == nil {
		v.Location = loc
	} else {
		v.Location = time.UTC
	}
	v.ClocksChange = types.ClocksChange(v.Location)
	v.Collation = schema.CollationUTF8MB40900AICI
	if c, ok := collate.ByName(v.Text("collation_connection")); ok {
		v.Collation = c.ID
	}
	v.deriveCharsets()
	v.Isolation = v.Text("transaction_isolation")
	v.ReadOnly = v.Number("transaction_read_only") != 0
	v.Completion = v.Text("completion_type")
	v.LockTimeout = time.Duration(v.Number("innodb_lock_wait_timeout")) * time.Second
	v.MdlTimeout = time.Duration(v.Number("lock_wait_timeout")) * time.Second
	v.MaxTime = time.Duration(v.Number("max_execution_time")) * time.Millisecond
	v.LongQuery = time.Duration(v.Float("long_query_time") * float64(time.Second))
	v.MemoryLimit = int64(v.Number("sqlots_query_memory_limit"))
	v.SpillOver = int64(v.Number("sqlots_spill_over"))
	v.IdleTxn = time.Duration(v.Number("sqlots_idle_transaction_timeout")) * time.Second
	v.TxnLimit = int64(v.Number("sqlots_max_transaction_size"))
	v.Limits = table.Limits{KeyColumn: int(v.Number("sqlots_max_key_column_size")), Key: int(v.Number("sqlots_max_key_size")), Value: int(v.Number("sqlots_max_value_size"))}
	v.MaxAttributes, v.MaxAttributeSize = int(v.Number("sqlots_max_attributes")), int(v.Number("sqlots_max_attribute_size"))
	v.Parallelism = int(v.Number("sqlots_parallelism"))
	v.BatchSize = int(v.Number("sqlots_batch_size"))
	v.SelectLimit = v.Number("sql_select_limit")
	v.MaxRecursion = v.Number("cte_max_recursion_depth")
	v.GroupConcatMax = int(min(v.Number("group_concat_max_len"), math.MaxInt32))
	v.DivDigits = int(v.Number("div_precision_increment"))
	v.Durability = map[uint64]storage.Durability{0: storage.DurabilityNone, 1: storage.DurabilitySync, 2: storage.DurabilityWrite}[v.Number("innodb_flush_log_at_trx_commit")]
	v.ShowExpired = v.Number("sqlots_show_expired") != 0
	v.Eventual = v.Text("sqlots_search_consistency") == "eventual"
	v.Disabled = nil
	v.optimizerSwitches()
	for _, n := range strings.Split(v.Text("sqlots_disabled_rules"), ",") {
		if n = strings.TrimSpace(n); n != "" {
			v.disable(n)
		}
	}
}

// optimizerSwitches applies optimizer_switch. The flags that are not here are
// kept and have no effect.
func (v *Values) optimizerSwitches() {
	v.Switches = ""
	text := v.Text("optimizer_switch")
	if text == DefaultSwitches() {
		v.Invisible = false
		return
	}
	v.Switches = text
	on := Switches(text)
	v.Invisible = on["use_invisible_indexes"]
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
func (v *Values) disable(names ...string) {
	if v.Disabled == nil {
		v.Disabled = map[string]bool{}
	}
	for _, n := range names {
		v.Disabled[n] = true
	}
}

// Variable is a line of SHOW VARIABLES.
type Variable struct{ Name, Value string }

// List is what SHOW [GLOBAL] VARIABLES prints.
func (v *Values) List(global bool) []Variable {
	var out []Variable
	for _, n := range v.Globals.Defs.Names() {
		d := v.Globals.Defs.Lookup(n)
		if global && d.Scope == ScopeSession {
			continue
		}
		val := v.Globals.Get(d)
		if !global {
			val, _, _ = v.Get("", n)
		}
		out = append(out, Variable{Name: d.Name, Value: d.Text(val)})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}
