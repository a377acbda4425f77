package sysvar

import (
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/audit"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// cores is taken before a program requests more threads of the runtime than there
// are cores.
var cores = runtime.GOMAXPROCS(0)

// own are the variables that sqlots gives a meaning or its own default.
func own() []*Def {
	host, _ := os.Hostname()
	list := []*Def{
		boolean("autocommit", ScopeBoth, true, true),
		boolean("sql_safe_updates", ScopeBoth, true, false),
		boolean("foreign_key_checks", ScopeBoth, true, true),
		boolean("unique_checks", ScopeBoth, true, true),
		boolean("sql_notes", ScopeBoth, true, true),
		boolean("sql_warnings", ScopeBoth, true, false),
		boolean("sql_auto_is_null", ScopeBoth, true, false),
		boolean("local_infile", ScopeGlobal, true, true),
		boolean("transaction_read_only", ScopeBoth, true, false),
		boolean("sqlots_trace_plan", ScopeSession, true, false),
		integer("lock_wait_timeout", ScopeBoth, 1, 31536000, 50),
		integer("innodb_lock_wait_timeout", ScopeBoth, 1, 1073741824, 50),
		integer("wait_timeout", ScopeBoth, 1, 31536000, 28800),
		integer("interactive_timeout", ScopeBoth, 1, 31536000, 28800),
		integer("net_write_timeout", ScopeBoth, 1, 31536000, 60),
		integer("net_read_timeout", ScopeBoth, 1, 31536000, 30),
		integer("max_connections", ScopeGlobal, 1, 100000, 2000),
		integer("sqlots_max_address_share", ScopeGlobal, 1, 100, 80),
		integer("max_execution_time", ScopeBoth, 0, 1<<32-1, 0),
		integer("cte_max_recursion_depth", ScopeBoth, 0, 1<<32-1, 1000),
		integer("group_concat_max_len", ScopeBoth, 4, 1<<62, 1024),
		integer("div_precision_increment", ScopeBoth, 0, 30, 4),
		integer("sql_select_limit", ScopeBoth, 0, 1<<64-1, 1<<64-1),
		integer("max_error_count", ScopeBoth, 0, 65535, 1024),
		integer("auto_increment_increment", ScopeBoth, 1, 65535, 1),
		integer("auto_increment_offset", ScopeBoth, 1, 65535, 1),
		integer("innodb_flush_log_at_trx_commit", ScopeGlobal, 0, 2, 1),
		integer("sqlots_query_memory_limit", ScopeBoth, 1<<20, 1<<62, 1<<30),
		boolean("sqlots_ttl_job_enable", ScopeGlobal, true, true),
		integer("sqlots_index_build_rate", ScopeGlobal, 0, 1<<40, 0),
		boolean("sqlots_show_expired", ScopeSession, true, false),
		boolean("sqlots_load_strict", ScopeSession, true, false),
		integer("sqlots_load_rejects", ScopeSession, 0, 10000, 0),
		stringVar("sqlots_load_token", ScopeSession, "", checkLoadToken),
		integer("sqlots_spill_over", ScopeSession, 0, 1<<62, 0),
		integer("sqlots_idle_transaction_timeout", ScopeBoth, 0, 31536000, 0),
		integer("sqlots_max_transaction_size", ScopeBoth, 1<<10, 1<<62, 1<<30),
		integer("sqlots_max_key_column_size", ScopeBoth, 16, 3072, 1024),
		integer("sqlots_max_key_size", ScopeBoth, 64, 4096, 4096),
		integer("sqlots_max_value_size", ScopeBoth, 1<<10, 6<<20, 6<<20),
		integer("sqlots_max_indexes", ScopeBoth, 1, 64, 64),
		integer("sqlots_max_attributes", ScopeBoth, 1, 65535, 65535),
		integer("sqlots_max_attribute_size", ScopeBoth, 1<<10, 6<<20-1, 2<<20),
		integer("sqlots_parallelism", ScopeBoth, 1, 1024, uint64(cores)),
		integer("sqlots_batch_size", ScopeBoth, 1, 1024, 1024),
		readonlyInt("lower_case_table_names", 0),
		readonlyInt("port", 4000),
		readonlyInt("protocol_version", 10),
		readonly("version", expr.ServerVersion),
		readonly("version_comment", "sqlots, a wide-column store"),
		readonly("version_compile_os", runtime.GOOS),
		readonly("version_compile_machine", runtime.GOARCH),
		readonly("license", "Apache-2.0"),
		readonly("hostname", host),
		readonly("system_time_zone", "UTC"),
		readonly("character_set_system", "utf8mb3"),
		enum("sqlots_search_consistency", ScopeBoth, "strong", "strong", "eventual"),
		enum("default_storage_engine", ScopeBoth, "sqlots", "sqlots", "InnoDB", "MyISAM", "MEMORY"),
		enum("default_tmp_storage_engine", ScopeBoth, "sqlots", "sqlots", "InnoDB", "MyISAM", "MEMORY"),
		stringVar("optimizer_switch", ScopeBoth, DefaultSwitches(), checkSwitches),
		readonly("have_ssl", "DISABLED"),                                                 // gone in MySQL 8.4, but tools read it
		readonly("have_openssl", "DISABLED"),                                             // the same
		{Name: "secure_file_priv", Scope: ScopeGlobal, Type: text, Default: value.Null},  // no files at all
		{Name: "sqlots_backup_dir", Scope: ScopeGlobal, Type: text, Default: value.Null}, // no backups
		stringVar("log_output", ScopeGlobal, "FILE", checkLogOutput),
		boolean("sqlots_audit_log", ScopeGlobal, true, false),
		readonly("sqlots_audit_log_file", ""),
		stringVar("sqlots_audit_log_events", ScopeGlobal, audit.All.String(), checkAuditEvents),
		enum("sqlots_audit_log_strategy", ScopeGlobal, "SEMISYNCHRONOUS", "SEMISYNCHRONOUS", "SYNCHRONOUS"),
		stepped("sqlots_audit_log_rotate_on_size", ScopeGlobal, 0, 1<<40, 64<<20, 4096),
		integer("sqlots_audit_log_rotations", ScopeGlobal, 1, 999, 9),
		integer("sqlots_audit_log_text_size", ScopeGlobal, 0, 1<<20, 4096),
		stringVar("init_connect", ScopeGlobal, "", nil),
		stringVar("mandatory_roles", ScopeGlobal, "", checkRoles),
		stringVar("sqlots_disabled_rules", ScopeBoth, "", nil),
		enum("transaction_isolation", ScopeBoth, "REPEATABLE-READ", "READ-UNCOMMITTED", "READ-COMMITTED", "REPEATABLE-READ", "SERIALIZABLE"),
		stringVar("time_zone", ScopeBoth, "SYSTEM", checkTimeZone),
		stringVar("sql_mode", ScopeBoth, types.DefaultSQLMode.String(), checkSQLMode),
		stringVar("lc_time_names", ScopeBoth, "en_US", checkLocale),
		stringVar("block_encryption_mode", ScopeBoth, "aes-128-ecb", checkBlockMode),
		integer("default_week_format", ScopeBoth, 0, 7, 0),
	}
	for _, n := range []string{"character_set_client", "character_set_connection", "character_set_results", "character_set_server", "character_set_database"} {
		list = append(list, stringVar(n, ScopeBoth, "utf8mb4", checkCharset))
	}
	for _, n := range []string{"collation_connection", "collation_server", "collation_database"} {
		list = append(list, stringVar(n, ScopeBoth, "utf8mb4_0900_ai_ci", checkCollation))
	}
	return list
}

// checkLogOutput brings the members of the set in order.
func checkLogOutput(name, v string) (string, error) {
	has := map[string]bool{}
	for _, word := range strings.Split(v, ",") {
		has[strings.ToUpper(word)] = true
	}
	var out []string
	for _, word := range []string{"NONE", "FILE", "TABLE"} {
		if has[word] {
			out = append(out, word)
		}
	}
	if len(out) != len(has) {
		return "", sqlerr.WrongValueForVariable(name, v)
	}
	return strings.Join(out, ","), nil
}

// IsOfAudit reports the variables of the audit log, which need AUDIT_ADMIN. The name is in
// lower case.
func IsOfAudit(name string) bool { return strings.HasPrefix(name, "sqlots_audit_log") }

// checkAuditEvents brings the members of the set in order.
func checkAuditEvents(name, v string) (string, error) {
	c, ok := audit.ParseClasses(v)
	if !ok {
		return "", sqlerr.WrongValueForVariable(name, v)
	}
	return c.String(), nil
}

// checkLoadToken keeps tokens short enough for a key.
func checkLoadToken(name, v string) (string, error) {
	if len(v) > 200 {
		return "", sqlerr.WrongValueForVariable(name, v)
	}
	return v, nil
}

func boolean(name string, s Scope, dynamic, def bool) *Def {
	return &Def{Name: name, Scope: s, Dynamic: dynamic, Bool: true, Type: types.BigInt, Default: value.Bool(def),
		Check: func(d value.Datum, _ schema.Type) (value.Datum, error) { return ParseBool(name, d) }}
}

// integer is a number that is brought into its range.
func integer(name string, s Scope, lo, hi, def uint64) *Def {
	return stepped(name, s, lo, hi, def, 1)
}

func readonlyInt(name string, v int64) *Def {
	return &Def{Name: name, Scope: ScopeGlobal, Type: types.BigInt, Default: value.Int(v)}
}

func readonly(name, v string) *Def {
	return &Def{Name: name, Scope: ScopeGlobal, Type: text, Default: value.String(v)}
}

func stringVar(name string, s Scope, def string, check func(name, v string) (string, error)) *Def {
	return &Def{Name: name, Scope: s, Dynamic: true, Type: text, Default: value.String(def),
		Check: func(d value.Datum, _ schema.Type) (value.Datum, error) {
			switch d.Kind() {
			case value.KindBytes:
			case value.KindNull:
				if name == "character_set_results" {
					return value.Null, nil
				}
				return value.Null, sqlerr.WrongValueForVariable(name, "NULL")
			case value.KindInt, value.KindUint:
				d = value.String(strconv.FormatInt(int64(d.Bits()), 10))
			default:
				return value.Null, sqlerr.WrongTypeForVariable(name)
			}
			if check == nil {
				return d, nil
			}
			v, err := check(name, d.Str())
			return value.String(v), err
		}}
}

func enum(name string, s Scope, def string, allowed ...string) *Def {
	return stringVar(name, s, def, func(name, v string) (string, error) {
		for i, a := range allowed {
			if strings.EqualFold(a, v) || v == strconv.Itoa(i) {
				return a, nil
			}
		}
		return "", sqlerr.WrongValueForVariable(name, v)
	})
}

func checkLocale(_, v string) (string, error) {
	name, ok := expr.LocaleName(v)
	if !ok {
		return "", sqlerr.UnknownLocale(v)
	}
	return name, nil
}

func checkBlockMode(name, v string) (string, error) {
	if !expr.BlockEncryptionMode(v) {
		return "", sqlerr.WrongValueForVariable(name, v)
	}
	return strings.ToLower(v), nil
}

func checkTimeZone(name, v string) (string, error) {
	if _, err := types.LoadLocation(v); err != nil {
		return "", sqlerr.UnknownTimeZone(v)
	}
	return v, nil
}

// checkSQLMode accepts names and the number form.
func checkSQLMode(name, v string) (string, error) {
	m, err := types.ParseSQLMode(v)
	if err != nil {
		return "", err
	}
	return m.String(), nil
}

func checkCharset(name, v string) (string, error) {
	lower := strings.ToLower(v)
	if lower == "utf8" {
		lower = "utf8mb3"
	}
	if _, ok := collate.DefaultForCharset(lower); !ok {
		return "", sqlerr.UnknownCharset(v)
	}
	return lower, nil
}

func checkCollation(name, v string) (string, error) {
	c, ok := collate.ByName(strings.ToLower(v))
	if !ok {
		return "", sqlerr.UnknownCollation(v)
	}
	return c.Name, nil
}

// checkRoles is a list of roles: 1231.
func checkRoles(name, v string) (string, error) {
	if _, err := priv.ParseNames(v); err != nil {
		return "", sqlerr.WrongValueForVariable(name, v)
	}
	return v, nil
}
