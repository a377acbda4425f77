package main

import (
	"fmt"
	"go/ast"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
)

// site is a place where code can be changed.
type site struct {
	file, pkg string
	line      int
	kind      kind
	from, to  int // offsets of the text that is replaced
	// was and now are for the report; text makes the code that has both, the new one
	// when mutant %d is on.
	was, now, text string
}

// kind is what a change does.
type kind string

const (
	boundary   kind = "boundary"   // < to <=
	negation   kind = "negation"   // < to >=, == to !=
	errorCheck kind = "error"      // a negation of err != nil
	arithmetic kind = "arithmetic" // + to -, % to *
	step       kind = "step"       // ++ to --
	sign       kind = "sign"       // -x to x
	logic      kind = "logic"      // && to ||
	constant   kind = "constant"   // true to false
	statement  kind = "statement"  // left out
	loop       kind = "loop"       // continue to break, break to continue
)

// The kinds of two sets: the usual ones are those that gremlins makes unless configured
// otherwise (its internal/configuration/mutantenabled.go).
var kindSets = map[string][]kind{
	"all":   {boundary, negation, arithmetic, logic, constant, statement, loop},
	"usual": {boundary, negation, errorCheck, arithmetic, step, sign, loop},
}

func (s site) overlaps(o site) bool { return s.from < o.to && o.from < s.to }

// mutant is a change that was chosen.
type mutant struct {
	id int
	site
}

// helper is added to each package with mutants. It allocates nothing, for the tests
// that look for that.
const helper = `package %s

import (
	"os"
	"strconv"
	"sync/atomic"
)

var (
	mutantChosen, _ = strconv.Atoi(os.Getenv("MUTANT"))
	mutantSeen      = os.Getenv("MUTANT_SEEN")
	mutantsReached  [%d]atomic.Bool
)

func mutantOn(id int) bool {
	return id == mutantChosen || mutantSeen != "" && mutantReached(id)
}

func mutantReached(id int) bool {
	if mutantsReached[id].Swap(true) {
		return false
	}
	if f, err := os.OpenFile(mutantSeen, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		f.WriteString(strconv.Itoa(id) + "\n")
		f.Close()
	}
	return false
}
`

// mutate is the source of a file with its mutants.
func mutate(src []byte, list []*mutant) string {
	list = slices.Clone(list)
	sort.Slice(list, func(i, j int) bool { return list[i].from > list[j].from })
	out := string(src)
	for _, m := range list {
		out = out[:m.from] + strings.ReplaceAll(m.text, "MUTANT", fmt.Sprintf("mutantOn(%d)", m.id)) + out[m.to:]
	}
	return out
}

var broken = regexp.MustCompile(`(?m)^(\S+\.go):(\d+):`)

// withoutBroken leaves out the mutants next to the lines that the compiler names, and
// the last one before each: a return that is missing is missed at the end of a
// function. The compiler may name a file by its copy; copies has the originals.
func withoutBroken(list []*mutant, out string, copies map[string]string) []*mutant {
	bad, last := map[string][]int{}, map[*mutant]bool{}
	for _, found := range broken.FindAllStringSubmatch(out, -1) {
		line, _ := strconv.Atoi(found[2])
		name := filepath.Base(found[1])
		if original := copies[name]; original != "" {
			name = filepath.Base(original)
		}
		bad[name] = append(bad[name], line)
		var before *mutant
		for _, m := range list {
			if filepath.Base(m.file) == name && m.line <= line && (before == nil || m.line > before.line) {
				before = m
			}
		}
		last[before] = true
	}
	return slices.DeleteFunc(list, func(m *mutant) bool {
		return last[m] || slices.ContainsFunc(bad[filepath.Base(m.file)], func(line int) bool { return line >= m.line-1 && line <= m.line+12 })
	})
}

type finder struct {
	p     *packages.Package
	src   map[string][]byte
	sites []site
	file  string
	// parents of the node that is looked at.
	stack []ast.Node
}

// findSites lists all places in packages.
func findSites(root string, patterns []string) ([]site, error) {
	pkgs, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedDeps, Dir: root}, patterns...)
	if err != nil {
		return nil, err
	}
	var out []site
	for _, p := range pkgs {
		if len(p.Errors) > 0 {
			return nil, p.Errors[0]
		}
		if strings.HasSuffix(p.PkgPath, "/plantest") {
			continue
		}
		f := &finder{p: p, src: map[string][]byte{}}
		for _, file := range p.Syntax {
			if err := f.read(file); err != nil {
				return nil, err
			}
		}
		out = append(out, f.sites...)
	}
	return out, nil
}
