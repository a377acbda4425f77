package httpd

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/sqlots/sqlots/internal/guard"
	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// request is a body of POST /v1/query. All but SQL may be parameters of the URL, too.
type request struct {
	SQL       string            `json:"sql"`
	Params    []json.RawMessage `json:"params"`
	DB        string            `json:"db"`
	Format    string            `json:"format"`
	Session   string            `json:"session"`
	QueryID   string            `json:"query_id"`
	MaxRows   *uint64           `json:"max_rows"`
	TimeoutMS int64             `json:"timeout_ms"`
	Numbers   string            `json:"numbers"`
	Binary    string            `json:"binary"`
	Geometry  string            `json:"geometry"`
	Rows      string            `json:"rows"`
	Header    *bool             `json:"header"`
	Multi     bool              `json:"multi"`
	Gzip      *bool             `json:"gzip"`
}

// maxTimeout keeps timeout_ms in the range of a duration.
const maxTimeout = 1 << 40

// problem is an error that is not of SQL.
type problem struct {
	status int
	text   string
}

// Error implements error.
func (p *problem) Error() string { return p.text }

func bad(format string, args ...any) error {
	return &problem{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

// answer writes an error of any kind.
func answer(w http.ResponseWriter, r *http.Request, err error) {
	var p *problem
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &p):
		writeProblem(w, p.status, p.text)
	case errors.As(err, &tooLarge):
		writeError(w, r, sqlerr.PacketTooLarge())
	case errors.Is(err, errNoSession):
		writeProblem(w, http.StatusNotFound, err.Error())
	case errors.Is(err, errBusySession):
		writeProblem(w, http.StatusConflict, err.Error())
	default:
		writeError(w, r, mysqlwire.ErrorOf(r.Context(), err))
	}
}

// query is POST /v1/query.
func (s *Server) query(w http.ResponseWriter, r *http.Request) {
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
	body := &bodyMemory{memory: b.Memory}
	defer body.release()
	req, err := s.readRequest(w, r, b, body)
	if err != nil {
		answer(w, r, err)
		return
	}
	out := &results{w: w, control: http.NewResponseController(w), multi: req.Multi, maxRows: math.MaxUint64, start: time.Now()}
	if req.MaxRows != nil {
		out.maxRows = *req.MaxRows
	}
	if err := req.shape(r, out); err != nil {
		answer(w, r, err)
		return
	}
	params, err := req.params()
	if err != nil {
		answer(w, r, err)
		return
	}
	c, err := s.begin(w, r, b, id, call{db: req.DB, session: req.Session, queryID: req.QueryID, timeout: time.Duration(req.TimeoutMS) * time.Millisecond})
	if err != nil {
		answer(w, r, err)
		return
	}
	defer c.end()
	out.ctx, out.timeout = c.ctx, c.writeTimeout()
	out.flush = out.empty
	err = c.run(func() error {
		multi, canMulti := c.guest.Session.(mysqlwire.MultiStatementer)
		if canMulti {
			multi.SetMultiStatements(req.Multi)
		}
		if params == nil {
			return c.guest.Query(c.ctx, trimmed(req.SQL), out)
		}
		return c.execute(req.SQL, params, out)
	})
	c.leave()
	out.finish(r, err)
}

// trimmed is a text as the wire takes it: without what MySQL leaves out at its end.
func trimmed(text string) string { return strings.TrimRight(text, "\x00; \t\r\n\v\f") }

// takeStream counts one more query or load. False: it has answered.
func (s *Server) takeStream(w http.ResponseWriter) bool {
	select {
	case s.streams <- struct{}{}:
		return true
	default:
		writeProblem(w, http.StatusTooManyRequests, "too many queries and loads run")
		return false
	}
}

// readRequest reads the body and the URL of a query.
func (s *Server) readRequest(w http.ResponseWriter, r *http.Request, b *Backend, mem *bodyMemory) (*request, error) {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil && r.Header.Get("Content-Type") != "" {
		return nil, bad("Content-Type: %s", err)
	}
	switch media {
	case "", "text/plain", "application/sql", "application/json", "application/x-www-form-urlencoded": // the last one is curl's
	default:
		return nil, &problem{http.StatusUnsupportedMediaType, "the body has to be text/plain with SQL, or application/json"}
	}
	body, err := openBody(w, r)
	if err != nil {
		return nil, err
	}
	text, err := mem.read(body, b.MaxPacket())
	if err != nil {
		return nil, err
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // or it would end the statement
	req := &request{}
	if media == "application/json" {
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(req); err != nil {
			return nil, bad("the body is no request as openapi.json describes it: %s", err)
		}
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			return nil, bad("the body has more than one object")
		}
	} else {
		req.SQL = string(text)
	}
	if err := req.fromURL(r.URL.Query()); err != nil {
		return nil, err
	}
	if v := r.Header.Get(sessionHeader); v != "" {
		req.Session = v
	}
	if v := r.Header.Get(queryHeader); v != "" {
		req.QueryID = v
	}
	switch {
	case len(req.QueryID) > maxQueryID || strings.ContainsFunc(req.QueryID, func(c rune) bool { return c <= ' ' || c > '~' || c == '/' }):
		return nil, bad("query_id has to be up to %d visible characters of ASCII without /", maxQueryID)
	case req.TimeoutMS < 0 || req.TimeoutMS > maxTimeout:
		return nil, bad("timeout_ms is not valid")
	case req.Multi && req.Params != nil:
		return nil, bad("several statements cannot have params")
	}
	return req, nil
}

// queryParameters are those of the URL of /v1/query.
var queryParameters = map[string]func(r *request, v string) error{
	"db":       func(r *request, v string) error { r.DB = v; return nil },
	"format":   func(r *request, v string) error { r.Format = v; return nil },
	"session":  func(r *request, v string) error { r.Session = v; return nil },
	"query_id": func(r *request, v string) error { r.QueryID = v; return nil },
	"numbers":  func(r *request, v string) error { r.Numbers = v; return nil },
	"binary":   func(r *request, v string) error { r.Binary = v; return nil },
	"geometry": func(r *request, v string) error { r.Geometry = v; return nil },
	"rows":     func(r *request, v string) error { r.Rows = v; return nil },
	"params":   func(r *request, v string) error { return json.Unmarshal([]byte(v), &r.Params) },
	"max_rows": func(r *request, v string) error {
		n, err := strconv.ParseUint(v, 10, 64)
		r.MaxRows = &n
		return err
	},
	"timeout_ms": func(r *request, v string) (err error) {
		r.TimeoutMS, err = strconv.ParseInt(v, 10, 64)
		return err
	},
	"header": func(r *request, v string) error {
		on, err := strconv.ParseBool(v)
		r.Header = &on
		return err
	},
	"multi": func(r *request, v string) (err error) {
		r.Multi, err = strconv.ParseBool(v)
		return err
	},
	"gzip": func(r *request, v string) error {
		on, err := strconv.ParseBool(v)
		r.Gzip = &on
		return err
	},
}

func (req *request) fromURL(q url.Values) error {
	for name, values := range q {
		set := queryParameters[name]
		if set == nil {
			return bad("unknown parameter %q", name)
		}
		if err := set(req, values[len(values)-1]); err != nil {
			return bad("parameter %s: %q is not valid", name, values[len(values)-1])
		}
	}
	return nil
}

// shape takes over the form of the response.
func (req *request) shape(r *http.Request, out *results) error {
	name := req.Format
	if name == "" {
		name = accepted(r.Header.Get("Accept"))
	}
	f, ok := formats[name]
	if !ok {
		return bad("unknown format %q: ndjson, json, csv or tsv", name)
	}
	out.format, out.media = f.format, f.media
	json := f.format.isJSON()
	out.binary, out.geometry, out.names = "raw", "raw", f.format == formatCSV
	if json {
		out.binary, out.geometry = "base64", "wkt"
	}
	if req.Header != nil {
		out.names = *req.Header
	}
	one := func(name, v, def string, to *string, of ...string) error {
		if v == "" {
			v = def
		}
		for _, x := range of {
			if v == x {
				*to = v
				return nil
			}
		}
		return bad("%s: %q is none of %s", name, v, strings.Join(of, ", "))
	}
	var numbers, rows string
	binaries := []string{"base64", "hex", "raw"}
	if json {
		binaries = binaries[:2]
	}
	if err := errors.Join(
		one("numbers", req.Numbers, "number", &numbers, "number", "string"),
		one("rows", req.Rows, "arrays", &rows, "arrays", "objects"),
		one("binary", req.Binary, out.binary, &out.binary, binaries...),
		one("geometry", req.Geometry, out.geometry, &out.geometry, "wkt", "geojson", "raw"),
	); err != nil {
		return bad("%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	out.quoteLong, out.objects = numbers == "string", json && rows == "objects"
	switch {
	case req.Gzip != nil && *req.Gzip:
		out.gzip = gzipAlways
	case req.Gzip == nil && acceptsGzip(r.Header.Get("Accept-Encoding")):
		out.gzip = gzipLarge
	}
	return nil
}

// preferences are the elements of a header such as Accept with a quality above 0, the best
// first among equals in order.
func preferences(header string) []string {
	type choice struct {
		name string
		q    float64
	}
	var list []choice
	for _, part := range strings.Split(header, ",") {
		name, params, _ := strings.Cut(part, ";")
		c := choice{strings.ToLower(strings.TrimSpace(name)), 1}
		for _, p := range strings.Split(params, ";") {
			if v, ok := strings.CutPrefix(strings.TrimSpace(p), "q="); ok {
				c.q, _ = strconv.ParseFloat(v, 64)
			}
		}
		if c.name == "" || !(c.q > 0) {
			continue
		}
		at := len(list)
		for at > 0 && list[at-1].q < c.q {
			at--
		}
		list = append(list[:at], append([]choice{c}, list[at:]...)...)
	}
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = c.name
	}
	return names
}

// accepted is the format that a header Accept prefers.
func accepted(header string) string {
	for _, media := range preferences(header) {
		switch media {
		case "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines":
			return "ndjson"
		case "application/json":
			return "json"
		case "text/csv":
			return "csv"
		case "text/tab-separated-values":
			return "tsv"
		}
	}
	return "ndjson"
}

func acceptsGzip(header string) bool {
	for _, name := range preferences(header) {
		if name == "gzip" {
			return true
		}
	}
	return false
}

// params are the parameters of the statement; nil for none.
func (req *request) params() ([]mysqlwire.Param, error) {
	if req.Params == nil {
		return nil, nil
	}
	list := make([]mysqlwire.Param, len(req.Params))
	for i, raw := range req.Params {
		p, err := param(raw)
		if err != nil {
			return nil, bad("params[%d]: %s", i, err)
		}
		list[i] = p
	}
	return list, nil
}

// param is a parameter: null, a boolean, a number, a text, or {"base64": "…"} for bytes.
// Numbers keep their value: those with an exponent are DOUBLE, others with a point DECIMAL.
func param(raw json.RawMessage) (mysqlwire.Param, error) {
	typ := func(id schema.TypeID) schema.Type {
		return schema.Type{ID: id, Len: schema.UnspecifiedLength, Scale: schema.UnspecifiedLength, Collation: schema.CollationBinary}
	}
	text := schema.Type{ID: schema.TypeVarchar, Len: schema.UnspecifiedLength, Collation: schema.CollationUTF8MB40900AICI}
	raw = bytes.TrimSpace(raw)
	switch raw[0] {
	case 'n':
		return mysqlwire.Param{Type: typ(schema.TypeNull)}, nil
	case 't', 'f':
		return mysqlwire.Param{D: value.Bool(raw[0] == 't'), Type: typ(schema.TypeBigInt)}, nil
	case '"':
		var s string
		err := json.Unmarshal(raw, &s)
		return mysqlwire.Param{D: value.String(s), Type: text}, err
	case '{':
		var b struct {
			Base64 *string `json:"base64"`
		}
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		if d.Decode(&b) == nil && b.Base64 != nil {
			bin, err := base64.StdEncoding.DecodeString(*b.Base64)
			return mysqlwire.Param{D: value.Bytes(bin), Type: typ(schema.TypeBlob)}, err
		}
		return mysqlwire.Param{}, errors.New(`an object has to be {"base64": "…"}; send JSON as a string`)
	case '[':
		return mysqlwire.Param{}, errors.New("an array is no parameter; send JSON as a string")
	}
	if i, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return mysqlwire.Param{D: value.Int(i), Type: typ(schema.TypeBigInt)}, nil
	}
	if u, err := strconv.ParseUint(string(raw), 10, 64); err == nil {
		t := typ(schema.TypeBigInt)
		t.Unsigned = true
		return mysqlwire.Param{D: value.Uint(u), Type: t}, nil
	}
	if bytes.ContainsAny(raw, "eE") {
		f, err := strconv.ParseFloat(string(raw), 64)
		return mysqlwire.Param{D: value.Float(f), Type: typ(schema.TypeDouble)}, err
	}
	d, err := value.ParseDecimal(string(raw))
	if err != nil {
		return mysqlwire.Param{}, err
	}
	t := typ(schema.TypeDecimal)
	t.Len, t.Scale = max(d.Digits(), d.Scale(), 1), d.Scale()
	return mysqlwire.Param{D: value.Dec(d), Type: t}, nil
}

// bodyMemory counts a body that is kept in memory.
type bodyMemory struct {
	memory mysqlwire.Memory
	n      int64
}

func (m *bodyMemory) release() { m.memory.Release(m.n) }

// read reads at most limit bytes; 1153 for more.
func (m *bodyMemory) read(in io.Reader, limit int) ([]byte, error) {
	var buf []byte
	for {
		if len(buf) == cap(buf) {
			size := min(max(2*cap(buf), 4<<10), limit+1)
			if size <= len(buf) {
				return nil, sqlerr.PacketTooLarge()
			}
			// What is read is copied by those who parse it.
			n := int64(3 * (size - cap(buf)))
			if err := m.memory.Reserve(n); err != nil {
				return nil, err
			}
			m.n += n
			grown := make([]byte, len(buf), size)
			copy(grown, buf)
			buf = grown
		}
		n, err := in.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if len(buf) > limit {
			return nil, sqlerr.PacketTooLarge()
		}
		if errors.Is(err, io.EOF) {
			return buf, nil
		}
		if err != nil {
			return nil, bodyError(err)
		}
	}
}

// bodyError is an error of reading a body.
func bodyError(err error) error {
	var e *sqlerr.Error
	if errors.As(err, &e) {
		return err
	}
	return bad("reading the body: %s", err)
}

// openBody is the body of a request, decompressed, whose sender has to go on sending.
func openBody(w http.ResponseWriter, r *http.Request) (io.Reader, error) {
	body := io.Reader(&timedBody{r: r.Body, control: http.NewResponseController(w)})
	switch enc := r.Header.Get("Content-Encoding"); enc {
	case "", "identity":
		return body, nil
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(body)
		if err != nil {
			return nil, bad("the body is not compressed by gzip: %s", err)
		}
		return z, nil
	default:
		return nil, &problem{http.StatusUnsupportedMediaType, fmt.Sprintf("Content-Encoding %q: only gzip is known", enc)}
	}
}

// timedBody bounds the time between bytes of a body.
type timedBody struct {
	r       io.Reader
	control *http.ResponseController
}

// Read implements io.Reader.
func (t *timedBody) Read(p []byte) (int, error) {
	_ = t.control.SetReadDeadline(time.Now().Add(readTimeout))
	return t.r.Read(p)
}

// call is how a request uses a session.
type call struct {
	db, session, queryID string
	timeout              time.Duration
}

// work is a request that has a guest.
type work struct {
	s       *Server
	guest   *mysqlwire.Guest
	ctx     context.Context
	cancel  context.CancelCauseFunc
	ends    []func() // in reverse order
	leaves  []func() // the same, of the guest
	broken  func()   // ends the guest
	control *http.ResponseController
}

// begin finds or makes the guest of a request, and lets it be cancelled.
func (s *Server) begin(w http.ResponseWriter, r *http.Request, b *Backend, id *identity, c call) (*work, error) {
	x := &work{s: s, control: http.NewResponseController(w)}
	ctx := r.Context()
	if p := r.Header.Get("traceparent"); p != "" {
		ctx = metrics.WithParent(ctx, p)
	}
	x.ctx, x.cancel = context.WithCancelCause(ctx)
	x.ends = append(x.ends, func() { x.cancel(nil) })
	if err := x.open(r, b, id, &c); err != nil {
		x.end()
		return nil, err
	}
	w.Header().Set(queryHeader, c.queryID)
	if x.guest.Context().Err() != nil {
		x.cancel(context.Cause(x.guest.Context()))
	}
	stop := context.AfterFunc(x.guest.Context(), func() { x.cancel(context.Cause(x.guest.Context())) })
	x.leaves = append(x.leaves, func() { stop() })
	// What waits for the client to read or send is let go soon after.
	unblock := context.AfterFunc(x.ctx, func() {
		_ = x.control.SetReadDeadline(time.Now())
		_ = x.control.SetWriteDeadline(time.Now().Add(forceAfter))
	})
	x.ends = append(x.ends, func() { unblock() })
	if c.timeout > 0 {
		t := time.AfterFunc(c.timeout, func() { x.cancel(sqlerr.QueryTimeout()) })
		x.ends = append(x.ends, func() { t.Stop() })
	}
	return x, nil
}

func (x *work) open(r *http.Request, b *Backend, id *identity, c *call) error {
	s := x.s
	if c.queryID == "" {
		c.queryID = newToken()[:22]
	}
	if c.session != "" {
		kept, free, err := s.use(hash(c.session), id)
		if err != nil {
			return err
		}
		x.guest, x.broken = kept.guest, func() { s.sessions.end(kept) }
		x.leaves = append(x.leaves, free)
		if c.db != "" {
			if x.sandboxed() {
				return sqlerr.MustChangePassword()
			}
			if err := x.run(func() error { return x.guest.UseDatabase(x.ctx, c.db) }); err != nil {
				return err
			}
		}
	} else {
		g, err := s.enter(x.ctx, b, r, id, c.db, c.queryID, func() {})
		if err != nil {
			return err
		}
		closed := false
		x.guest, x.broken = g, func() {
			if !closed {
				closed = true
				_ = guard.Run(func() error { g.Close(); return nil })
			}
		}
		x.leaves = append(x.leaves, func() { x.broken() })
	}
	q := &query{key: queryKey{id.name(), c.queryID}, guest: x.guest, cancel: x.cancel}
	if !s.running.add(q) {
		return &problem{http.StatusConflict, "a query with this query_id runs"}
	}
	x.leaves = append(x.leaves, func() { s.running.remove(q) })
	return nil
}

// leave gives up the guest. It precedes the end of the response, after which the client
// may use its session or its connection again at once.
func (x *work) leave() {
	for i := len(x.leaves) - 1; i >= 0; i-- {
		x.leaves[i]()
	}
	x.leaves = nil
}

// end gives up all that begin took.
func (x *work) end() {
	x.leave()
	for i := len(x.ends) - 1; i >= 0; i-- {
		x.ends[i]()
	}
}

// run calls fn. After a panic the guest is ended, as its state is unknown.
func (x *work) run(fn func() error) error {
	err := guard.Run(fn)
	var p *guard.Panic
	if errors.As(err, &p) {
		guard.Log(x.s.cfg.Logger, "running a statement of HTTP", err)
		_ = guard.Run(func() error { x.broken(); return nil })
		return sqlerr.Bug()
	}
	return err
}

func (x *work) sandboxed() bool {
	s, ok := x.guest.Session.(mysqlwire.Sandboxer)
	return ok && s.Sandboxed()
}

// execute runs a statement with parameters.
func (x *work) execute(text string, params []mysqlwire.Param, out mysqlwire.ResultWriter) error {
	if x.sandboxed() {
		return sqlerr.MustChangePassword()
	}
	p, err := x.guest.Prepare(x.ctx, trimmed(text))
	if err != nil {
		return err
	}
	defer x.guest.CloseStatement(p.ID)
	if p.Params != len(params) {
		return bad("the statement has %d parameters, params has %d", p.Params, len(params))
	}
	return x.guest.Execute(x.ctx, p.ID, params, out)
}

// writeTimeout is the time that a client has to take a part of the response.
func (x *work) writeTimeout() time.Duration {
	return max(time.Duration(x.guest.NetWriteTimeout())*time.Second, time.Second)
}
