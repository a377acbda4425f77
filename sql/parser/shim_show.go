package parser

import "strings"

// showReplication reads the SHOW statements about replication, binary logs and
// stored programs, also by the names that they had before MySQL 8.4.
func (h *shim) showReplication() bool {
	n := len(h.toks)
	op, words := "", []string(nil)
	switch {
	case n >= 3 && h.word(2) == "STATUS" && (h.word(1) == "REPLICA" || h.word(1) == "SLAVE") && (n == 3 || h.words(3, "FOR", "CHANNEL")):
		op = "replica_status"
	case n == 4 && h.words(1, "BINARY", "LOG", "STATUS"), n == 3 && h.words(1, "MASTER", "STATUS"):
		op = "binary_log_status"
	case n == 3 && h.word(2) == "LOGS" && (h.word(1) == "BINARY" || h.word(1) == "MASTER"):
		op = "binary_logs"
	case n == 2 && h.word(1) == "REPLICAS", n == 3 && h.words(1, "SLAVE", "HOSTS"):
		op = "replicas"
	case n >= 3 && h.word(2) == "EVENTS" && (h.word(1) == "BINLOG" || h.word(1) == "RELAYLOG"):
		op = strings.ToLower(h.word(1)) + "_events"
	case n >= 4 && h.word(1) == "CREATE" && h.isName(n-1):
		switch h.word(2) {
		case "TRIGGER", "EVENT", "FUNCTION", "PROCEDURE":
			op, words = "create_program", []string{h.word(2), h.name(n - 1)}
		default:
			return false
		}
	default:
		return false
	}
	h.st.Admin = &Admin{Op: "show", Words: append([]string{op}, words...)}
	return true
}

// resetPersist is RESET PERSIST [[IF EXISTS] variable].
func (h *shim) resetPersist() bool {
	if h.word(1) != "PERSIST" {
		return false
	}
	i, words := 2, []string{""}
	if h.words(i, "IF", "EXISTS") {
		i, words = i+2, append(words, "if exists")
	}
	if i < len(h.toks) {
		var name []string
		for ; h.isName(i); i += 2 {
			name = append(name, h.name(i))
			if !h.op(i+1, ".") {
				i++
				break
			}
		}
		words[0] = strings.ToLower(strings.Join(name, "."))
	}
	if i != len(h.toks) || len(words) > 1 && words[0] == "" {
		return false
	}
	h.st.Admin = &Admin{Op: "reset_persist", Words: words}
	return true
}
