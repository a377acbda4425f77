package sysvar

import (
	"strings"

	"github.com/sqlots/sqlots/sql/sqlerr"
)

// switches are the flags of optimizer_switch with MySQL's defaults.
var switches = []struct {
	name string
	on   bool
}{
	{"index_merge", true}, {"index_merge_union", true}, {"index_merge_sort_union", true}, {"index_merge_intersection", true},
	{"engine_condition_pushdown", true}, {"index_condition_pushdown", true}, {"mrr", true}, {"mrr_cost_based", true},
	{"block_nested_loop", true}, {"batched_key_access", false}, {"materialization", true}, {"semijoin", true}, {"loosescan", true},
	{"firstmatch", true}, {"duplicateweedout", true}, {"subquery_materialization_cost_based", true}, {"use_index_extensions", true},
	{"condition_fanout_filter", true}, {"derived_merge", true}, {"use_invisible_indexes", false}, {"skip_scan", true}, {"hash_join", true},
	{"subquery_to_derived", false}, {"prefer_ordering_index", true}, {"hypergraph_optimizer", false}, {"derived_condition_pushdown", true},
	{"hash_set_operations", true},
}

// DefaultSwitches is the default of optimizer_switch.
func DefaultSwitches() string { return switchText(nil) }

func switchText(set map[string]bool) string {
	var b strings.Builder
	for _, s := range switches {
		on, ok := set[s.name]
		if !ok {
			on = s.on
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(s.name)
		if on {
			b.WriteString("=on")
		} else {
			b.WriteString("=off")
		}
	}
	return b.String()
}

// Switches are the flags of a value of optimizer_switch that it mentions.
func Switches(text string) map[string]bool {
	set := map[string]bool{}
	for _, f := range strings.Split(text, ",") {
		name, val, _ := strings.Cut(strings.TrimSpace(f), "=")
		set[strings.ToLower(name)] = strings.EqualFold(val, "on")
	}
	return set
}

// MergeSwitches is optimizer_switch after SET to text, a list of flag=on,
// flag=off, flag=default and default; it was checked before.
func MergeSwitches(current, text string) string {
	set := Switches(current)
	for _, f := range strings.Split(text, ",") {
		name, val, _ := strings.Cut(strings.ToLower(strings.TrimSpace(f)), "=")
		switch {
		case name == "default":
			clear(set)
		case val == "default":
			delete(set, name)
		default:
			set[name] = val == "on"
		}
	}
	return switchText(set)
}

func checkSwitches(name, text string) (string, error) {
	if text == "" {
		return text, nil
	}
	for _, f := range strings.Split(text, ",") {
		flag, val, ok := strings.Cut(strings.ToLower(strings.TrimSpace(f)), "=")
		if !ok && flag == "default" {
			continue
		}
		known := false
		for _, s := range switches {
			known = known || s.name == flag
		}
		if !known || val != "on" && val != "off" && val != "default" {
			return "", sqlerr.WrongValueForVariable(name, f)
		}
	}
	return text, nil
}
