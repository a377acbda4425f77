package httpd

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/sqlots/sqlots/internal/jsonlines"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

const (
	maxRejects = 10000    // as sqlots_load_rejects
	maxHeader  = 1 << 20  // bytes of a line of names
	maxRecord  = 64 << 20 // bytes of a line of JSON
	maxWindow  = 32 << 20 // bytes that zstd looks back
	maxToken   = 100      // bytes of an Idempotency-Key
	maxSkipped = 1 << 16  // lines of JSON that are not records, whose numbers are kept
)

// loadRequest is the URL of POST /v1/load.
type loadRequest struct {
	db, table, format, queryID, null, delimiter string
	columns                                     []string // "" leaves a field out
	fields                                      []string // keys of JSON; nil: those of columns
	header                                      *bool
	hasNull, replace, ignoreUnknown, booleans   bool
	rejects                                     int
	timeout                                     time.Duration
}

// loadParameters are those of the URL of /v1/load.
var loadParameters = map[string]func(r *loadRequest, v string) error{
	"db":       func(r *loadRequest, v string) error { r.db = v; return nil },
	"table":    func(r *loadRequest, v string) error { r.table = v; return nil },
	"format":   func(r *loadRequest, v string) error { r.format = v; return nil },
	"query_id": func(r *loadRequest, v string) error { r.queryID = v; return nil },
	"columns":  func(r *loadRequest, v string) (err error) { r.columns, err = nameList(v); return err },
	"fields":   func(r *loadRequest, v string) (err error) { r.fields, err = nameList(v); return err },
	"null":     func(r *loadRequest, v string) error { r.null, r.hasNull = v, true; return nil },
	"delimiter": func(r *loadRequest, v string) error {
		r.delimiter = v
		if len(v) != 1 {
			return errors.New("one byte")
		}
		return nil
	},
	"header": func(r *loadRequest, v string) error {
		on, err := strconv.ParseBool(v)
		r.header = &on
		return err
	},
	"replace": func(r *loadRequest, v string) (err error) {
		r.replace, err = strconv.ParseBool(v)
		return err
	},
	"booleans": func(r *loadRequest, v string) (err error) {
		r.booleans, err = strconv.ParseBool(v)
		return err
	},
	"ignore_unknown": func(r *loadRequest, v string) (err error) {
		r.ignoreUnknown, err = strconv.ParseBool(v)
		return err
	},
	"max_rejects": func(r *loadRequest, v string) (err error) {
		if r.rejects, err = strconv.Atoi(v); r.rejects < 0 || r.rejects > maxRejects {
			err = errors.New("out of range")
		}
		return err
	},
	"timeout_ms": func(r *loadRequest, v string) error {
		n, err := strconv.ParseInt(v, 10, 64)
		if n < 0 || n > maxTimeout {
			err = errors.New("out of range")
		}
		r.timeout = time.Duration(n) * time.Millisecond
		return err
	},
}

// nameList is names that are separated by commas, or an array of JSON.
func nameList(v string) (list []string, err error) {
	if strings.HasPrefix(v, "[") {
		err = json.Unmarshal([]byte(v), &list)
		return list, err
	}
	return strings.Split(v, ","), nil
}

// loadFormats are the formats of /v1/load, by name and media type.
var loadFormats = map[string]string{
	"csv": "csv", "tsv": "tsv", "ndjson": "ndjson", "jsonl": "ndjson",
	"text/csv": "csv", "text/tab-separated-values": "tsv", "application/x-ndjson": "ndjson", "application/jsonl": "ndjson",
}

func readLoad(r *http.Request) (*loadRequest, error) {
	req := &loadRequest{}
	q := r.URL.Query()
	for name, values := range q {
		set := loadParameters[name]
		if set == nil {
			return nil, bad("unknown parameter %q", name)
		}
		if err := set(req, values[len(values)-1]); err != nil {
			return nil, bad("parameter %s: %q is not valid", name, values[len(values)-1])
		}
	}
	if req.format == "" {
		req.format, _, _ = mime.ParseMediaType(r.Header.Get("Content-Type"))
	}
	f := loadFormats[req.format]
	if f == "" {
		return nil, bad("unknown format %q: csv, tsv or ndjson, as the parameter format or by Content-Type", req.format)
	}
	req.format = f
	if db, table, ok := strings.Cut(req.table, "."); ok && !q.Has("db") {
		req.db, req.table = db, table
	}
	if req.db == "" || req.table == "" {
		return nil, bad("the parameter table has to be database.table")
	}
	if req.fields != nil && (req.format != "ndjson" || len(req.fields) != len(req.columns)) {
		return nil, bad("the parameter fields names the keys of JSON for as many columns")
	}
	return req, nil
}

// load is POST /v1/load: LOAD DATA LOCAL with the body as the file.
func (s *Server) load(w http.ResponseWriter, r *http.Request) {
	b, ok := s.backend(w)
	if !ok {
		return
	}
	id, ok := s.identify(w, r, b)
	if !ok {
		return
	}
	if !s.takeStream(w) {
		return
	}
	defer func() { <-s.streams }()
	start := time.Now()
	req, err := readLoad(r)
	if err != nil {
		answer(w, r, err)
		return
	}
	token := r.Header.Get("Idempotency-Key")
	if len(token) > maxToken {
		answer(w, r, bad("Idempotency-Key has at most %d bytes", maxToken))
		return
	}
	if token != "" {
		token = "http/" + clip(id.account.User+"@"+id.account.Host, 199-len(token)-len("http/")) + "/" + token
	}
	c, err := s.begin(w, r, b, id, call{queryID: req.queryID, timeout: req.timeout})
	if err != nil {
		answer(w, r, err)
		return
	}
	defer c.end()
	var done *loaded
	err = c.run(func() (err error) {
		if c.sandboxed() {
			return sqlerr.MustChangePassword()
		}
		done, err = c.load(w, r, req, token)
		return err
	})
	c.leave()
	if err != nil {
		if c.ctx.Err() != nil {
			w.Header().Set("Connection", "close")
			err = mysqlwire.ErrorOf(c.ctx, err)
		}
		_ = c.control.SetWriteDeadline(time.Now().Add(writeTimeout))
		var e *sqlerr.Error
		if errors.As(err, &e) && sqlerr.IsNoSuchTable(e) {
			writeFailure(w, r, http.StatusNotFound, appendError(nil, e, 0))
			return
		}
		answer(w, r, err)
		return
	}
	_ = c.control.SetWriteDeadline(time.Now().Add(writeTimeout))
	done.ElapsedMS = time.Since(start).Milliseconds()
	writeObject(w, http.StatusOK, done)
}

// loaded is the answer to a load.
type loaded struct {
	Rows         int64    `json:"rows"`
	AffectedRows uint64   `json:"affected_rows"`
	LoadedBefore bool     `json:"loaded_before,omitempty"`
	Rejects      []reject `json:"rejects"`
	ElapsedMS    int64    `json:"elapsed_ms"`
}

// reject is a record that was left out; lines count from 1, without the line of names.
type reject struct {
	Line    int    `json:"line"`
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// literal is a text that means the same in each sql_mode.
func literal(s string) string { return "x'" + hex.EncodeToString([]byte(s)) + "'" }

func textLiteral(s string) string { return "_utf8mb4 " + literal(s) }

func quoteName(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }

// ask runs a statement and keeps its rows.
func (x *work) ask(text string) (*table, error) {
	t := &table{}
	return t, x.guest.Query(x.ctx, text, t)
}

// tableColumn is a column that a load can fill.
type tableColumn struct {
	name       string
	hasDefault bool // NOT NULL, with a default of its own
	boolean    bool // TINYINT(1)
}

// columns are those of the table; the error of SHOW COLUMNS if the account sees none.
func (x *work) columns(req *loadRequest) ([]tableColumn, error) {
	t, err := x.ask("SELECT COLUMN_NAME, IS_NULLABLE = 'NO' AND COLUMN_DEFAULT IS NOT NULL AND EXTRA NOT LIKE '%auto_increment%', COLUMN_TYPE LIKE 'tinyint(1)%' FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = " +
		textLiteral(req.db) + " AND TABLE_NAME = " + textLiteral(req.table) + " AND EXTRA NOT LIKE '%VIRTUAL GENERATED%' AND EXTRA NOT LIKE '%STORED GENERATED%' ORDER BY ORDINAL_POSITION")
	if err != nil {
		return nil, err
	}
	if len(t.rows) == 0 {
		if _, err := x.ask("SHOW COLUMNS FROM " + quoteName(req.db) + "." + quoteName(req.table)); err != nil {
			return nil, err
		}
	}
	list := make([]tableColumn, len(t.rows))
	for i, r := range t.rows {
		list[i] = tableColumn{r[0], r[1] == "1", r[2] == "1"}
	}
	return list, nil
}

func findColumn(list []tableColumn, name string) *tableColumn {
	i := slices.IndexFunc(list, func(c tableColumn) bool { return strings.EqualFold(c.name, name) })
	if i < 0 {
		return nil
	}
	return &list[i]
}

// load loads the body of a request.
func (x *work) load(w http.ResponseWriter, r *http.Request, req *loadRequest, token string) (*loaded, error) {
	if _, err := x.ask(fmt.Sprintf("SET SESSION sqlots_load_strict = ON, sqlots_load_rejects = %d, sqlots_load_token = %s, max_error_count = %d", req.rejects, textLiteral(token), maxRejects+100)); err != nil {
		return nil, err
	}
	cols, err := x.columns(req)
	if err != nil {
		return nil, err
	}
	body, closeFile, err := openFile(w, r)
	if err != nil {
		return nil, err
	}
	defer closeFile()
	newline := "\n"
	names := req.columns
	in := io.Reader(body)
	if req.format != "ndjson" {
		first, err := firstRecord(body, req.format == "csv")
		if err != nil {
			return nil, err
		}
		if bytes.HasSuffix(first, []byte("\r\n")) {
			newline = "\r\n"
		}
		fields, ferr := splitHeader(first, req)
		isHeader := ferr == nil && len(fields) > 0 && !slices.ContainsFunc(fields, func(f string) bool { return findColumn(cols, f) == nil })
		if req.header != nil {
			isHeader = *req.header
		}
		switch {
		case isHeader && ferr != nil:
			return nil, bad("the line of names: %s", ferr)
		case !isHeader:
			in = io.MultiReader(bytes.NewReader(first), body)
		case names == nil:
			names = fields
		}
	}
	if names == nil {
		for _, c := range cols {
			names = append(names, c.name)
		}
	}
	for i, n := range names {
		c := findColumn(cols, strings.TrimSpace(n))
		switch {
		case c != nil:
			names[i] = c.name
		case req.ignoreUnknown || n == "" && req.columns != nil:
			names[i] = ""
		default:
			return nil, bad("the table has no column %q that can be loaded (ignore_unknown=1 leaves such fields out)", n)
		}
	}
	var lines *jsonReader
	if req.format == "ndjson" {
		fields := names
		if req.fields != nil {
			fields = req.fields
		}
		lines = &jsonReader{in: body, row: jsonlines.NewRow(fields, req.ignoreUnknown), rejects: req.rejects}
		in, newline = lines, "\n"
	}
	t := &table{file: io.NopCloser(in)}
	if err := x.guest.Query(x.ctx, loadStatement(req, cols, names, newline), t); err != nil {
		return nil, err
	}
	return x.loaded(t, lines)
}

// loadStatement is the LOAD DATA of a request; names are the columns of the fields, "" for
// one that is left out.
func loadStatement(req *loadRequest, cols []tableColumn, names []string, newline string) string {
	var b strings.Builder
	b.WriteString("LOAD DATA LOCAL INFILE 'body' ")
	if req.replace {
		b.WriteString("REPLACE ")
	}
	b.WriteString("INTO TABLE " + quoteName(req.db) + "." + quoteName(req.table) + " CHARACTER SET utf8mb4 ")
	if req.format == "csv" {
		b.WriteString("FIELDS TERMINATED BY " + literal(or(req.delimiter, ",")) + " OPTIONALLY ENCLOSED BY " + literal(`"`) + " ESCAPED BY '' ")
	} else {
		b.WriteString("FIELDS TERMINATED BY " + literal(or(req.delimiter, "\t")) + " ESCAPED BY " + literal(`\`) + " ")
	}
	b.WriteString("LINES TERMINATED BY " + literal(newline) + " (")
	var set []string
	for i, name := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		v := "@sqlots_field_" + strconv.Itoa(i)
		switch c := findColumn(cols, name); {
		case c == nil:
			b.WriteString(v)
		case req.format == "ndjson" && c.hasDefault:
			b.WriteString(v)
			set = append(set, fmt.Sprintf("%s = IFNULL(%s, DEFAULT(%s))", quoteName(name), v, quoteName(name)))
		case req.format != "ndjson" && (req.hasNull || req.booleans && c.boolean):
			b.WriteString(v)
			if req.booleans && c.boolean {
				v = fmt.Sprintf("CASE LOWER(%[1]s) WHEN 'true' THEN '1' WHEN 'false' THEN '0' ELSE %[1]s END", v)
			}
			if req.hasNull {
				v = fmt.Sprintf("NULLIF(%s, %s)", v, textLiteral(req.null))
			}
			set = append(set, quoteName(name)+" = "+v)
		default:
			b.WriteString(quoteName(name))
		}
	}
	b.WriteString(")")
	if len(set) > 0 {
		b.WriteString(" SET " + strings.Join(set, ", "))
	}
	return b.String()
}

func or(s, def string) string {
	if s == "" {
		return def
	}
	return s
}

// loaded is what a LOAD DATA has done, by its answer and its warnings.
func (x *work) loaded(t *table, lines *jsonReader) (*loaded, error) {
	out := &loaded{AffectedRows: t.ok.AffectedRows, Rejects: []reject{}}
	var records, deleted, skipped int64
	_, _ = fmt.Sscanf(t.ok.Info, "Records: %d  Deleted: %d  Skipped: %d", &records, &deleted, &skipped)
	out.Rows = records - skipped
	warnings, err := x.ask("SHOW WARNINGS")
	if err != nil {
		return nil, err
	}
	for _, r := range warnings.rows {
		if strings.HasPrefix(r[2], "Loaded before: ") {
			out.LoadedBefore = true
		}
		var e reject
		if n, _ := fmt.Sscanf(r[2], "Line %d left out:", &e.Line); n != 1 {
			continue
		}
		e.Code, _ = strconv.Atoi(r[1])
		_, e.Message, _ = strings.Cut(r[2], " left out: ")
		if lines != nil {
			e.Line = lines.lineOf(e.Line)
		}
		out.Rejects = append(out.Rejects, e)
	}
	if lines != nil {
		out.Rejects = append(out.Rejects, lines.bad...)
		slices.SortStableFunc(out.Rejects, func(a, b reject) int { return a.Line - b.Line })
	}
	return out, nil
}

// openFile is the body of a load, decompressed and without a mark of byte order. It is
// compressed if its header or its first bytes say so. The function frees what it has.
func openFile(w http.ResponseWriter, r *http.Request) (*bufio.Reader, func(), error) {
	body, err := openBody(w, r)
	if err != nil {
		return nil, nil, err
	}
	in, closeFile := bufio.NewReaderSize(erring{body}, 256<<10), func() {}
	switch head, _ := in.Peek(4); {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, nil, bad("the body is not compressed by gzip: %s", err)
		}
		in = bufio.NewReaderSize(erring{z}, 256<<10)
	case bytes.Equal(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, nil, bad("the body is not compressed by zstd: %s", err)
		}
		in, closeFile = bufio.NewReaderSize(erring{z}, 256<<10), z.Close
	}
	if head, _ := in.Peek(3); bytes.Equal(head, []byte("\xef\xbb\xbf")) {
		_, _ = in.Discard(3)
	}
	return in, closeFile, nil
}

// erring says of errors where they come from.
type erring struct{ io.Reader }

// Read implements io.Reader.
func (e erring) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = bodyError(err)
	}
	return n, err
}

// firstRecord reads one record, to the end of its line outside of quotes.
func firstRecord(in *bufio.Reader, quotes bool) ([]byte, error) {
	var rec []byte
	for {
		part, err := in.ReadSlice('\n')
		rec = append(rec, part...)
		switch {
		case errors.Is(err, io.EOF):
			return rec, nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(rec) > maxHeader:
			return rec, nil // no line of names
		case err == nil && !(quotes && bytes.Count(rec, []byte{'"'})%2 == 1):
			return rec, nil
		}
	}
}

func splitHeader(rec []byte, req *loadRequest) ([]string, error) {
	text := strings.TrimRight(string(rec), "\r\n")
	if req.format == "tsv" {
		return strings.Split(text, or(req.delimiter, "\t")), nil
	}
	c := csv.NewReader(strings.NewReader(text))
	c.Comma = rune(or(req.delimiter, ",")[0])
	return c.Read()
}

// jsonReader makes fields of lines of JSON.
type jsonReader struct {
	in      *bufio.Reader
	row     *jsonlines.Row
	rejects int // that are allowed
	bad     []reject
	line    int   // lines read
	made    int   // lines made of them
	skipped []int // numbers of made lines before which a line was left out
	out     []byte
	next    int // of out, to read
	rec     []byte
	err     error
}

// Read implements io.Reader.
func (j *jsonReader) Read(p []byte) (int, error) {
	for j.next == len(j.out) {
		if j.err != nil {
			return 0, j.err
		}
		j.out, j.next = j.out[:0], 0
		for len(j.out) < 32<<10 && j.err == nil {
			j.err = j.record()
		}
	}
	n := copy(p, j.out[j.next:])
	j.next += n
	return n, nil
}

// record makes a line of the next record.
func (j *jsonReader) record() error {
	j.rec = j.rec[:0]
	var err error
	for {
		var part []byte
		part, err = j.in.ReadSlice('\n')
		j.rec = append(j.rec, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
		if len(j.rec) > maxRecord {
			return sqlerr.PacketTooLarge()
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if len(j.rec) > 0 {
		j.line++
	}
	if len(bytes.TrimSpace(j.rec)) == 0 {
		if len(j.rec) > 0 && len(j.skipped) < maxSkipped {
			j.skipped = append(j.skipped, j.made)
		}
		return err
	}
	var wrong error
	if j.out, wrong = j.row.Append(j.out, j.rec); wrong == nil {
		j.made++
		return err
	}
	e := sqlerr.InvalidJSONLine(j.line, wrong.Error())
	if len(j.bad) >= j.rejects {
		return e
	}
	j.bad = append(j.bad, reject{Line: j.line, Code: int(e.Number), Message: wrong.Error()})
	j.skipped = append(j.skipped, j.made)
	return err
}

// lineOf is the line of JSON of which a line was made.
func (j *jsonReader) lineOf(made int) int {
	n, _ := slices.BinarySearch(j.skipped, made)
	return made + n
}
