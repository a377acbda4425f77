package sqlerr

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// entry is one call of newError in a constructor.
type entry struct {
	constructor, state, format string
	number                     int
	pos                        token.Position
	doc                        string
}

// table reads all constructors of the package from its source.
func table(t *testing.T) []entry {
	t.Helper()
	fset := token.NewFileSet()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var out []entry
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Name.Name == "newError" {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || !isName(call.Fun, "newError") {
					return true
				}
				e := entry{constructor: fn.Name.Name, pos: fset.Position(call.Pos()), doc: fn.Doc.Text()}
				e.number = -1
				if lit, ok := call.Args[0].(*ast.BasicLit); ok {
					e.number, _ = strconv.Atoi(lit.Value)
				}
				e.state, e.format = text(call.Args[1]), text(call.Args[2])
				out = append(out, e)
				return true
			})
		}
	}
	if len(out) < 100 {
		t.Fatalf("found only %d errors", len(out))
	}
	return out
}

func isName(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

func text(e ast.Expr) string {
	if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
		s, err := strconv.Unquote(lit.Value)
		if err == nil {
			return s
		}
	}
	return ""
}

var sqlState = regexp.MustCompile(`^[0-9A-Z]{5}$`)

// TestTable walks all errors: a number of MySQL's server or global range, a state of
// five characters that is the same for one number, a documented constructor that says
// its number, a message of one line that no other constructor of the number has.
func TestTable(t *testing.T) {
	states := map[int]entry{}
	formats := map[string]entry{}
	for _, e := range table(t) {
		where := fmt.Sprintf("%s: %s", e.pos, e.constructor)
		if e.number == -1 { // the number is an argument
			if e.doc == "" {
				t.Errorf("%s has no comment", where)
			}
			continue
		}
		if e.number < 1 || e.number >= 2000 && e.number < 3000 || e.number > 15000 {
			t.Errorf("%s: %d is no number of MySQL's server errors", where, e.number)
		}
		if !sqlState.MatchString(e.state) {
			t.Errorf("%s: state %q does not have five characters", where, e.state)
		}
		if first, ok := states[e.number]; ok && first.state != e.state {
			t.Errorf("%s: %d has state %s here and %s in %s", where, e.number, e.state, first.state, first.constructor)
		}
		states[e.number] = e
		if !strings.Contains(e.doc, strconv.Itoa(e.number)) {
			t.Errorf("%s: the comment does not name %d", where, e.number)
		}
		if strings.ContainsAny(e.format, "\n\t") {
			t.Errorf("%s: the message has more than one line", where)
		}
		key := fmt.Sprint(e.number, " ", e.format)
		if first, ok := formats[key]; ok && e.format != "" {
			t.Errorf("%s: %d with this message is also made by %s", where, e.number, first.constructor)
		}
		formats[key] = e
	}
}

// TestNames: each number has a symbol of its own, in names.txt with its state.
func TestNames(t *testing.T) {
	made := map[int]string{}
	for _, e := range table(t) {
		if e.number >= 0 {
			made[e.number] = e.state
		}
	}
	symbols, last := map[string]bool{}, 0
	for _, n := range Names() {
		if int(n.Number) <= last || symbols[n.Symbol] || made[int(n.Number)] != n.State {
			t.Errorf("%d %s %s: out of order, twice, or of no constructor", n.Number, n.State, n.Symbol)
		}
		last, symbols[n.Symbol] = int(n.Number), true
		delete(made, int(n.Number))
	}
	for n, state := range made {
		t.Errorf("names.txt has no line for %d %s", n, state)
	}
}

// TestConditions wants a constructor for every number that a predicate names, and for
// the predicate of one error the constructor that its comment names.
func TestConditions(t *testing.T) {
	made, names := map[int]bool{}, map[string]bool{}
	for _, e := range table(t) {
		made[e.number], names[e.constructor] = true, true
	}
	f, err := parser.ParseFile(token.NewFileSet(), "conditions.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	predicates := 0
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || !fn.Name.IsExported() {
			continue
		}
		predicates++
		ast.Inspect(fn, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.INT {
				if number, _ := strconv.Atoi(lit.Value); !made[number] {
					t.Errorf("%s: no constructor makes %d", fn.Name.Name, number)
				}
			}
			return true
		})
		one := strings.TrimPrefix(fn.Name.Name, "Is")
		if doc := fn.Doc.Text(); strings.Contains(doc, " reports "+one+".") && !names[one] {
			t.Errorf("%s: no constructor %s", fn.Name.Name, one)
		}
	}
	if predicates < 10 {
		t.Errorf("found only %d predicates", predicates)
	}
	for _, c := range []struct {
		err                            error
		ignorable, ofRow, lockConflict bool
	}{
		{DuplicateEntry("1", "t.k"), true, true, false},
		{fmt.Errorf("row 1: %w", CheckViolated("c")), true, true, false},
		{DataTruncatedForColumn("c", 1), false, true, false},
		{OutOfRange("c", 1), false, true, false},
		{Deadlock(), false, false, true},
		{LockWaitTimeout(), false, false, true},
		{errors.New("other"), false, false, false},
		{nil, false, false, false},
	} {
		if IsIgnorable(c.err) != c.ignorable || IsOfRow(c.err) != c.ofRow || IsLockConflict(c.err) != c.lockConflict {
			t.Errorf("%v: ignorable %v, of a row %v, lock conflict %v", c.err, IsIgnorable(c.err), IsOfRow(c.err), IsLockConflict(c.err))
		}
	}
}

func TestError(t *testing.T) {
	err := fmt.Errorf("reading: %w", NoSuchTable("db", "t"))
	var e *Error
	if !errors.As(err, &e) || e.Number != 1146 || e.State != "42S02" || e.Message != "Table 'db.t' doesn't exist" {
		t.Errorf("got %+v", e)
	}
	if !errors.Is(err, NoSuchTable("other", "x")) {
		t.Error("errors with one number do not match")
	}
	if errors.Is(err, UnknownDatabase("x")) {
		t.Error("errors with different numbers match")
	}
	if got := DuplicateEntry("a%b", "t.k").Message; got != "Duplicate entry 'a%b' for key 't.k'" {
		t.Errorf("got %q", got)
	}
}
