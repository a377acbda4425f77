package diff

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/internal/variants"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/command"
	"github.com/sqlots/sqlots/sql/engine"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/session"
	"github.com/sqlots/sqlots/sql/spill"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/statement"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/storage/memkv"
	"github.com/sqlots/sqlots/tool/slt"
	"github.com/sqlots/sqlots/value"
)

// -folder records or compares the scripts of one folder.
var onlyFolder = flag.String("folder", "", "the folder of the scripts of TestAnswers, all by default")

var showAnswers = flag.String("answers", "", "print the answers of TestAnswers to the scripts whose names have this in them")

const (
	scripts = "../../testdata/sqllogic"
	// answers has a file for each folder of scripts: for each script the hashes of its
	// answers.
	answers = "testdata/answers"
)

// Instead of the hash of an answer: one that differs from run to run, and that of a
// statement that takes long and is not run.
const (
	unsteady = "-"
	notRun   = "!"
)

// slowAnswer is the time from which a statement is not run.
const slowAnswer = 40 * time.Millisecond

// TestAnswers runs all scripts of testdata/sqllogic, each statement after random variants
// of it, and compares everything that a client sees with what was recorded: rows, types,
// errors and warnings by their texts, counts, the tables after changes of the schema, and
// plans. Without -long it is each fifth script of generated calls. What is right is for the scripts to say; this test finds changes. To see what an
// answer was, run the script on the code before: -answers folder/name.
//
// -update records the answers that are the same in several runs.
func TestAnswers(t *testing.T) {
	testflag.Normal(t)
	byFolder := map[string][]string{}
	err := filepath.WalkDir(scripts, func(path string, d fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".test" {
			folder := filepath.Base(filepath.Dir(path))
			byFolder[folder] = append(byFolder[folder], path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	byFolder[callsFolder] = callScripts()
	if *onlyFolder != "" {
		byFolder = map[string][]string{*onlyFolder: byFolder[*onlyFolder]}
	}
	if testflag.Update() {
		recordAnswers(t, byFolder)
		return
	}
	every := testflag.PickRecorded[uint64](5, 5, 1)
	take := testflag.Share(t, every, every, every)
	for folder, paths := range byFolder {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			want := readAnswers(t, folder)
			for i, path := range paths {
				if folder == callsFolder && *onlyFolder == "" && !take(i) {
					continue
				}
				t.Run(strings.TrimSuffix(filepath.Base(path), ".test"), func(t *testing.T) { compareAnswers(t, path, want[filepath.Base(path)]) })
			}
		})
	}
}

// compareAnswers runs a script up to three times: what a busy machine has changed once is
// no difference.
func compareAnswers(t *testing.T, path string, want []string) {
	t.Helper()
	var bad map[int]reply
	for range 3 {
		got := runAnswers(t, path, want, false)
		if len(got) != len(want) {
			t.Fatalf("%d statements, %d recorded: run with -args -update", len(got), len(want))
		}
		now := map[int]reply{}
		for i, a := range got {
			if want[i] == a.hash || want[i] == unsteady || want[i] == notRun {
				continue
			}
			if _, ok := bad[i]; ok || bad == nil {
				now[i] = a
			}
		}
		if bad = now; len(bad) == 0 {
			return
		}
	}
	list := []int{}
	for i := range bad {
		list = append(list, i)
	}
	slices.Sort(list)
	for _, i := range list[:min(len(list), 3)] {
		t.Errorf("another answer to\n%.500s\n%.1500s", bad[i].statement, bad[i].text)
	}
	if len(list) > 3 {
		t.Errorf("and %d more", len(list)-3)
	}
}

// passVariable has, in the environment of a process that records, the file with what is
// known so far.
const passVariable = "SQLOTS_ANSWERS"

// known is what the passes so far have found, by script.
type known struct {
	Pass    int
	Answers map[string][]string
}

// recordAnswers runs all scripts in one process after the other, since the order of
// hashed rows is one of the process.
func recordAnswers(t *testing.T, byFolder map[string][]string) {
	t.Helper()
	file := os.Getenv(passVariable)
	if file == "" {
		file = filepath.Join(t.TempDir(), "known")
		for pass := range 8 {
			child := exec.Command(os.Args[0], "-test.run=^TestAnswers$", "-update", "-folder="+*onlyFolder)
			child.Env = append(os.Environ(), passVariable+"="+file, fmt.Sprint("GOMAXPROCS=", 1+pass%4))
			if out, err := child.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		}
		writeAnswers(t, byFolder, readKnown(t, file))
		return
	}
	k := readKnown(t, file)
	var mu sync.Mutex
	t.Run("scripts", func(t *testing.T) {
		for _, paths := range byFolder {
			for _, path := range paths {
				t.Run(filepath.Base(path), func(t *testing.T) {
					t.Parallel()
					mu.Lock()
					want := k.Answers[path]
					mu.Unlock()
					want = mergeAnswers(want, runAnswers(t, path, want, k.Pass < 2), k.Pass)
					mu.Lock()
					defer mu.Unlock()
					k.Answers[path] = want
				})
			}
		}
	})
	k.Pass++
	text, err := json.Marshal(k)
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func readKnown(t *testing.T, file string) known {
	t.Helper()
	k := known{Answers: map[string][]string{}}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return k
	}
	if err == nil {
		err = json.Unmarshal(text, &k)
	}
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func writeAnswers(t *testing.T, byFolder map[string][]string, k known) {
	t.Helper()
	for folder, paths := range byFolder {
		slices.Sort(paths)
		before := readAnswers(t, folder)
		var b strings.Builder
		for _, path := range paths {
			fmt.Fprintf(&b, "## %s\n", filepath.Base(path))
			list := k.Answers[path]
			if old := before[filepath.Base(path)]; len(old) == len(list) {
				for i := range list { // it was seen to differ once
					if old[i] == unsteady && list[i] != notRun {
						list[i] = unsteady
					}
				}
			}
			for line := range slices.Chunk(list, 16) {
				b.WriteString(strings.Join(line, " ") + "\n")
			}
		}
		testflag.Golden(t, filepath.Join(answers, folder+".txt"), b.String())
	}
}

// mergeAnswers adds a run to what is known. The first two find the slow statements, whose
// effects are missing later.
func mergeAnswers(known []string, run []reply, pass int) []string {
	out := make([]string, len(run))
	for i, a := range run {
		switch {
		case i < len(known) && known[i] == notRun, a.slow:
			out[i] = notRun
		case pass <= 2 || known[i] == a.hash:
			out[i] = a.hash
		default:
			out[i] = unsteady
		}
	}
	return out
}

// readAnswers are the recorded hashes of a folder, by script.
func readAnswers(t *testing.T, folder string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(answers, folder+".txt"))
	if err != nil && !testflag.Update() {
		t.Fatal(err)
	}
	out := map[string][]string{}
	name := ""
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "## "); ok {
			name = strings.TrimSpace(rest)
			continue
		}
		out[name] = append(out[name], strings.Fields(line)...)
	}
	return out
}

// reply is what a client sees of a statement.
type reply struct {
	statement, text, hash string
	slow                  bool
}

// answering runs one script.
type answering struct {
	t        *testing.T
	shared   *statement.Shared
	sessions map[string]*session.Session
	set      string // options of a session
	want     []string
	find     bool // the slow ones
	searches bool // the script has a search index, which may be behind, and gives rows in any order
	got      []reply
	show     bool
}

// options are how the statements of a script run, one of them by its name.
var options = []string{
	"sqlots_batch_size = 1024", "sqlots_batch_size = 3, sqlots_spill_over = 500", "sqlots_batch_size = 1", "sqlots_batch_size = 3",
}

// runAnswers runs a script on an engine of its own. Statements that want says take long
// are not run.
func runAnswers(t *testing.T, path string, want []string, find bool) []reply {
	t.Helper()
	name := strings.TrimPrefix(path, scripts+"/")
	h := fnv.New64a()
	io.WriteString(h, name)
	sum := h.Sum64()
	disk, err := spill.Open(spill.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(t.Context(), engine.Config{
		Store: memkv.New(memkv.Options{}), SearchDir: t.TempDir(), Spill: disk, MemoryLimit: 64 << 20, CheckPlans: true, NoFastPaths: sum%8 == 0,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(context.Background())
	a := &answering{t: t, shared: statement.NewShared(e, command.Runner{}), sessions: map[string]*session.Session{}, want: want, find: find}
	a.show = *showAnswers != "" && strings.Contains(name, *showAnswers)
	if strings.HasPrefix(path, callsFolder+"/") {
		a.set = options[sum%2]
		a.calls(strings.TrimSuffix(filepath.Base(path), ".test"))
		return a.closed()
	}
	script, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	a.searches = searching.Match(script)
	a.set = options[sum/8%uint64(len(options))]
	if bytes.Contains(script, []byte("RECURSIVE")) && strings.Contains(a.set, "spill") {
		a.set = options[3] // thousands of rows would be thousands of files
	}
	rnd := rand.New(rand.NewPCG(sum, 1))
	v := variants.New(rnd, putIn)
	at := "default"
	for p := slt.NewParser(path, bytes.NewReader(script)); ; {
		rec, err := p.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch rec.Kind {
		case slt.KindConnection:
			at = rec.Arg
		case slt.KindStatement, slt.KindQuery:
			for range 2 {
				a.run(at, v.Change(rec.SQL), false)
			}
			v.Learn(rec.SQL)
			a.run(at, rec.SQL, true)
		}
	}
	for _, s := range a.sessions {
		s.Close()
	}
	clear(a.sessions)
	a.tables()
	return a.closed()
}

// closed closes the sessions; the answers are all there.
func (a *answering) closed() []reply {
	for _, s := range a.sessions {
		s.Close()
	}
	return a.got
}

// callsFolder stands for scripts that are made here: calls of the functions and forms
// whose names begin with a letter.
const callsFolder = "calls"

// callForms are functions and forms with the classes of their arguments.
var callForms = sync.OnceValue(func() []string {
	forms := append(append([]string{}, calls...), recorded...)
	for _, name := range plainFunctions() {
		forms = append(forms, name+" ?")
	}
	return forms
})

func callScripts() (paths []string) {
	for _, form := range callForms() {
		path := callsFolder + "/" + initial(form) + ".test"
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

func initial(form string) string {
	if c := form[0] | 0x20; c >= 'a' && c <= 'z' {
		return string(c)
	}
	return "other"
}

// calls runs random calls of literals and columns. Those of a form do not depend on the
// other forms.
func (a *answering) calls(letter string) {
	a.run("default", typed, true)
	a.run("default", typedRows, true)
	for _, form := range callForms() {
		if initial(form) != letter {
			continue
		}
		i := strings.LastIndexByte(form, ' ')
		h := fnv.New64a()
		io.WriteString(h, form)
		rnd := rand.New(rand.NewPCG(h.Sum64(), 2))
		for range 40 {
			classes := form[i+1:]
			if classes == "?" { // any number of any class
				classes = ""
				for range rnd.IntN(7) {
					classes += string("nsdjbiptufgo"[rnd.IntN(12)])
				}
			}
			text := callOf(rnd, form[:i], classes)
			a.run("default", text, false)
			if table, ok := strings.CutPrefix(text, "ALTER TABLE typed ADD COLUMN "); ok {
				a.run("default", "ALTER TABLE typed DROP COLUMN "+strings.Fields(table)[0], false)
			}
		}
	}
}

// callOf is a query with a call.
func callOf(rnd *rand.Rand, head, classes string) string {
	from := []string{"", " FROM typed", " FROM typed WHERE ti < 0"}[rnd.IntN(3)]
	args := make([]string, len(classes))
	for j := range args {
		switch of := literalsOf(classes[j]); {
		case rnd.IntN(12) == 0:
			args[j] = "NULL"
		case from != "" && rnd.IntN(2) == 0:
			args[j] = pick(rnd, columns)
		default:
			args[j] = pick(rnd, of)
		}
	}
	text := fillForm(head, args)
	switch rnd.IntN(12) {
	case 3, 4, 5:
		return "CREATE OR REPLACE VIEW v AS SELECT " + text + " AS x" + from
	case 6:
		return "ALTER TABLE typed ADD COLUMN extra VARCHAR(200) AS (" + text + ")"
	case 7:
		return "ALTER TABLE typed ADD COLUMN extra VARCHAR(200) DEFAULT (" + text + "), ADD CHECK (" + text + " IS NOT NULL)"
	case 0:
		return "SELECT COUNT(*), MIN(" + text + ")" + from
	case 1:
		return "SELECT 1 FROM typed WHERE " + text
	case 2:
		return "SELECT " + text + " x FROM typed ORDER BY x DESC, ti"
	}
	return "SELECT " + text + from
}

// plainFunctions are the names of the functions whose values depend on their arguments
// alone, in order.
var plainFunctions = sync.OnceValue(func() []string {
	names := expr.FuncNames()
	slices.Sort(names)
	return slices.DeleteFunc(names, func(n string) bool { return !expr.IsFunc(n) || isChanging(n) })
})

// putIn are the functions that variants get calls of. The list is not to change: all
// variants would.
var putIn = strings.Fields(`ABS ADDDATE ASCII BIN BIT_COUNT CEIL CHAR CHAR_LENGTH COALESCE CONCAT CONCAT_WS CONV CRC32 DATE DATEDIFF DATE_FORMAT DAYNAME ELT
	EXPORT_SET FIELD FIND_IN_SET FORMAT FROM_DAYS GREATEST GROUP_CONCAT GROUPING HEX IF IFNULL INET_ATON INSERT INSTR INTERVAL ISNULL JSON_ARRAY JSON_ARRAYAGG JSON_CONTAINS
	JSON_EXTRACT JSON_KEYS JSON_LENGTH JSON_OBJECT JSON_QUOTE JSON_SET JSON_TYPE JSON_UNQUOTE LAST_DAY LEAST LEFT LENGTH LOCATE LOG LOWER LPAD LTRIM MAKEDATE MAKETIME MAKE_SET MAX
	MD5 MICROSECOND MIN MOD MONTH NULLIF OCT ORD POINT POSITION POW QUARTER QUOTE REGEXP_REPLACE REPEAT REPLACE REVERSE RIGHT ROUND ROW RPAD SEC_TO_TIME SHA1 SIGN SOUNDEX
	SPACE SQRT ST_ASTEXT ST_DISTANCE ST_GEOMFROMTEXT STRCMP STR_TO_DATE SUBSTRING SUBSTRING_INDEX SUM TIME TIMEDIFF TIMESTAMP TIME_TO_SEC TO_BASE64 TO_DAYS TRIM TRUNCATE
	UNHEX UNIX_TIMESTAMP UPPER VALUES WEEK WEIGHT_STRING YEARWEEK`)

// changing are words of statements whose answers depend on the machine or the time, or
// that wait, or that reach other sessions.
var changing, changingFrom = func() (words map[string]bool, prefixes []string) {
	words = map[string]bool{}
	for _, w := range strings.Fields(`SLEEP BENCHMARK GET_LOCK STREAM_WAIT RAND RANDOM_BYTES UUID* NOW SYSDATE CURDATE CURTIME CURRENT_* LOCALTIME* UTC_* KILL SHUTDOWN RESTART GLOBAL
		PERSIST* PASSWORD IDENTIFIED FLUSH BACKUP INSTANCE OUTFILE DUMPFILE PROCESSLIST STATUS VARIABLES CREATE_TIME UPDATE_TIME CHECK_TIME ANALYZE AES_* ENCRYPT RSA* ASYMMETRIC*
		INNODB_* TABLE_STATISTICS INDEX_STATISTICS STATISTICS PROFILING LOAD PS_* PERFORMANCE_SCHEMA SYS SQLOTS_*`) {
		if prefix, ok := strings.CutSuffix(w, "*"); ok {
			prefixes = append(prefixes, prefix)
		} else {
			words[w] = true
		}
	}
	return words, prefixes
}()

// isChanging looks for such words, and for variables.
func isChanging(text string) bool {
	inWord := func(r rune) bool { return r == '_' || r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) }
	for w := range strings.FieldsFuncSeq(strings.ToUpper(text), func(r rune) bool { return !inWord(r) }) {
		if changing[w] || slices.ContainsFunc(changingFrom, func(p string) bool { return strings.HasPrefix(w, p) }) {
			return true
		}
	}
	return strings.Contains(text, "@@")
}

func (a *answering) session(at string) *session.Session {
	a.t.Helper()
	if s := a.sessions[at]; s != nil {
		return s
	}
	s, err := session.New(a.t.Context(), a.shared, mysqlwire.ConnInfo{ID: uint64(len(a.sessions) + 1), User: "root", Account: mysqlwire.Account{User: "root", Host: "%"}, Kill: func() {}})
	if err != nil {
		a.t.Fatal(err)
	}
	for _, text := range []string{
		"SET time_zone = '+00:00', timestamp = 1700000000.123456, innodb_lock_wait_timeout = 1, lock_wait_timeout = 1, sqlots_parallelism = 1, " + a.set,
		"CREATE DATABASE IF NOT EXISTS answers", "USE answers",
	} {
		if err := s.Query(a.t.Context(), text, &written{}); err != nil {
			a.t.Fatalf("%s: %v", text, err)
		}
	}
	a.sessions[at] = s
	return s
}

// run adds the answer to a statement. Variants that would depend on the machine are not
// run, the answers to such statements of the script not kept.
func (a *answering) run(at, text string, original bool) {
	i := len(a.got)
	out := reply{statement: text, hash: unsteady}
	defer func() { a.got = append(a.got, out) }()
	changes := isChanging(text)
	if i < len(a.want) && a.want[i] == notRun || changes && !original {
		return
	}
	ctx, cancel := context.WithTimeout(a.t.Context(), 20*time.Second)
	if a.find {
		ctx, cancel = context.WithTimeout(a.t.Context(), 10*slowAnswer)
	}
	defer cancel()
	s := a.session(at)
	began := time.Now()
	w := &written{unordered: a.searches || !ordered.MatchString(text), searches: a.searches}
	if explained.MatchString(text) && !a.searches {
		if i%3 == 0 { // estimates of rows are in it
			w.answer(ctx, s, "EXPLAIN FORMAT=TRADITIONAL "+text)
			plan := digits.ReplaceAllString(w.b.String(), "N")
			w.b.Reset()
			w.b.WriteString(plan)
		} else {
			w.answer(ctx, s, "EXPLAIN FORMAT=TREE "+text)
			plan := costs.ReplaceAllString(w.b.String(), "")
			w.b.Reset()
			w.b.WriteString(plan)
		}
	}
	w.answer(ctx, s, text)
	out.slow = a.find && time.Since(began) > slowAnswer
	if schemaChange.MatchString(text) {
		for _, table := range w.column(ctx, s, "SHOW TABLES") {
			w.answer(ctx, s, "SHOW CREATE TABLE `"+strings.ReplaceAll(table, "`", "``")+"`")
		}
	}
	out.text = w.b.String()
	if !changes {
		out.hash = hashOf(out.text)
	}
	if a.show {
		a.t.Logf("%s\n%s", text, out.text)
	}
}

// tables adds what is left in the tables.
func (a *answering) tables() {
	ctx := a.t.Context()
	s := a.session("last")
	w := &written{}
	for _, table := range w.column(ctx, s, "SELECT CONCAT('`', TABLE_SCHEMA, '`.`', REPLACE(TABLE_NAME, '`', '``'), '`') FROM information_schema.TABLES WHERE TABLE_TYPE = 'BASE TABLE' AND TABLE_SCHEMA NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema') ORDER BY 1") {
		for _, text := range []string{"SHOW CREATE TABLE " + table, "TABLE " + table, "CHECK TABLE " + table} {
			a.run("last", text, false)
		}
	}
}

var (
	searching    = regexp.MustCompile(`(?i)SEARCH INDEX|COLUMNAR (INDEX|KEY)|FULLTEXT`)
	ordered      = regexp.MustCompile(`(?i)\bORDER\s+BY\b|^\s*(SHOW|EXPLAIN|DESC)`)
	explained    = regexp.MustCompile(`(?i)^\s*(SELECT|WITH|TABLE|VALUES|UPDATE|DELETE|INSERT|REPLACE|\()`)
	schemaChange = regexp.MustCompile(`(?i)^\s*(CREATE|ALTER|DROP|RENAME)\b`)
	digits       = regexp.MustCompile(`[0-9.]+`)
	costs        = regexp.MustCompile(`  \(cost=[^)]*?(rows=[^) ]*)?\)`)
)

func hashOf(text string) string {
	h := fnv.New32a()
	io.WriteString(h, text)
	sum := h.Sum32()
	return fmt.Sprintf("%06x", (sum>>24^sum)&0xffffff)
}

// written writes down what a client sees.
type written struct {
	b         bytes.Buffer
	types     []mysqlwire.Column
	warnings  int
	first     []string // values of the first column
	unordered bool
	searches  bool     // warnings come as often as segments are there
	compact   bool     // the result in hand has warnings
	rows      []string // of an unordered result
}

// answer runs a statement, and writes down its warnings too.
func (w *written) answer(ctx context.Context, s *session.Session, text string) {
	w.warnings, w.rows = 0, nil
	err := s.Query(ctx, text, w)
	if e, ok := errors.AsType[*sqlerr.Error](err); ok {
		fmt.Fprintf(&w.b, "error %d %s %s\n", e.Number, e.State, e.Message)
	} else if err != nil {
		fmt.Fprintf(&w.b, "error %v\n", err)
	}
	if w.warnings > 0 {
		w.unordered, w.compact = w.searches, w.searches
		if err := s.Query(ctx, "SHOW WARNINGS", w); err != nil {
			fmt.Fprintf(&w.b, "error %v\n", err)
		}
	}
}

// column is the first column of a query's result, which is not written down.
func (w *written) column(ctx context.Context, s *session.Session, text string) []string {
	other := &written{}
	if err := s.Query(ctx, text, other); err != nil {
		return nil
	}
	return other.first
}

// ColumnFlags implements mysqlwire.ResultWriter.
func (*written) ColumnFlags(mysqlwire.Status) {}

// Binary implements mysqlwire.ResultWriter.
func (w *written) Binary() bool { return false }

// Header implements mysqlwire.ResultWriter.
func (w *written) Header(h *mysqlwire.Header) error {
	w.types = h.Columns()
	for _, c := range w.types {
		t := c.Type
		fmt.Fprintf(&w.b, "%s %s %s %s %s %v %v %v %d %d %d %q %v|", c.Database, c.Table, c.OrgTable, c.Name, c.OrgName, t.ID, t.Unsigned, t.Zerofill, t.Len, t.Scale, t.Collation, t.Elems, c.NotNull)
	}
	w.b.WriteByte('\n')
	return nil
}

// Batch implements mysqlwire.ResultWriter.
func (w *written) Batch(b *vec.Batch) error {
	row := make([]value.Datum, len(b.Cols))
	for i := range b.Live() {
		for j, c := range b.Cols {
			row[j] = c.Datum(b.Row(i))
		}
		if err := w.Row(row); err != nil {
			return err
		}
	}
	return nil
}

// Row implements mysqlwire.ResultWriter.
func (w *written) Row(row []value.Datum) error {
	var line []byte
	for j, d := range row {
		text := []byte("NULL")
		if !d.IsNull() {
			text = types.AppendText(nil, w.types[j].Type, d)
		}
		if j == 0 {
			w.first = append(w.first, string(text))
		}
		line = append(append(line, text...), '|')
	}
	if w.unordered {
		w.rows = append(w.rows, string(line))
		return nil
	}
	w.b.Write(append(line, '\n'))
	return nil
}

// End implements mysqlwire.ResultWriter.
func (w *written) End(e mysqlwire.End) error {
	w.warnings += e.Warnings
	slices.Sort(w.rows)
	if w.searches {
		e.Warnings = min(e.Warnings, 1)
	}
	if w.compact {
		w.rows = slices.Compact(w.rows)
	}
	for _, line := range w.rows {
		w.b.WriteString(line + "\n")
	}
	w.rows = nil
	fmt.Fprintf(&w.b, "end %d %v %d\n", e.Warnings, e.More, e.Flags&^mysqlwire.StatusNoIndexUsed)
	return nil
}

// OK implements mysqlwire.ResultWriter.
func (w *written) OK(ok mysqlwire.OK) error {
	w.warnings += ok.Warnings
	fmt.Fprintf(&w.b, "ok %+v\n", ok)
	return nil
}

// LoadLocal implements mysqlwire.ResultWriter.
func (w *written) LoadLocal(string) (io.ReadCloser, error) { return nil, sqlerr.LocalInfileDisabled() }
