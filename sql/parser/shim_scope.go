package parser

import (
	"strings"

	"github.com/sqlots/sqlots/sql/sqlerr"
)

// outOfScope names statements that sqlots does not have.
func (h *shim) outOfScope() error {
	i := 1
	if h.words(1, "OR", "REPLACE") {
		i = 3
	}
	if h.word(i) == "DEFINER" { // DEFINER = user@host | CURRENT_USER[()]
		for i < len(h.toks) {
			switch h.word(i) {
			case "PROCEDURE", "FUNCTION", "TRIGGER", "EVENT", "VIEW", "SQL":
			default:
				i++
				continue
			}
			break
		}
	}
	first, second := h.word(0), h.word(i)
	switch first {
	case "CREATE", "DROP", "ALTER", "SET":
		if second == "RESOURCE" && h.word(i+1) == "GROUP" {
			return sqlerr.NotSupported(first + " RESOURCE GROUP")
		}
		if first == "SET" {
			break
		}
		if h.dropStored() {
			return nil
		}
		switch second {
		case "PROCEDURE", "FUNCTION", "TRIGGER", "EVENT", "SERVER", "TABLESPACE", "AGGREGATE", "LIBRARY":
			return sqlerr.NotSupported(first + " " + second)
		case "INSTANCE":
			return sqlerr.NotSupported(first + " INSTANCE")
		case "DATABASE", "SCHEMA":
			if h.words(len(h.toks)-4, "READ", "ONLY") || h.words(len(h.toks)-3, "READ", "ONLY") {
				return sqlerr.NotSupported("ALTER DATABASE … READ ONLY")
			}
		case "UNDO", "LOGFILE":
			return sqlerr.NotSupported(first + " " + second + " " + h.word(i+1))
		case "SPATIAL":
			if h.word(i+1) == "REFERENCE" {
				return sqlerr.NotSupported(first + " SPATIAL REFERENCE SYSTEM")
			}
		}
	case "XA", "HANDLER", "SIGNAL", "RESIGNAL", "CLONE", "INSTALL", "UNINSTALL", "PURGE", "CHANGE", "DECLARE":
		if first == "CHANGE" || first == "PURGE" || first == "INSTALL" || first == "UNINSTALL" {
			return sqlerr.NotSupported(first + " " + h.word(1))
		}
		return sqlerr.NotSupported(first)
	case "GET":
		if h.word(1) == "DIAGNOSTICS" || h.word(2) == "DIAGNOSTICS" {
			return sqlerr.NotSupported("GET DIAGNOSTICS")
		}
	case "START", "STOP", "RESET":
		switch h.word(1) {
		case "REPLICA", "SLAVE", "GROUP_REPLICATION", "MASTER", "BINARY", "QUERY":
			return sqlerr.NotSupported(first + " " + h.word(1))
		}
	case "LOCK", "UNLOCK":
		if h.word(1) == "INSTANCE" {
			return sqlerr.NotSupported(first + " INSTANCE")
		}
	case "LOAD":
		switch h.word(1) {
		case "XML":
			return sqlerr.NotSupported("LOAD XML")
		case "INDEX":
			return sqlerr.NotSupported("LOAD INDEX INTO CACHE")
		}
		for i := range h.toks {
			if h.word(i) == "PARTITION" && h.op(i+1, "(") && h.around[i] < 0 {
				return sqlerr.NotSupported("LOAD DATA … PARTITION")
			}
		}
	case "IMPORT":
		return sqlerr.NotSupported("IMPORT " + h.word(1))
	case "FLUSH":
		if h.words(len(h.toks)-2, "FOR", "EXPORT") {
			return sqlerr.NotSupported("FLUSH TABLES … FOR EXPORT")
		}
	case "ANALYZE":
		if h.words(len(h.toks)-3, "USING", "DATA") {
			return sqlerr.NotSupported("ANALYZE TABLE … USING DATA")
		}
	case "CACHE", "BINLOG":
		return sqlerr.NotSupported(first)
	}
	for i := range h.toks {
		if isGeometryWord(h.word(i)) && h.word(i-1) == "AS" && h.op(i+1, ")") && h.word(h.opening(i+1)-1) == "CAST" {
			return sqlerr.NotSupported("CAST AS " + h.word(i))
		}
		if h.word(i) == "EXCLUDE" && (h.word(i-1) == "ROW" || h.word(i-1) == "PRECEDING" || h.word(i-1) == "FOLLOWING") {
			return sqlerr.NotSupported("EXCLUDE")
		}
		if h.op(i, "(") && h.word(i+1) == "DISTINCT" && h.closing(i) > 0 && h.word(h.closing(i)+1) == "OVER" {
			return sqlerr.NotSupported("<window function>(DISTINCT ..)")
		}
	}
	return nil
}

// flushList is FLUSH of several things, and of some that TiDB's grammar does not know.
func (h *shim) flushList() bool {
	i := 1
	if w := h.word(i); w == "NO_WRITE_TO_BINLOG" || w == "LOCAL" {
		i++
	}
	var words []string
	for from := i; i < len(h.toks); i, from = i+1, i+1 {
		switch h.word(i) {
		case "BINARY", "ENGINE", "ERROR", "GENERAL", "SLOW", "RELAY":
			if i++; h.word(i) != "LOGS" {
				return false
			}
		case "LOGS", "HOSTS", "PRIVILEGES", "OPTIMIZER_COSTS", "STATUS", "USER_RESOURCES":
		default:
			return false
		}
		var what []string
		for ; from <= i; from++ {
			what = append(what, strings.ToLower(h.word(from)))
		}
		words = append(words, strings.Join(what, " "))
		if h.words(i+1, "FOR", "CHANNEL") && i+3 < len(h.toks) {
			i += 3
		}
		if i+1 < len(h.toks) {
			if i++; !h.op(i, ",") || i+1 == len(h.toks) {
				return false
			}
		}
	}
	if words == nil {
		return false
	}
	h.st.Admin = &Admin{Op: "flush", Words: words}
	return true
}

// histogramUpdate: who keeps a histogram up to date makes no difference here.
func (h *shim) histogramUpdate() {
	n := len(h.toks)
	if w := h.word(n - 2); (w == "AUTO" || w == "MANUAL") && h.word(n-1) == "UPDATE" {
		h.blank(n-2, n-1)
	}
}

// dropStored is DROP {PROCEDURE | FUNCTION | TRIGGER | EVENT} IF EXISTS, which
// drop scripts begin with: no such object exists.
func (h *shim) dropStored() bool {
	what := h.word(1)
	switch {
	case what != "PROCEDURE" && what != "FUNCTION" && what != "TRIGGER" && what != "EVENT":
		return false
	case h.word(0) != "DROP" || !h.words(2, "IF", "EXISTS"):
		return false
	}
	db, i := "", 4
	if h.op(i+1, ".") && h.isName(i) {
		db, i = h.name(i), i+2
	}
	if !h.isName(i) || i+1 != len(h.toks) {
		return false
	}
	h.st.Admin = &Admin{Op: "drop_stored", Words: []string{what}, Tables: [][2]string{{db, h.name(i)}}}
	return true
}
