package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// mutated are the packages whose code is changed, with those below them.
var mutated = []string{"./sql/planner/...", "./sql/expr/...", "./sql/exec/...", "./sql/source/...", "./sql/searchdoc", "./sql/ddl/..."}

// suites are the packages whose tests run, in their normal form but for those of short and
// recorded: the mutant's own first, then the fastest, of those that reach it. The limit is
// for all that run for one mutant.
var suites = []string{"./sql/planner", "./sql/planner/bind", "./sql/expr", "./sql/exec", "./sql/source", "./sql/source/kvread", "./sql/source/searchscan", "./sql/ddl", "./test/diff", "./test/sqllogic", "./sql/planner/plantest", "./test/metamorphic", "./sql/session", "./server"}

// short are the suites that run in their short form: the normal one has writers that are
// faster than the slow code of mutants.
var short = []string{"./sql/ddl"}

// recorded are the suites that compare all their recorded results: which of them the
// normal form compares depends on the seed.
var recorded = []string{"./test/diff"}

// In the environment of a test: the mutant that is on, and the file that gets the
// numbers of those that were reached.
const (
	envOn   = "MUTANT"
	envSeen = "MUTANT_SEEN"
)

type runner struct {
	root, dir string
	binaries  map[string]string // by package
	tests     []*test
	verbose   bool
}

// test is a test function of a package, or its subtests for the scripts of one folder.
type test struct {
	pkg, name string
	folder    string
	reaches   map[int]bool
	took      time.Duration // of processor time
}

// scripts are the tests that run in parts, by the folder of their scripts: the pattern
// of their subtests before the folder, by package and name.
var scripts = map[[2]string]string{
	{"./test/sqllogic", "TestFiles"}: "/.*/.*/.*",
	{"./test/diff", "TestAnswers"}:   "",
}

// pattern is the -test.run of tests of one package, which are either all functions or
// all folders.
func pattern(list []*test) string {
	var names []string
	for _, t := range list {
		names = append(names, cmp.Or(t.folder, t.name))
	}
	any := "^(" + strings.Join(names, "|") + ")$"
	if list[0].folder != "" {
		return "^" + list[0].name + "$" + scripts[[2]string{list[0].pkg, list[0].name}] + "/" + any
	}
	return any
}

func main() {
	count := flag.Int("n", 300, "number of mutants")
	seed := flag.Uint64("seed", 1, "seed of the choice")
	jobs := flag.Int("jobs", 2, "mutants that are tried at a time")
	limit := flag.Duration("limit", 2*time.Minute, "most processor time of all tests of a mutant: a minute on two processors")
	verbose := flag.Bool("v", false, "print killed mutants too")
	only := flag.String("only", "", "numbers of the mutants to try, with commas; empty for all")
	kinds := flag.String("kinds", "all", "kinds of changes: all, which is those of our own; usual; or a list with commas")
	in := flag.String("in", "", "packages whose code is changed instead of all, with commas: ./sql/ddl/...")
	by := flag.String("by", "", "packages whose tests run instead of all, with commas: ./sql/ddl")
	flag.Parse()
	if *in != "" {
		mutated = strings.Split(*in, ",")
	}
	if *by != "" {
		suites = strings.Split(*by, ",")
	}
	if err := run(*count, *seed, *jobs, *limit, *verbose, *only, *kinds); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(count int, seed uint64, jobs int, limit time.Duration, verbose bool, only, kinds string) error {
	root, err := filepath.Abs("..")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	sites, err := findSites(root, mutated)
	if err != nil {
		return err
	}
	wanted, err := kindsOf(kinds)
	if err != nil {
		return err
	}
	sites = slices.DeleteFunc(sites, func(s site) bool { return !slices.Contains(wanted, s.kind) })
	list := choose(sites, count, rand.New(rand.NewPCG(seed, seed)))
	fmt.Printf("%d places, %d mutants\n", len(sites), len(list))
	r := &runner{root: root, dir: dir, binaries: map[string]string{}, verbose: verbose}
	if list, err = r.build(list); err != nil {
		return err
	}
	if err := r.measure(); err != nil {
		return err
	}
	if only != "" {
		list = slices.DeleteFunc(list, func(m *mutant) bool {
			return !slices.Contains(strings.Split(only, ","), strconv.Itoa(m.id))
		})
	}
	r.tryAll(list, jobs, limit)
	return nil
}

// kindsOf are the kinds of a set, or of a list of kinds.
func kindsOf(name string) ([]kind, error) {
	if list, ok := kindSets[name]; ok {
		return list, nil
	}
	var list []kind
	for _, k := range strings.Split(name, ",") {
		if !slices.Contains(kindSets["all"], kind(k)) && !slices.Contains(kindSets["usual"], kind(k)) {
			return nil, fmt.Errorf("-kinds %s: %q is no kind", name, k)
		}
		list = append(list, kind(k))
	}
	return list, nil
}

// choose draws mutants at random places that do not overlap.
func choose(sites []site, count int, rnd *rand.Rand) []*mutant {
	rnd.Shuffle(len(sites), func(i, j int) { sites[i], sites[j] = sites[j], sites[i] })
	var list []*mutant
	taken := map[string][]site{}
	for _, s := range sites {
		if len(list) == count {
			break
		}
		if slices.ContainsFunc(taken[s.file], s.overlaps) {
			continue
		}
		taken[s.file] = append(taken[s.file], s)
		list = append(list, &mutant{id: len(list) + 1, site: s})
	}
	return list
}

// build compiles the tests with the mutants, and leaves out those that do not
// compile.
func (r *runner) build(list []*mutant) ([]*mutant, error) {
	for range 10 {
		overlay, copies, err := r.overlay(list)
		if err != nil {
			return nil, err
		}
		cmd := exec.Command("go", "build", "-overlay", overlay, "./sql/...")
		cmd.Dir = r.root
		out, err := cmd.CombinedOutput()
		if err == nil {
			return list, r.compile(overlay)
		}
		before := len(list)
		list = withoutBroken(list, string(out), copies)
		if len(list) == before {
			return nil, fmt.Errorf("%w\n%s", err, out)
		}
		fmt.Printf("%d mutants do not compile\n", before-len(list))
	}
	return nil, errors.New("mutants still do not compile")
}

func (r *runner) compile(overlay string) error {
	for _, pkg := range suites {
		bin := filepath.Join(r.dir, strings.ReplaceAll(strings.TrimPrefix(pkg, "./"), "/", "_")+".test")
		cmd := exec.Command("go", "test", "-overlay", overlay, "-vet", "off", "-c", "-o", bin, pkg)
		cmd.Dir = r.root
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", pkg, err, out)
		}
		r.binaries[pkg] = bin
	}
	return nil
}

// overlay writes the changed files and says where they are. copies has the original
// of each by its name.
func (r *runner) overlay(list []*mutant) (path string, copies map[string]string, err error) {
	replace := map[string]string{}
	copies = map[string]string{}
	byFile := map[string][]*mutant{}
	for _, m := range list {
		byFile[m.file] = append(byFile[m.file], m)
	}
	n := 0
	write := func(as, text string) error {
		n++
		path := filepath.Join(r.dir, fmt.Sprintf("%d.go", n))
		replace[as] = path
		copies[filepath.Base(path)] = as
		return os.WriteFile(path, []byte(text), 0o600)
	}
	helped := map[string]bool{}
	for file, of := range byFile {
		src, err := os.ReadFile(file)
		if err != nil {
			return "", nil, err
		}
		if err := write(file, mutate(src, of)); err != nil {
			return "", nil, err
		}
		if dir := filepath.Dir(file); !helped[dir] {
			helped[dir] = true
			if err := write(filepath.Join(dir, "zz_mutants.go"), fmt.Sprintf(helper, of[0].pkg, largest(list)+1)); err != nil {
				return "", nil, err
			}
		}
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", nil, err
	}
	path = filepath.Join(r.dir, "overlay.json")
	return path, copies, os.WriteFile(path, b, 0o600)
}

// measure runs each test without mutants.
func (r *runner) measure() error {
	for _, pkg := range suites {
		list, err := r.list(pkg)
		if err != nil {
			return err
		}
		reached, total := map[int]bool{}, time.Duration(0)
		for _, t := range list {
			if err := r.measureTest(t); err != nil {
				return err
			}
			total += t.took
			for id := range t.reaches {
				reached[id] = true
			}
		}
		r.tests = append(r.tests, list...)
		fmt.Printf("%-24s %6.1f s, reaches %d mutants\n", pkg, total.Seconds(), len(reached))
	}
	return nil
}

// list is the tests of a package.
func (r *runner) list(pkg string) ([]*test, error) {
	cmd := exec.Command(r.binaries[pkg], "-test.list", "^Test")
	cmd.Dir = filepath.Join(r.root, pkg)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("tests of %s: %w", pkg, err)
	}
	var list []*test
	for _, name := range strings.Fields(string(out)) {
		if _, ok := scripts[[2]string{pkg, name}]; !ok {
			list = append(list, &test{pkg: pkg, name: name})
			continue
		}
		folders, err := os.ReadDir(filepath.Join(r.root, "testdata/sqllogic"))
		if err != nil {
			return nil, err
		}
		for _, f := range folders {
			list = append(list, &test{pkg: pkg, name: name, folder: f.Name()})
		}
	}
	return list, nil
}

func (r *runner) measureTest(t *test) error {
	seen := filepath.Join(r.dir, "seen")
	_ = os.Remove(seen)
	var out string
	var err error
	if t.took, out, err = r.run([]*test{t}, 10*time.Minute, envSeen+"="+seen); err != nil {
		fmt.Printf("%s of %s is left out, since it fails without a mutant: %v\n%.500s\n", t.name, t.pkg, err, out)
		return nil
	}
	t.reaches = map[int]bool{}
	b, err := os.ReadFile(seen)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, s := range strings.Fields(string(b)) {
		if id, err := strconv.Atoi(s); err == nil {
			t.reaches[id] = true
		}
	}
	return nil
}

// run runs tests of one package, which may take most of the processor, and says how
// much of it they took. Time on the clock would depend on what else the machine does.
func (r *runner) run(list []*test, most time.Duration, env ...string) (took time.Duration, out string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*most)
	defer cancel()
	limit := fmt.Sprintf("ulimit -v 12000000; ulimit -t %d; exec \"$0\" \"$@\"", int(most.Seconds())+1)
	cmd := exec.CommandContext(ctx, "sh", "-c", limit, r.binaries[list[0].pkg], "-test.failfast", "-test.run", pattern(list))
	if slices.Contains(short, list[0].pkg) {
		cmd.Args = append(cmd.Args, "-test.short")
	}
	if slices.Contains(recorded, list[0].pkg) {
		cmd.Args = append(cmd.Args, "-recorded")
	}
	cmd.Dir = filepath.Join(r.root, list[0].pkg)
	cmd.Env = append(os.Environ(), append(env, "GOMAXPROCS=1", "GOMEMLIMIT=3GiB")...)
	cmd.WaitDelay = time.Second
	b, err := cmd.CombinedOutput()
	if cmd.ProcessState != nil {
		took = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	return took, string(b), err
}

// tryAll tries mutants and prints what became of them.
func (r *runner) tryAll(list []*mutant, jobs int, limit time.Duration) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	work := make(chan *mutant)
	killed := map[kind]int{}
	for range jobs {
		wg.Go(func() {
			for m := range work {
				by := r.try(m, limit)
				mu.Lock()
				if by != "" {
					killed[m.kind]++
				}
				if by == "" || r.verbose {
					r.report(m, by)
				}
				mu.Unlock()
			}
		})
	}
	for _, m := range list {
		work <- m
	}
	close(work)
	wg.Wait()
	all, dead := map[kind]int{}, 0
	for _, m := range list {
		all[m.kind]++
	}
	for _, k := range slices.Sorted(maps.Keys(all)) {
		fmt.Printf("%-10s %s\n", k, share(killed[k], all[k]))
		dead += killed[k]
	}
	fmt.Printf("%s\n", share(dead, len(list)))
}

func share(n, of int) string {
	return fmt.Sprintf("%d of %d mutants killed: %.1f %%", n, of, 100*float64(n)/float64(of))
}

// try gives the package whose tests kill a mutant; "" for none.
func (r *runner) try(m *mutant, limit time.Duration) string {
	for _, g := range r.groups(m) {
		if limit <= 0 {
			break
		}
		most := min(limit, 3*g.took+10*time.Second)
		took, _, err := r.run(g.tests, most, fmt.Sprintf("%s=%d", envOn, m.id))
		if err != nil && (took < limit || most < limit) {
			return g.tests[0].pkg
		}
		limit -= took
	}
	return ""
}

// group is tests that run together.
type group struct {
	tests []*test
	own   bool
	took  time.Duration
}

// groups are the tests that reach a mutant: those of its own package first, then the
// fastest.
func (r *runner) groups(m *mutant) []*group {
	var list []*group
	for _, t := range r.tests {
		if !t.reaches[m.id] {
			continue
		}
		var g *group
		if n := len(list); n > 0 && list[n-1].tests[0].pkg == t.pkg && (list[n-1].tests[0].folder == "") == (t.folder == "") {
			g = list[n-1]
		} else {
			g = &group{own: strings.HasPrefix(m.file, filepath.Join(r.root, t.pkg)+"/")}
			list = append(list, g)
		}
		g.tests, g.took = append(g.tests, t), g.took+t.took
	}
	slices.SortStableFunc(list, func(a, b *group) int {
		return cmp.Or(boolInt(b.own)-boolInt(a.own), cmp.Compare(a.took, b.took))
	})
	return list
}

// largest is the highest number of a mutant.
func largest(list []*mutant) int {
	n := 0
	for _, m := range list {
		n = max(n, m.id)
	}
	return n
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (r *runner) report(m *mutant, by string) {
	file, err := filepath.Rel(r.root, m.file)
	if err != nil {
		file = m.file
	}
	what := "SURVIVED"
	switch {
	case by != "":
		what = "killed by " + by
	case !slices.ContainsFunc(r.tests, func(t *test) bool { return t.reaches[m.id] }):
		what = "NOT REACHED"
	}
	fmt.Printf("%d %s:%d: %s: %s -> %s\n", m.id, file, m.line, what, oneLine(m.was), oneLine(m.now))
}

func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 100 {
		s = s[:100] + "…"
	}
	return s
}
