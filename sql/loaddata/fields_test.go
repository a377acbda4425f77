package loaddata

import (
	"io"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// TestFieldReader checks the text format of LOAD DATA (MySQL manual, LOAD DATA
// Statement, Field and Line Handling).
func TestFieldReader(t *testing.T) {
	tsv := logical.LoadData{FieldsTerminated: "\t", FieldsEscaped: `\`, LinesTerminated: "\n"}
	csv := logical.LoadData{FieldsTerminated: ",", FieldsEnclosed: `"`, OptionallyEnclosed: true, FieldsEscaped: `\`, LinesTerminated: "\n"}
	crlf := csv
	crlf.LinesTerminated = "\r\n"
	prefix := csv
	prefix.LinesStarting = "xxx"
	noEscape := csv
	noEscape.FieldsEscaped = ""
	bars := logical.LoadData{FieldsTerminated: "|", FieldsEscaped: `\`, LinesTerminated: "|\n"}
	long := logical.LoadData{FieldsTerminated: "||", FieldsEscaped: `\`, LinesTerminated: "--\n"}
	for _, c := range []struct {
		name   string
		format logical.LoadData
		in     string
		want   string // fields joined by |, lines by /; NULL is <null>
	}{
		{"plain", tsv, "a\tb\nc\td\n", "a|b/c|d"},
		{"no newline at the end", tsv, "a\tb\nc\td", "a|b/c|d"},
		{"empty fields", tsv, "\t\n\n", "|/"},
		{"null", tsv, "\\N\tN\t\\NN\n", "<null>|N|NN"},
		{"escapes", tsv, "a\\tb\\\\c\\n\\0\\Z\\x\n", "a\tb\\c\n\x00\x1ax"},
		{"escaped separator", tsv, "a\\\tb\tc\\\nd\n", "a\tb|c\nd"},
		{"quoted", csv, `"a,b","c""d",e` + "\n", `a,b|c"d|e`},
		{"quoted with newline", csv, "\"a\nb\",c\n", "a\nb|c"},
		{"unquoted NULL word", csv, "NULL,\"NULL\"\n", "<null>|NULL"},
		{"quote inside", csv, `a"b,"c"d",e` + "\n", `a"b|c"d|e`},
		{"crlf", crlf, "a,b\r\n\"c\",d\r\n", "a|b/c|d"},
		{"starting by", prefix, "xxxa,b\njunk\nyyxxxc,d\n", "a|b/c|d"},
		{"no escape", noEscape, `a\,b` + "\n", `a\|b`},
		{"long separators", long, "a||b--\nc|d||e--\n", "a|b/c|d|e"},
		{"end of line begins with that of a field", bars, "a|b|\nc||\n", "a|b/c|"},
		{"last field closed by the end", csv, `"a","b"`, "a|b"},
		{"nothing", csv, "", ""},
	} {
		r := newFieldReader(strings.NewReader(c.in), &c.format, nil)
		r.fields = 9
		var lines []string
		for {
			n, err := r.next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			fields := make([]string, n)
			for i := range fields {
				fields[i] = "<null>"
				if f := r.field(i); f != nil {
					fields[i] = string(f)
				}
			}
			lines = append(lines, strings.Join(fields, "|"))
		}
		if got := strings.Join(lines, "/"); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestManyFields: fields that nothing takes are counted and not kept, and a line has an
// end.
func TestManyFields(t *testing.T) {
	tsv := logical.LoadData{FieldsTerminated: "\t", LinesTerminated: "\n", Fields: make([]logical.LoadField, 2)}
	r := newFieldReader(strings.NewReader("a"+strings.Repeat("\tb", 1_000_000)+"\nc\td\n"), &tsv, nil)
	if n, err := r.next(); n != 1_000_001 || err != nil || len(r.ends) > 3 || len(r.buf) > 3 {
		t.Errorf("%d fields, %v; %d and %d bytes are kept", n, err, len(r.ends), len(r.buf))
	}
	if n, err := r.next(); n != 2 || err != nil || string(r.field(1)) != "d" {
		t.Errorf("the next line has %d fields, %v", n, err)
	}
	r = newFieldReader(io.LimitReader(endless{}, maxLine+1<<20), &tsv, nil)
	if _, err := r.next(); !sqlerr.IsPacketTooLarge(err) {
		t.Errorf("a line without an end: %v", err)
	}
}

// endless is a text of the letter x.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// TestLongLines: long lines and long fields are counted, and a batch has few of them.
func TestLongLines(t *testing.T) {
	tsv := logical.LoadData{FieldsTerminated: "\t", LinesTerminated: "\n", Fields: make([]logical.LoadField, 2)}
	memory := exec.NewValues(exec.NewTracker("values", 4<<20))
	r := newFieldReader(io.LimitReader(endless{}, 16<<20), &tsv, memory)
	if _, err := r.next(); !sqlerr.IsQueryMemoryExceeded(err) {
		t.Errorf("a line of 16 MiB with 4 MiB of memory: %v", err)
	}
	for _, size := range []int{10, longField, 600_000} {
		line := "a\t" + strings.Repeat("b", size) + "\n"
		memory := exec.NewValues(exec.NewTracker("values", 64<<20))
		s := &loadSource{fields: 2, nulls: make([]bool, 2), memory: memory, reader: newFieldReader(strings.NewReader(strings.Repeat(line, 11*min(vec.MaxRows, 1+batchBytes/size))), &tsv, memory)}
		l := &loadBatch{batch: vec.NewBatch([]value.Kind{value.KindBytes, value.KindBytes})}
		for range 10 {
			s.fill(l, 0)
			if n := l.batch.N; l.err != nil || n == 0 || n > 1 && n*size > batchBytes+size || n < vec.MaxRows && (n+1)*(size+1) < batchBytes {
				t.Fatalf("%d rows of %d bytes, %v", n, size, l.err)
			}
			if f := l.batch.Cols[1].Bytes[l.batch.N-1]; len(f) != size {
				t.Fatalf("%d bytes, want %d", len(f), size)
			}
		}
	}
}
