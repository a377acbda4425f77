package parser

import (
	"encoding/json"
	"sort"
	"strconv"
	"strings"

	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

// DefaultExprFunc is the function that the shim wraps around the expression of
// DEFAULT (expr) in a column definition, which TiDB's grammar takes only in
// part.
const DefaultExprFunc = "__sqlots_default_expr"

// shim rewrites, token by token, what TiDB's grammar lacks into what it reads.
// What has no place in its AST goes into the Statement. Replacements keep the
// positions of all text outside of them where they can, so that names of
// select-list columns, which are pieces of the text, stay right.
type shim struct {
	src  string
	mode types.SQLMode
	st   *Statement
	toks []token
	// partner has for each parenthesis the token of the other one, around for each
	// token the parenthesis that encloses it; -1 for none.
	partner, around []int32
	edits           []edit
	// into is INTO OUTFILE with its text.
	into     *IntoFile
	intoText string
	// split is the position after the first letter of RETURNING in src, 0
	// without; splitOut the place of RETURNING in out.
	split, splitOut int
	// adjacent: there are many string literals in a row.
	adjacent bool
	// accounts: the text is a statement about accounts.
	accounts bool
}

// edit replaces src[start:end].
type edit struct {
	start, end int
	text       string
}

// first makes the rewrites that are needed even though TiDB's parser would
// read the text: it reads DEFAULT ('x') as DEFAULT 'x'. It reports whether
// there are any, or the statement is known without a parse (Statement.Admin).
func (h *shim) first() bool {
	if hasKeywordPrefix(h.src, "START") {
		h.scan() // TiDB's grammar drops WITH CONSISTENT SNAPSHOT
		return h.admin()
	}
	if containsFold(h.src, "OUTFILE") || containsFold(h.src, "DUMPFILE") {
		h.scan()
		if h.intoFile() {
			return true
		}
	}
	if containsFold(h.src, "ST_COLLECT") {
		h.scan()
		h.stCollect()
	}
	if h.adjacent {
		h.scan()
		h.joinStrings()
	}
	h.passwordAssignment()
	if len(h.src) < 6 || !hasKeywordPrefix(h.src, "CREATE") && !hasKeywordPrefix(h.src, "ALTER") {
		return len(h.edits) > 0
	}
	if containsFold(h.src, "VIEW") {
		h.scan()
		if h.view() {
			return len(h.edits) > 0
		}
	}
	if !containsFold(h.src, "DEFAULT") {
		return len(h.edits) > 0
	}
	h.scan()
	h.defaultExprs()
	return len(h.edits) > 0
}

// repair looks for all that it knows. changed is false when it found nothing.
// Errors are 1235 for statements out of scope.
func (h *shim) repair() (changed bool, err error) {
	h.scan()
	if len(h.toks) == 0 || h.toks[len(h.toks)-1].kind == tokBad {
		return false, nil
	}
	if err := h.outOfScope(); err != nil {
		return false, err
	}
	if h.admin() {
		return true, nil
	}
	before := len(h.edits)
	if is, err := h.account(); is {
		return len(h.edits) > before, err
	}
	switch h.word(0) {
	case "CREATE", "ALTER":
		if h.st.View != nil {
			break
		}
		if err := h.createTable(); err != nil {
			return false, err
		}
		if err := h.searchIndexes(); err != nil {
			return false, err
		}
		h.visibility()
		h.fromAttributes()
		h.wholeAutoIncrement()
	case "EXPLAIN", "DESCRIBE", "DESC":
		h.explain()
		h.describeLike()
	case "INSERT", "REPLACE":
		h.insertAlias()
	case "UPDATE":
		if err := h.multiUpdate(); err != nil {
			return false, err
		}
	case "SHOW":
		if err := h.show(); err != nil {
			return false, err
		}
	case "SET":
		h.setPersist()
	case "LOCK":
		h.lockAliases()
	case "FLUSH":
		if h.flushList() {
			return true, nil
		}
	case "ANALYZE":
		h.histogramUpdate()
	case "KILL":
		h.kill()
	case "RENAME":
		if h.word(1) == "TABLES" {
			h.replace(1, 1, "TABLE")
		}
	case "BEGIN", "COMMIT", "ROLLBACK":
		if h.word(1) == "WORK" {
			h.blank(1, 1)
		}
	}
	h.returning()
	if err := h.jsonTable(); err != nil {
		return false, err
	}
	h.tableFunctions()
	h.derivedColumns()
	h.selectWithoutTables()
	h.selectInto()
	h.soundsLike()
	h.jsonValue()
	h.introducers()
	h.atTimeZone()
	h.matchAgainst()
	return len(h.edits) > before, nil
}

// out is the text with the edits made.
func (h *shim) out() string {
	sort.SliceStable(h.edits, func(i, j int) bool { return h.edits[i].start < h.edits[j].start })
	var b strings.Builder
	pos := 0
	h.st.rewrites = nil
	for _, e := range h.edits {
		if e.start < pos {
			continue
		}
		b.WriteString(h.src[pos:e.start])
		if e.start+1 == h.split {
			h.splitOut = b.Len()
		}
		h.st.rewrites = append(h.st.rewrites, rewrite{b.Len(), len(e.text), h.src[e.start:e.end]})
		b.WriteString(e.text)
		pos = e.end
	}
	b.WriteString(h.src[pos:])
	return b.String()
}

func (h *shim) scan() {
	if h.toks != nil {
		return
	}
	// Code comments are code here: their delimiters become blanks.
	src := codeCommentsOpen(h.src, h.mode)
	h.src = src
	s := newScanner(src, h.mode)
	for {
		t := s.next()
		if t.kind == tokEnd {
			break
		}
		h.toks = append(h.toks, t)
		if t.kind == tokBad {
			break
		}
	}
	h.pair()
}

// pair finds the partners of all parentheses.
func (h *shim) pair() {
	h.partner, h.around = make([]int32, len(h.toks)), make([]int32, len(h.toks))
	open := int32(-1) // the innermost that is open
	for i := range h.toks {
		h.partner[i] = -1
		if h.op(i, ")") && open >= 0 {
			h.partner[i], h.partner[open] = open, int32(i)
			open = h.around[open]
		}
		h.around[i] = open
		if h.op(i, "(") {
			open = int32(i)
		}
	}
}

// codeCommentsOpen blanks the delimiters of /*! … */.
func codeCommentsOpen(src string, mode types.SQLMode) string {
	if !strings.Contains(src, "/*!") {
		return src
	}
	out := []byte(src)
	s := newScanner(src, mode)
	open := false
	for s.pos < len(src) {
		rest := src[s.pos:]
		switch c := src[s.pos]; {
		case c == '\'' || c == '"' || c == '`':
			s.quoted(tokString, c, c != '`' && !s.noBackslf && !(c == '"' && s.ansi))
		case c == '#', c == '-' && s.isDashComment():
			s.lineEnd()
		case strings.HasPrefix(rest, "/*!"):
			n := 3
			for n < 9 && n < len(rest) && isDigit(rest[n]) {
				n++
			}
			copy(out[s.pos:], strings.Repeat(" ", n))
			s.pos += n
			open = true
		case open && strings.HasPrefix(rest, "*/"):
			copy(out[s.pos:], "  ")
			s.pos += 2
			open = false
		case strings.HasPrefix(rest, "/*"):
			s.pos = s.commentEnd()
		default:
			s.pos++
		}
	}
	return string(out)
}

func hasKeywordPrefix(s, kw string) bool {
	s = strings.TrimLeft(s, " \t\r\n")
	if strings.HasPrefix(s, "/*!") { // code, as in dumps
		s = strings.TrimLeft(s[3:], "0123456789 \t\r\n")
	}
	return len(s) >= len(kw) && strings.EqualFold(s[:len(kw)], kw)
}

func containsFold(s, kw string) bool {
	for i := 0; i+len(kw) <= len(s); i++ {
		if (s[i]|0x20 == kw[0]|0x20) && strings.EqualFold(s[i:i+len(kw)], kw) {
			return true
		}
	}
	return false
}

func (h *shim) text(i int) string {
	if i < 0 || i >= len(h.toks) {
		return ""
	}
	return h.src[h.toks[i].start:h.toks[i].end]
}

// word is token i in upper case if it is a word, "" otherwise.
func (h *shim) word(i int) string {
	if i < 0 || i >= len(h.toks) || h.toks[i].kind != tokWord {
		return ""
	}
	return strings.ToUpper(h.text(i))
}

func (h *shim) words(i int, want ...string) bool {
	for j, w := range want {
		if h.word(i+j) != w {
			return false
		}
	}
	return true
}

func (h *shim) op(i int, op string) bool {
	return i >= 0 && i < len(h.toks) && h.toks[i].kind == tokOp && h.text(i) == op
}

func (h *shim) isName(i int) bool {
	return i >= 0 && i < len(h.toks) && (h.toks[i].kind == tokWord || h.toks[i].kind == tokQuoted)
}

// name is the identifier at token i.
func (h *shim) name(i int) string {
	s := h.text(i)
	if i < len(h.toks) && h.toks[i].kind == tokQuoted {
		q := s[:1]
		return strings.ReplaceAll(s[1:len(s)-1], q+q, q)
	}
	return s
}

// closing is the token of the parenthesis that closes the one at i, -1.
func (h *shim) closing(i int) int {
	if !h.op(i, "(") {
		return -1
	}
	return int(h.partner[i])
}

// opening is the token of the parenthesis that the one at i closes, -1.
func (h *shim) opening(i int) int {
	if !h.op(i, ")") {
		return -1
	}
	return int(h.partner[i])
}

// replace sets text for the tokens from up to and with to; blank keeps the
// length.
func (h *shim) replace(from, to int, text string) {
	h.edits = append(h.edits, edit{h.toks[from].start, h.toks[to].end, text})
}

func (h *shim) blank(from, to int) {
	n := h.toks[to].end - h.toks[from].start
	h.replace(from, to, strings.Repeat(" ", n))
}

func (h *shim) insertBefore(i int, text string) {
	p := h.toks[i].start
	h.edits = append(h.edits, edit{p, p, text})
}

func (h *shim) insertAfter(i int, text string) {
	p := h.toks[i].end
	h.edits = append(h.edits, edit{p, p, text})
}

// admin reads the statements of few words that have no AST.
func (h *shim) admin() bool {
	switch first := h.word(0); first {
	case "DROP":
		return h.st.Admin != nil // outOfScope has read it
	case "CHECK", "CHECKSUM", "REPAIR", "OPTIMIZE", "ANALYZE":
		i := 1
		if w := h.word(i); w == "NO_WRITE_TO_BINLOG" || w == "LOCAL" {
			i++
		}
		if w := h.word(i); w != "TABLE" && w != "TABLES" {
			return false
		}
		tables, i := h.tableList(i + 1)
		for ; i < len(h.toks); i++ {
			switch h.word(i) {
			case "QUICK", "FAST", "MEDIUM", "EXTENDED", "CHANGED", "USE_FRM", "FOR", "UPGRADE":
			default:
				return false
			}
		}
		if len(tables) == 0 {
			return false
		}
		h.st.Admin = &Admin{Op: strings.ToLower(first), Tables: tables}
		if h.word(len(h.toks)-1) == "QUICK" {
			h.st.Admin.Words = []string{"quick"}
		}
		return true
	case "START":
		if h.word(1) != "TRANSACTION" {
			return false
		}
		var words []string
		for i := 2; i < len(h.toks); i++ {
			switch {
			case h.words(i, "WITH", "CONSISTENT", "SNAPSHOT"):
				words = append(words, "snapshot")
				i += 2
			case h.words(i, "READ", "ONLY"):
				words = append(words, "read only")
				i++
			case h.words(i, "READ", "WRITE"):
				words = append(words, "read write")
				i++
			default:
				return false
			}
			if i+1 < len(h.toks) {
				if i++; !h.op(i, ",") || i+1 == len(h.toks) {
					return false
				}
			}
		}
		h.st.Admin = &Admin{Op: "begin", Words: words}
		return true
	case "RESET":
		return h.resetPersist()
	case "SHOW":
		if h.word(1) == "ENGINE" && len(h.toks) == 4 {
			h.st.Admin = &Admin{Op: "engine_status", Words: []string{h.name(2), strings.ToLower(h.word(3))}}
			return true
		}
		return h.showReplication()
	}
	return false
}

func (h *shim) tableList(i int) ([][2]string, int) {
	var list [][2]string
	for h.isName(i) {
		name := [2]string{"", h.name(i)}
		i++
		if h.op(i, ".") && h.isName(i+1) {
			name = [2]string{name[1], h.name(i + 1)}
			i += 2
		}
		list = append(list, name)
		if !h.op(i, ",") {
			return list, i
		}
		i++
	}
	return nil, i
}

// createTable: INCLUDE (c, …) after key parts, and names for what it cannot
// read.
func (h *shim) createTable() error {
	for i := range h.toks {
		if isGeometryWord(h.word(i)) {
			if err := h.geometryColumn(i); err != nil {
				return err
			}
		}
		switch h.word(i) {
		case "INCLUDE":
			if !h.op(i+1, "(") || !h.op(i-1, ")") {
				continue
			}
			end := h.closing(i + 1)
			if end < 0 {
				continue
			}
			var cols []string
			for j := i + 2; j < end; j += 2 {
				if !h.isName(j) || j+1 < end && !h.op(j+1, ",") {
					return nil
				}
				cols = append(cols, h.name(j))
			}
			if len(cols) == 0 {
				return nil
			}
			text, err := json.Marshal(map[string][]string{"include": cols})
			if err != nil {
				return sqlerr.Internal("quoting INCLUDE: %v", err)
			}
			body := string(text)
			if h.mode&types.ModeNoBackslashEscapes == 0 {
				body = strings.ReplaceAll(body, `\`, `\\`)
			}
			h.replace(i, end, "SECONDARY_ENGINE_ATTRIBUTE='"+strings.ReplaceAll(body, "'", "''")+"'")
		case "SRID":
			if err := h.strayedSRID(i); err != nil {
				return err
			}
		case "SPATIAL":
			if err := h.spatialKey(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// defaultExprs wraps the expression of DEFAULT (expr).
func (h *shim) defaultExprs() {
	for i := 1; i < len(h.toks); i++ {
		if h.word(i) != "DEFAULT" || !h.op(i+1, "(") || h.op(i-1, ".") {
			continue
		}
		end := h.closing(i + 1)
		if end < 0 || end == i+2 {
			continue
		}
		h.insertAfter(i+1, DefaultExprFunc+"(")
		h.insertBefore(end, ")")
		i = end
	}
}

// describeLike: DESCRIBE table 'pattern'.
func (h *shim) describeLike() {
	last := len(h.toks) - 1
	table := last == 2 && h.isName(1) || last == 4 && h.isName(1) && h.op(2, ".") && h.isName(3)
	if table && h.toks[last].kind == tokString {
		h.replace(0, 0, "SHOW COLUMNS FROM")
		h.insertBefore(last, "LIKE ")
	}
}

// show: SHOW WARNINGS LIMIT n, SHOW STORAGE ENGINES, SHOW EXTENDED INDEX.
func (h *shim) show() error {
	switch h.word(1) {
	case "WARNINGS", "ERRORS":
		if h.word(2) != "LIMIT" {
			return nil
		}
		var n []uint64
		for i := 3; i < len(h.toks); i++ {
			if (i-3)%2 == 1 {
				if !h.op(i, ",") && h.word(i) != "OFFSET" || len(h.toks) != 6 {
					return nil
				}
				continue
			}
			v, err := strconv.ParseUint(h.text(i), 10, 64)
			if err != nil {
				return nil
			}
			n = append(n, v)
		}
		switch {
		case len(n) == 1:
			h.st.Limit = &RowLimit{Count: n[0]}
		case len(n) == 2 && h.word(4) == "OFFSET":
			h.st.Limit = &RowLimit{Offset: n[1], Count: n[0]}
		case len(n) == 2:
			h.st.Limit = &RowLimit{Offset: n[0], Count: n[1]}
		default:
			return nil
		}
		h.blank(2, len(h.toks)-1)
	case "LOCAL":
		h.replace(1, 1, "SESSION")
	case "STORAGE":
		if h.word(2) == "ENGINES" {
			h.blank(1, 1)
		}
	case "EXTENDED":
		if w := h.word(2); w == "INDEX" || w == "INDEXES" || w == "KEYS" || w == "TABLES" || h.words(2, "FULL", "TABLES") {
			h.blank(1, 1)
		}
	case "PARSE_TREE", "LIBRARY":
		return sqlerr.NotSupported("SHOW " + h.word(1))
	case "PROCEDURE", "FUNCTION":
		if h.word(2) == "CODE" {
			return sqlerr.NotSupported("SHOW " + h.word(1) + " CODE")
		}
	}
	return nil
}

// setPersist: SET PERSIST x = 1 is read as SET GLOBAL persist.x = 1, and
// PERSIST_ONLY alike; bind knows the prefixes.
func (h *shim) setPersist() {
	for i := 1; i < len(h.toks); i++ {
		w := h.word(i)
		if (w == "PERSIST" || w == "PERSIST_ONLY") && (i == 1 || h.op(i-1, ",")) && h.isName(i+1) {
			h.replace(i, i, "GLOBAL "+strings.ToLower(w)+".")
		}
	}
}

// lockAliases: LOCK TABLES t AS x READ locks t; LOW_PRIORITY means nothing.
func (h *shim) lockAliases() {
	for i := 2; i+1 < len(h.toks); i++ {
		if h.word(i) == "AS" && h.isName(i+1) && i+2 < len(h.toks) {
			h.blank(i, i+1)
		}
		if h.words(i, "LOW_PRIORITY", "WRITE") {
			h.blank(i, i)
		}
	}
}

// derivedColumns: (SELECT …) AS q (a, b) becomes
// (WITH q (a, b) AS (SELECT …) SELECT * FROM q) AS q.
func (h *shim) derivedColumns() {
	for i := 1; i+2 < len(h.toks); i++ {
		if !h.op(i, ")") {
			continue
		}
		name := i + 1
		if h.word(name) == "AS" {
			name++
		}
		if !h.isName(name) || isOperatorWord(h.word(name)) || !h.op(name+1, "(") {
			continue
		}
		open, end := h.opening(i), h.closing(name+1)
		if open < 0 || end < 0 || !h.nameList(name+2, end) {
			continue // as in CAST((SELECT …) AS DECIMAL(10,2))
		}
		switch h.word(open + 1) {
		case "SELECT", "VALUES", "TABLE":
		default:
			continue
		}
		q := h.text(name)
		list := h.src[h.toks[name+1].start:h.toks[end].end]
		h.insertAfter(open, "WITH "+q+" "+list+" AS (")
		h.insertBefore(i, ") SELECT * FROM "+q)
		h.replace(name+1, end, "")
	}
}

// nameList reports names and commas between two tokens, the second exclusive.
func (h *shim) nameList(from, end int) bool {
	for i := from; i < end; i += 2 {
		if !h.isName(i) || i+1 < end && !h.op(i+1, ",") {
			return false
		}
	}
	return from < end
}

// selectInto: SELECT … INTO @a, @b: the variables go into the statement.
func (h *shim) selectInto() {
	for i := range h.toks {
		if h.word(i) != "INTO" || i+1 >= len(h.toks) || h.toks[i+1].kind != tokVar {
			continue
		}
		var vars []string
		j := i + 1
		for ; j < len(h.toks) && h.toks[j].kind == tokVar; j += 2 {
			if strings.HasPrefix(h.text(j), "@@") {
				return
			}
			vars = append(vars, userVariable(h.text(j)))
			if !h.op(j+1, ",") {
				j++
				break
			}
		}
		if h.around[i] >= 0 || h.word(0) == "LOAD" {
			return
		}
		h.st.Into = vars
		h.blank(i, j-1)
		return
	}
}

// soundsLike: a SOUNDS LIKE b, for operands of one token or call, becomes
// SOUNDEX(a) = SOUNDEX(b).
func (h *shim) soundsLike() {
	for i := 1; i+2 < len(h.toks); i++ {
		if !h.words(i, "SOUNDS", "LIKE") {
			continue
		}
		from, to := h.operandBefore(i-1), h.operandAfter(i+2)
		if from < 0 || to < 0 {
			continue
		}
		h.insertBefore(from, "SOUNDEX(")
		h.replace(i, i+1, ") = SOUNDEX(")
		h.insertAfter(to, ")")
	}
}

func (h *shim) operandBefore(i int) int {
	if h.op(i, ")") {
		open := h.opening(i)
		if open > 0 && h.toks[open-1].kind == tokWord && !isOperatorWord(h.word(open-1)) {
			return open - 1
		}
		return open
	}
	for h.op(i-1, ".") && h.isName(i-2) {
		i -= 2
	}
	return i
}

func (h *shim) operandAfter(i int) int {
	if h.op(i, "(") {
		return h.closing(i)
	}
	if h.isName(i) && h.op(i+1, "(") {
		return h.closing(i + 1)
	}
	for h.isName(i) && h.op(i+1, ".") && h.isName(i+2) {
		i += 2
	}
	return i
}

// matchAgainst puts parentheses around MATCH (…) AGAINST (…), which the grammar
// takes only as a whole predicate, and around its columns if they lack them.
func (h *shim) matchAgainst() {
	for i := 0; i < len(h.toks); i++ {
		if h.word(i) != "MATCH" || h.op(i-1, ".") {
			continue
		}
		end := h.bareColumns(i + 1)
		if bare := end > 0; bare && h.word(end+1) == "AGAINST" {
			h.insertBefore(i+1, "(")
			h.insertAfter(end, ")")
		} else {
			end = h.closing(i + 1)
		}
		if end < 0 || h.word(end+1) != "AGAINST" || !h.op(end+2, "(") {
			continue
		}
		if end = h.closing(end + 2); end < 0 || h.op(i-1, "(") && h.op(end+1, ")") {
			continue
		}
		h.insertBefore(i, "(")
		h.insertAfter(end, ")")
		i = end
	}
}

// bareColumns is the last token of a list of columns without parentheses that
// begins at a token, -1 for none.
func (h *shim) bareColumns(i int) int {
	for ; h.isName(i); i += 2 {
		for h.op(i+1, ".") && h.isName(i+2) {
			i += 2
		}
		if !h.op(i+1, ",") {
			return i
		}
	}
	return -1
}

func isOperatorWord(w string) bool {
	switch w {
	case "AND", "OR", "NOT", "IN", "WHERE", "ON", "WHEN", "THEN", "ELSE", "CASE", "BETWEEN", "XOR", "DIV", "IS",
		"VALUES", "VALUE", "SET", "JOIN", "FROM", "EXISTS", "ANY", "ALL", "SOME", "HAVING":
		return true
	}
	return false
}
