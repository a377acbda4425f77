package parser

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/auth"

	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

// AccountClauses are the clauses of statements about accounts that TiDB's AST has no
// place for.
type AccountClauses struct {
	// WithAdmin is GRANT role TO user WITH ADMIN OPTION.
	WithAdmin bool
	// As is the account of GRANT … AS user, nil without; AsRoles is its WITH ROLE, nil
	// without.
	As      *auth.UserIdentity
	AsRoles *RoleChoice
	// IfExists and IgnoreUnknown are IF EXISTS and IGNORE UNKNOWN USER of REVOKE.
	IfExists, IgnoreUnknown bool
	// DefaultRole is DEFAULT ROLE of CREATE USER, always a list, and of ALTER USER, which
	// also has NONE and ALL; nil without.
	DefaultRole *RoleChoice
	// RequireCurrent is REQUIRED for PASSWORD REQUIRE CURRENT and OPTIONAL for PASSWORD
	// REQUIRE CURRENT OPTIONAL. It is "" where the statement has neither, or where
	// PASSWORD REQUIRE CURRENT DEFAULT follows, which is an option of the node. Where it
	// is not "", such an option of the node does not count.
	RequireCurrent string
	// Users has an element for each account of CREATE USER, ALTER USER and SET PASSWORD,
	// in their order. It is nil for other statements.
	Users []UserClauses
}

// UserClauses are the clauses of one account.
type UserClauses struct {
	// Random is IDENTIFIED … BY RANDOM PASSWORD or SET PASSWORD … TO RANDOM. The node
	// has no password then, or the empty one in an ast.SetPwdStmt.
	Random bool
	// Replace is the password of REPLACE, nil without.
	Replace *string
	// Retain is RETAIN CURRENT PASSWORD, Discard is DISCARD OLD PASSWORD.
	Retain, Discard bool
}

// RoleChoice is DEFAULT, NONE, ALL, ALL EXCEPT role, … or role, …. Only the last two
// have Roles.
type RoleChoice struct {
	Kind  ast.SetRoleStmtType
	Roles []*auth.RoleIdentity
}

// accountReader reads a statement about accounts from the left to the right. Clauses
// without a place in TiDB's AST become blanks. Where a token is none that it knows, it
// leaves the rest to TiDB's parser.
type accountReader struct {
	*shim
	at    int // the next token
	out   AccountClauses
	found bool // out has a clause
	err   error
}

// account reads the statements about accounts. It reports whether the text is one of
// them.
func (h *shim) account() (is bool, err error) {
	r := accountReader{shim: h, at: 2}
	switch h.word(0) + " " + h.word(1) {
	case "CREATE USER":
		r.createUser()
	case "ALTER USER":
		r.alterUser()
	case "CREATE ROLE", "DROP ROLE":
		_ = r.accept("IF", "NOT", "EXISTS") || r.accept("IF", "EXISTS")
		r.roles()
	case "SET ROLE":
		r.choice(true)
	case "SET DEFAULT":
		if r.accept("ROLE") {
			r.choice(false)
		}
	case "SET PASSWORD":
		r.setPassword()
	case "SHOW GRANTS":
		if r.accept("FOR") && r.user() != nil && r.accept("USING") {
			r.roles()
		}
	default:
		r.at = 1
		switch h.word(0) {
		case "GRANT":
			r.grant()
		case "REVOKE":
			r.revoke()
		default:
			return false, nil
		}
	}
	if r.found {
		h.st.Account = &r.out
	}
	h.accounts = true
	return true, r.err
}

// checkGrant is the syntax error of a GRANT or REVOKE that TiDB's grammar takes and
// MySQL's does not.
func checkGrant(src string, mode types.SQLMode, node ast.StmtNode) error {
	switch node.(type) {
	case *ast.GrantStmt, *ast.RevokeStmt, *ast.GrantRoleStmt, *ast.RevokeRoleStmt:
	default:
		return nil
	}
	h := shim{src: src, mode: mode, st: &Statement{}}
	h.scan()
	_, err := h.account()
	return err
}

// passwordAssignment makes SET PASSWORD = 'x' of SET PASSWORD := 'x', which TiDB's
// grammar reads as a variable.
func (h *shim) passwordAssignment() {
	if text := strings.TrimLeft(h.src, " \t\r\n"); !hasKeywordPrefix(text, "SET") || !hasKeywordPrefix(text[3:], "PASSWORD") {
		return
	}
	if h.scan(); h.words(0, "SET", "PASSWORD") && h.op(2, ":=") {
		h.replace(2, 2, "= ")
	}
}

// accept passes words if they are next.
func (r *accountReader) accept(words ...string) bool {
	if r.err != nil || !r.words(r.at, words...) {
		return false
	}
	r.at += len(words)
	return true
}

// need passes words that have to be next.
func (r *accountReader) need(words ...string) {
	for _, w := range words {
		if !r.accept(w) {
			r.fail()
			return
		}
	}
}

// fail is a syntax error at the next token.
func (r *accountReader) fail() {
	if r.err != nil {
		return
	}
	at := len(r.src)
	if r.at < len(r.toks) {
		at = r.toks[r.at].start
	}
	r.err = syntaxError(r.src, at, r.mode)
}

// end wants the end of the statement.
func (r *accountReader) end() {
	if r.at < len(r.toks) {
		r.fail()
	}
}

// drop makes blanks of a clause, the tokens from one up to the next.
func (r *accountReader) drop(from int) {
	if r.err == nil {
		r.blank(from, r.at-1)
		r.found = true
	}
}

func (r *accountReader) kind() tokenKind {
	if r.err != nil || r.at >= len(r.toks) {
		return tokEnd
	}
	return r.toks[r.at].kind
}

// literal is what a string or name in quotes stands for.
func (r *accountReader) literal(text string) string {
	plain := r.mode&types.ModeNoBackslashEscapes != 0
	if text[0] == '`' || text[0] == '"' && r.mode&types.ModeANSIQuotes != 0 {
		plain = true
	}
	return Unquote(text, plain)
}

// secret passes a password, which is a string.
func (r *accountReader) secret() string {
	if r.kind() != tokString {
		r.fail()
		return ""
	}
	r.at++
	return r.literal(r.text(r.at - 1))
}

// identOrText passes a name with or without quotes.
func (r *accountReader) identOrText() (name string, ok bool) {
	switch text := r.text(r.at); r.kind() {
	case tokString, tokQuoted:
		name = r.literal(text)
	case tokWord:
		if reserved()[r.word(r.at)] {
			return "", false
		}
		name = text
	default:
		return "", false
	}
	r.at++
	return name, true
}

// host passes @host; it is % without.
func (r *accountReader) host() string {
	text := r.text(r.at)
	if r.kind() != tokVar || len(text) < 2 || text[1] == '@' {
		return "%"
	}
	r.at++
	if text = text[1:]; text[0] == '\'' || text[0] == '"' || text[0] == '`' {
		text = r.literal(text)
	}
	return strings.ToLower(text)
}

// user passes an account; nil where another token is next.
func (r *accountReader) user() *auth.UserIdentity {
	if r.accept("CURRENT_USER") {
		if r.op(r.at, "(") && r.op(r.at+1, ")") {
			r.at += 2
		}
		return &auth.UserIdentity{CurrentUser: true}
	}
	name, ok := r.identOrText()
	if !ok {
		return nil
	}
	return &auth.UserIdentity{Username: name, Hostname: r.host()}
}

// users passes a list of accounts.
func (r *accountReader) users() bool {
	for r.user() != nil {
		if !r.op(r.at, ",") {
			return true
		}
		r.at++
	}
	return false
}

// roles passes a list of roles. It puts their names in quotes, since TiDB's grammar
// takes no keyword there, such as ADMIN.
func (r *accountReader) roles() (list []*auth.RoleIdentity) {
	for {
		at := r.at
		name, ok := "", !isPrivilegeWord(r.word(at))
		if ok {
			name, ok = r.identOrText()
		}
		if !ok {
			r.fail()
			return nil
		}
		r.quote(at, name)
		list = append(list, &auth.RoleIdentity{Username: name, Hostname: r.host()})
		if !r.op(r.at, ",") {
			return list
		}
		r.at++
	}
}

// quote puts a name, token i, in back quotes.
func (r *accountReader) quote(i int, name string) {
	switch kind := r.toks[i].kind; {
	case kind == tokWord && !isDigit(name[0]), kind == tokString && name != "":
		r.replace(i, i, backQuoted(name))
	}
}

// isPrivilegeWord reports the words that are not reserved and need quotes nevertheless
// where they are the name of a role.
func isPrivilegeWord(w string) bool {
	switch w {
	case "EVENT", "EXECUTE", "FILE", "NONE", "PROCESS", "PROXY", "RELOAD", "REPLICATION", "RESOURCE", "RESTART", "SHUTDOWN", "SUPER":
		return true
	}
	return false
}

// choice passes a choice of roles; session says whether it may be DEFAULT or ALL EXCEPT.
func (r *accountReader) choice(session bool) *RoleChoice {
	switch {
	case r.accept("NONE"):
		return &RoleChoice{Kind: ast.SetRoleNone}
	case session && r.accept("DEFAULT"):
		return &RoleChoice{Kind: ast.SetRoleDefault}
	case session && r.accept("ALL", "EXCEPT"):
		return &RoleChoice{Kind: ast.SetRoleAllExcept, Roles: r.roles()}
	case r.accept("ALL"):
		return &RoleChoice{Kind: ast.SetRoleAll}
	}
	return &RoleChoice{Kind: ast.SetRoleRegular, Roles: r.roles()}
}

func (r *accountReader) grant() {
	if r.words(r.at, "PROXY", "ON") {
		return // TiDB's grammar has all of it
	}
	all := r.accept("ALL")
	if all {
		r.accept("PRIVILEGES")
	}
	on := r.granted("TO", all)
	if !r.users() {
		return
	}
	from := r.at
	if !on {
		if r.accept("WITH") {
			r.need("ADMIN", "OPTION")
			r.drop(from)
			r.out.WithAdmin = true
			r.end()
		}
		return
	}
	if r.accept("WITH") { // what other options GRANT had before MySQL 8, TiDB's grammar drops
		r.need("GRANT", "OPTION")
	}
	from = r.at
	if !r.accept("AS") {
		if w := r.word(r.at); w != "IDENTIFIED" && w != "REQUIRE" { // which are errors of the binder
			r.end()
		}
		return
	}
	if r.out.As = r.user(); r.out.As == nil {
		r.fail()
	}
	if r.accept("WITH") {
		r.need("ROLE")
		r.out.AsRoles = r.choice(true)
	}
	r.drop(from)
	r.end()
}

func (r *accountReader) revoke() {
	if r.accept("IF") {
		r.need("EXISTS")
		r.drop(1)
		r.out.IfExists = true
	}
	if r.words(r.at, "PROXY", "ON") {
		r.err = sqlerr.NotSupported("REVOKE PROXY")
		return
	}
	all := r.accept("ALL")
	if all {
		r.accept("PRIVILEGES")
	}
	switch {
	case all && r.op(r.at, ","):
		r.at++
		r.need("GRANT", "OPTION", "FROM")
	default:
		r.granted("FROM", all)
	}
	if !r.users() {
		return
	}
	if from := r.at; r.accept("IGNORE") {
		r.need("UNKNOWN", "USER")
		r.drop(from)
		r.out.IgnoreUnknown = true
		r.end()
	}
}

// granted passes what is granted or revoked, up to TO or FROM; after ALL that is only ON
// something. on reports privileges ON something; else these are roles.
func (r *accountReader) granted(to string, all bool) (on bool) {
	if all && r.word(r.at) != "ON" {
		r.fail()
		return true
	}
	for i := r.at; i < len(r.toks) && r.word(i) != to; i++ {
		if r.word(i) == "ON" {
			r.privileges(i)
			for r.at < len(r.toks) && !r.accept(to) {
				r.at++
			}
			return true
		}
	}
	r.roles()
	r.need(to)
	return false
}

// privileges puts the names of dynamic privileges before ON in quotes, where TiDB's
// grammar takes neither keywords nor strings.
func (r *accountReader) privileges(on int) {
	start := r.at
	for i := start; i < on; i++ {
		if i > start && r.word(i) == "ALL" && r.op(i-1, ",") && r.around[i] < 0 { // which is in no list
			r.at = i
			r.fail()
			return
		}
		alone := (i == start || r.op(i-1, ",")) && (i+1 == on || r.op(i+1, ",")) && r.around[i] < 0
		if !alone || isPrivilegeWord(r.word(i)) {
			continue
		}
		r.at = i
		if name, ok := r.identOrText(); ok {
			r.quote(i, name)
		}
	}
	r.at = on
}

func (r *accountReader) createUser() {
	r.accept("IF", "NOT", "EXISTS")
	for r.userSpec(false) {
		if r.op(r.at, ",") {
			r.at++
			continue
		}
		if from := r.at; r.accept("DEFAULT") {
			r.need("ROLE")
			r.out.DefaultRole = &RoleChoice{Kind: ast.SetRoleRegular, Roles: r.roles()}
			r.drop(from)
		}
		r.requireCurrent()
		return
	}
}

func (r *accountReader) alterUser() {
	r.accept("IF", "EXISTS")
	for first := r.at; r.userSpec(true); {
		if r.op(r.at, ",") {
			r.at++
			continue
		}
		from := r.at
		if r.userAlone(first) && r.accept("DEFAULT") {
			r.need("ROLE")
			r.out.DefaultRole = r.choice(false)
			r.drop(from)
			r.end()
		}
		r.requireCurrent()
		return
	}
}

// userAlone reports whether all tokens from one up to the next are an account.
func (r *accountReader) userAlone(from int) bool {
	at := r.at
	r.at = from
	alone := r.user() != nil && r.at == at
	r.at = at
	return alone
}

// requireCurrent takes PASSWORD REQUIRE CURRENT [OPTIONAL] off; the last of them counts.
func (r *accountReader) requireCurrent() {
	for ; r.at < len(r.toks); r.at++ {
		from := r.at
		if !r.accept("PASSWORD", "REQUIRE", "CURRENT") {
			continue
		}
		kind := "REQUIRED"
		if r.accept("OPTIONAL") {
			kind = "OPTIONAL"
		} else if r.accept("DEFAULT") {
			kind = ""
		}
		if r.out.RequireCurrent = kind; kind != "" {
			r.drop(from)
		}
		r.at--
	}
}

// userSpec passes an account of CREATE USER or ALTER USER with its authentication.
func (r *accountReader) userSpec(alter bool) bool {
	self := alter && r.word(r.at) == "USER" && r.op(r.at+1, "(") && r.op(r.at+2, ")")
	if self {
		r.replace(r.at, r.at, "CURRENT_USER")
		r.at += 3
	} else if r.user() == nil {
		return false
	}
	var c UserClauses
	switch from := r.at; {
	case r.accept("IDENTIFIED"):
		r.identified(&c, alter, self)
	case alter && r.accept("DISCARD"):
		r.need("OLD", "PASSWORD")
		r.drop(from)
		c.Discard = true
	case self && !r.factors():
		r.fail()
	}
	switch {
	case r.err != nil:
	case r.factors():
		r.err = sqlerr.NotSupported("multi-factor authentication")
	case self:
		r.end()
	}
	r.out.Users = append(r.out.Users, c)
	return r.err == nil
}

// identified passes what follows IDENTIFIED. An account called USER() has no WITH.
func (r *accountReader) identified(c *UserClauses, alter, self bool) {
	from := r.at - 1
	if !self && r.accept("WITH") {
		if _, ok := r.identOrText(); !ok {
			r.fail()
		}
		from = r.at
		if r.accept("AS") {
			if r.word(r.at) == "X" {
				r.at++ // x'41'
			}
			r.at++
			if alter {
				r.retain(c)
			}
			return
		}
		if r.word(r.at) != "BY" {
			return
		}
	}
	r.need("BY")
	if r.accept("RANDOM") {
		r.need("PASSWORD")
		r.drop(from)
		c.Random = true
	} else {
		r.secret()
	}
	if alter {
		r.replaced(c)
		r.retain(c)
	}
}

// factors reports a clause about further factors of authentication.
func (r *accountReader) factors() bool {
	switch i := r.at; r.word(i) {
	case "AND":
		return r.word(i+1) == "IDENTIFIED"
	case "INITIAL":
		return r.word(i+1) == "AUTHENTICATION"
	case "ADD", "MODIFY", "DROP":
		return r.word(i+2) == "FACTOR"
	default:
		return r.kind() == tokNumber && r.word(i+1) == "FACTOR"
	}
}

// replaced passes REPLACE 'old'.
func (r *accountReader) replaced(c *UserClauses) {
	if from := r.at; r.accept("REPLACE") {
		old := r.secret()
		r.drop(from)
		c.Replace = &old
	}
}

// retain passes RETAIN CURRENT PASSWORD.
func (r *accountReader) retain(c *UserClauses) {
	if from := r.at; r.accept("RETAIN") {
		r.need("CURRENT", "PASSWORD")
		r.drop(from)
		c.Retain = true
	}
}

func (r *accountReader) setPassword() {
	if r.accept("FOR") && r.user() == nil {
		return
	}
	var c UserClauses
	switch from := r.at; {
	case r.op(r.at, "=") || r.op(r.at, ":="):
		if r.at++; r.kind() != tokString {
			return
		}
		r.at++
	case r.accept("TO"):
		r.need("RANDOM")
		if r.err == nil {
			r.replace(from, r.at-1, "=''")
			r.found, c.Random = true, true
		}
	default:
		return
	}
	r.replaced(&c)
	r.retain(&c)
	r.end()
	r.out.Users = []UserClauses{c}
}

// writtenAt is the position in src of a position in the text that out made of it.
func (h *shim) writtenAt(at int) int {
	moved := 0
	for _, r := range h.st.rewrites {
		if at < r.at {
			break
		}
		if at < r.at+r.length {
			return r.at + moved
		}
		moved += len(r.old) - r.length
	}
	return at + moved
}
