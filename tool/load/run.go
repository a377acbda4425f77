package load

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql/driver"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/sqlots/sqlots/sql/sqlerr"
)

// job is one call of load.
type job struct {
	*options
	target    *target
	id        string
	fields    []string // columns of the fields; "" for one that is left out
	statement string
	cut       cutter
	newline   string
	done      map[string]record // pieces of an earlier call
	progress  *progress

	mu       sync.Mutex
	rejected int
	rows     int64
	lost     []lostRecord
}

// lostRecord is a rejected record of a file.
type lostRecord struct {
	file   string
	line   int
	reason reject
	record []byte
}

// piece is a part of a file; line is the number of its first record.
type piece struct {
	number, line int
	file         string
	data         []byte
}

func load(ctx context.Context, o *options, stdout, stderr io.Writer) error {
	t, err := openTarget(ctx, o)
	if err != nil {
		return err
	}
	defer t.db.Close()
	j := &job{options: o, target: t}
	if err := j.prepare(ctx, stderr); err != nil {
		return err
	}
	start := time.Now()
	j.progress = newProgress(stderr, o.files, o.quiet)
	err = j.run(ctx)
	j.progress.end()
	if werr := j.writeRejects(); werr != nil {
		err = errors.Join(err, werr)
	}
	if err != nil {
		if t.tokens && o.files[0] != "-" {
			err = fmt.Errorf("%w\n%d rows are loaded; --resume %s goes on", err, j.rows, j.id)
		}
		return err
	}
	seconds := time.Since(start).Seconds()
	_, err = fmt.Fprintf(stdout, "loaded %d rows in %.2f s (%.0f rows/s)", j.rows, seconds, float64(j.rows)/seconds)
	if j.rejected > 0 {
		_, err = fmt.Fprintf(stdout, "; %d records left out: %s, %s.reasons", j.rejected, o.rejects, o.rejects)
	}
	_, _ = fmt.Fprintln(stdout)
	return err
}

// prepare looks at the first file, and makes the statement and the job's id.
func (j *job) prepare(ctx context.Context, stderr io.Writer) error {
	o := j.options
	if !j.target.tokens && (o.maxRejects > 0 || o.resume != "") {
		return errors.New("--max-rejects and --resume need a sqlots server")
	}
	switch o.format {
	case "csv":
		o.delimiter = cmp.Or(o.delimiter, ",")
		if o.quote != "" {
			j.cut.quote = o.quote[0]
		}
	default:
		o.delimiter = cmp.Or(o.delimiter, "\t")
		if o.format == "tsv" {
			j.cut.escape = '\\'
		}
	}
	j.newline = "\n"
	names := strings.FieldsFunc(o.columns, func(r rune) bool { return r == ',' })
	if o.files[0] != "-" && o.format != "jsonl" {
		var read atomic.Int64
		in, err := openInput(o.files[0], o.compression, &read)
		if err != nil {
			return err
		}
		first, err := in.record(j.cut)
		if err = errors.Join(err, in.close()); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if err := j.look(first, &names); err != nil {
			return err
		}
	} else if o.format != "jsonl" && o.header == "auto" {
		o.header = "no" // it cannot be read twice
	}
	if len(names) == 0 {
		for _, c := range j.target.columns {
			names = append(names, c.name)
		}
	}
	for _, n := range names {
		n = strings.TrimSpace(n)
		if j.target.find(n) == nil {
			if !o.ignoreUnknown {
				return fmt.Errorf("the table has no column %q (--ignore-unknown leaves such fields out)", n)
			}
			n = ""
		}
		j.fields = append(j.fields, n)
	}
	newline := j.newline
	if o.format == "jsonl" {
		newline = "\n"
	}
	j.statement = j.target.statement(o, j.fields, newline)
	return j.identify(ctx, stderr)
}

// look learns from the first record of the first file whether it is a header,
// and how lines end.
func (j *job) look(first []byte, names *[]string) error {
	o := j.options
	if bytes.HasSuffix(first, []byte("\r\n")) {
		j.newline = "\r\n"
	}
	fields, err := j.split(first)
	if err != nil {
		if o.header == "no" || o.header == "auto" {
			o.header = "no"
			return nil
		}
		return err
	}
	if o.header == "auto" {
		o.header = "no"
		if len(fields) > 0 && !slices.ContainsFunc(fields, func(f string) bool { return j.target.find(f) == nil }) {
			o.header = "yes"
		}
	}
	if o.header == "yes" && len(*names) == 0 {
		*names = fields
	}
	return nil
}

// split takes a header apart.
func (j *job) split(rec []byte) ([]string, error) {
	text := strings.TrimRight(string(rec), "\r\n")
	if j.format == "tsv" || j.quote == "" {
		return strings.Split(text, j.delimiter), nil
	}
	if j.quote != `"` {
		text = strings.ReplaceAll(text, j.quote, `"`)
	}
	r := csv.NewReader(strings.NewReader(text))
	r.Comma = rune(j.delimiter[0])
	return r.Read()
}

// identify makes the id of the job, or checks that of --resume: its end is a
// checksum of what decides about the pieces.
func (j *job) identify(ctx context.Context, stderr io.Writer) error {
	if !j.target.tokens {
		return nil
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\x00%s\x00%d\x00", j.statement, j.header, j.options.piece)
	for _, name := range j.files {
		size := int64(-1)
		if st, err := os.Stat(name); err == nil && name != "-" {
			size = st.Size()
		}
		fmt.Fprintf(h, "%s\x00%d\x00", filepath.Base(name), size)
	}
	sum := hex.EncodeToString(h.Sum(nil)[:4])
	if j.resume == "" {
		var b [6]byte
		_, _ = rand.Read(b[:]) // never fails
		j.id = hex.EncodeToString(b[:]) + sum
		if !j.quiet {
			_, _ = fmt.Fprintf(stderr, "job %s\n", j.id)
		}
		return nil
	}
	j.id = j.resume
	if !strings.HasSuffix(j.id, sum) {
		return fmt.Errorf("job %s was not this one: other files, options or columns", j.id)
	}
	return again(ctx, true, func() (err error) {
		j.done, err = j.target.loaded(ctx, "LIKE ?", j.id+":%")
		return err
	})
}

// run reads pieces and sends them.
func (j *job) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	pieces := make(chan piece)
	go func() {
		defer close(pieces)
		if err := j.read(ctx, pieces); err != nil {
			cancel(err)
		}
	}()
	var wg sync.WaitGroup
	for range j.jobs {
		wg.Go(func() {
			for p := range pieces {
				if ctx.Err() != nil {
					continue
				}
				if err := j.piece(ctx, p); err != nil {
					cancel(err)
				}
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// read cuts all files into pieces.
func (j *job) read(ctx context.Context, out chan<- piece) error {
	number := 0
	for _, name := range j.files {
		in, err := openInput(name, j.compression, &j.progress.read)
		if err != nil {
			return err
		}
		line := 1
		if j.header == "yes" && j.format != "jsonl" {
			if _, err := in.record(j.cut); err != nil && !errors.Is(err, io.EOF) {
				return errors.Join(err, in.close())
			}
			line++
		}
		for {
			data, err := in.piece(j.cut, int(j.options.piece), nil)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return errors.Join(err, in.close())
			}
			p := piece{number: number, line: line, file: name, data: data}
			number++
			// Counted here, as the next piece needs it.
			line += j.count(data)
			select {
			case out <- p:
			case <-ctx.Done():
				return errors.Join(context.Cause(ctx), in.close())
			}
		}
		if err := in.close(); err != nil {
			return err
		}
	}
	return nil
}

// count is the number of lines; a record may have several.
func (j *job) count(data []byte) int {
	n := bytes.Count(data, []byte{'\n'})
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

// piece loads one piece, again when the connection broke and the server keeps
// tokens.
func (j *job) piece(ctx context.Context, p piece) error {
	text := bytes.TrimRight(p.data, "\r\n") // empty lines at the end are no records
	if len(text) == 0 {
		return nil
	}
	text = p.data[:min(len(p.data), len(text)+len(j.newline))]
	var lines []int
	var bad []reject
	if j.format == "jsonl" {
		text, lines, bad = jsonText(p.data, j.fields, j.ignoreUnknown)
		if len(bad) > 0 && !j.target.tokens || len(bad) > j.maxRejects {
			return j.explain(p, bad[0].Line, errors.New(bad[0].Message))
		}
	}
	token := fmt.Sprintf("%s:%d", j.id, p.number)
	r, done := j.done[token]
	if !done {
		err := again(ctx, j.target.tokens, func() (err error) {
			j.mu.Lock()
			left := min(j.maxRejects-j.rejected-len(bad), 10000)
			j.mu.Unlock()
			r, err = j.target.send(ctx, j.statement, token, max(left, 0), text)
			return err
		})
		if err != nil {
			return j.explainLoad(p, lines, err)
		}
	}
	for _, x := range r.rejects {
		if lines != nil && x.Line <= len(lines) {
			x.Line = lines[x.Line-1]
		}
		bad = append(bad, x)
	}
	return j.took(p, r.rows, bad)
}

// took counts a piece and keeps its rejects.
func (j *job) took(p piece, rows int64, bad []reject) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.rows += rows
	j.rejected += len(bad)
	j.progress.add(rows, len(bad))
	if len(bad) > 0 {
		byLine := map[int]reject{}
		for _, b := range bad {
			byLine[b.Line] = b
		}
		line := p.line
		records(p.data, j.cut, func(n int, rec []byte) bool {
			if b, ok := byLine[n]; ok {
				j.lost = append(j.lost, lostRecord{p.file, line, b, bytes.Clone(rec)})
			}
			line += bytes.Count(rec, []byte{'\n'})
			return true
		})
	}
	if j.rejected > j.maxRejects {
		return fmt.Errorf("more than %d records cannot be stored", j.maxRejects)
	}
	return nil
}

// again calls fn, and up to nine times more while its errors are transient.
func again(ctx context.Context, repeat bool, fn func() error) error {
	for try := 1; ; try++ {
		err := fn()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !repeat || try == 10 || !transient(err) {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(try*try) * 50 * time.Millisecond):
		}
	}
}

// transient reports whether the same piece may succeed at another time.
func transient(err error) bool {
	var my *mysql.MySQLError
	if errors.As(err, &my) {
		return sqlerr.IsTransient(my.Number)
	}
	var ne net.Error
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &ne)
}

// explainLoad finds the record in the server's message: "Line n: …" or
// "… at row n".
func (j *job) explainLoad(p piece, lines []int, err error) error {
	var my *mysql.MySQLError
	if !errors.As(err, &my) {
		return err
	}
	n := 0
	if _, serr := fmt.Sscanf(my.Message, "Line %d:", &n); serr != nil {
		if i := strings.LastIndex(my.Message, "at row "); i >= 0 {
			_, _ = fmt.Sscanf(my.Message[i:], "at row %d", &n)
		}
	}
	if n <= 0 {
		return fmt.Errorf("%s, lines %d to %d: %w", p.file, p.line, p.line+j.count(p.data)-1, err)
	}
	if lines != nil && n <= len(lines) {
		n = lines[n-1]
	}
	return j.explain(p, n, err)
}

func (j *job) explain(p piece, n int, err error) error {
	text, line := "", p.line
	records(p.data, j.cut, func(i int, rec []byte) bool {
		if i == n {
			text = strings.TrimRight(string(rec[:min(len(rec), 200)]), "\r\n")
			return false
		}
		line += bytes.Count(rec, []byte{'\n'})
		return true
	})
	return fmt.Errorf("%s, line %d: %w\n  %s", p.file, line, err, text)
}

// writeRejects writes the records that were left out, with the header of the
// first file, and next to them their reasons.
func (j *job) writeRejects() error {
	if len(j.lost) == 0 {
		return nil
	}
	order := map[string]int{}
	for i, f := range j.files {
		order[f] = i
	}
	slices.SortFunc(j.lost, func(a, b lostRecord) int {
		return cmp.Or(cmp.Compare(order[a.file], order[b.file]), cmp.Compare(a.line, b.line))
	})
	var recs, reasons bytes.Buffer
	if j.header == "yes" {
		recs.WriteString(strings.Join(j.fields, j.delimiter) + j.newline)
	}
	for _, l := range j.lost {
		recs.Write(l.record)
		if !bytes.HasSuffix(l.record, []byte("\n")) {
			recs.WriteString(j.newline)
		}
		fmt.Fprintf(&reasons, "%s\t%d\t%d\t%s\n", l.file, l.line, l.reason.Code, strings.NewReplacer("\n", " ", "\t", " ").Replace(l.reason.Message))
	}
	return errors.Join(os.WriteFile(j.rejects, recs.Bytes(), 0o644), os.WriteFile(j.rejects+".reasons", reasons.Bytes(), 0o644))
}
