package mysqlwire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// fakeBackend answers a small language instead of SQL.
type fakeBackend struct {
	accounts  map[string]Account
	blocked   func(a *Account, right bool) error // nil: LoginTried allows all
	maxPacket atomic.Int64
	wait      atomic.Int64
	write     atomic.Int64 // net_write_timeout

	mu       sync.Mutex
	sessions map[uint64]*fakeSession
	closed   atomic.Int64
	started  chan struct{} // a "block" statement runs
	ended    chan error    // its context's cause
}

func newFakeBackend() *fakeBackend {
	b := &fakeBackend{
		sessions: map[uint64]*fakeSession{},
		started:  make(chan struct{}, 100),
		ended:    make(chan error, 100),
		accounts: map[string]Account{
			"root":   {User: "root", Plugin: PluginCachingSHA2, LoopbackOnly: true, Administrator: true},
			"native": {User: "native", Plugin: PluginNative, AuthString: HashNative("secret")},
			"sha":    {User: "sha", Plugin: PluginCachingSHA2, AuthString: HashCachingSHA2("secret", nil)},
			"locked": {User: "locked", Plugin: PluginNative, AuthString: HashNative("secret"), Locked: true},
			"tls":    {User: "tls", Plugin: PluginNative, AuthString: HashNative("secret"), Require: Requirements{TLS: true}},
		},
	}
	b.maxPacket.Store(64 << 20)
	b.wait.Store(28800)
	b.write.Store(60)
	return b
}

func (b *fakeBackend) Account(user, host string) (Account, bool) {
	a, ok := b.accounts[user]
	if !ok {
		a.Plugin = PluginCachingSHA2
		if strings.HasSuffix(user, "native") {
			a.Plugin = PluginNative
		}
	}
	return a, ok
}

func (b *fakeBackend) LoginTried(a *Account, _ string, right bool) error {
	if b.blocked == nil {
		return nil
	}
	return b.blocked(a, right)
}

func (b *fakeBackend) Connect(ctx context.Context, info ConnInfo) (Session, error) {
	if info.Database == "panic" {
		panic("as asked")
	}
	if info.Database == "nowhere" {
		return nil, sqlerr.UnknownDatabase(info.Database)
	}
	s := &fakeSession{b: b, info: info, db: info.Database, stmts: map[uint32]string{}}
	b.mu.Lock()
	b.sessions[info.ID] = s
	b.mu.Unlock()
	return s, nil
}

type fakeSession struct {
	b     *fakeBackend
	info  ConnInfo
	db    string
	multi bool
	stmts map[uint32]string
	last  uint32
	batch *vec.Batch
	// changes are what the next StateChanges returns.
	changes []StateChange
}

func (s *fakeSession) Sandboxed() bool { return s.info.Account.Expired }

func (s *fakeSession) TracksSchema() bool { return true }

func (s *fakeSession) StateChanges() []StateChange {
	out := s.changes
	s.changes = nil
	return out
}

var oneHeader = NewHeader([]Column{{Name: "1", NotNull: true, Type: schema.Type{ID: schema.TypeBigInt, Len: 1, Collation: schema.CollationBinary}}})

func textColumn(name string) Column {
	return Column{Name: name, Type: schema.Type{ID: schema.TypeVarchar, Len: 255, Collation: schema.CollationUTF8MB40900AICI}}
}

func (s *fakeSession) Query(ctx context.Context, text string, w ResultWriter) error {
	for rest, more := text, true; more; {
		var stmt string
		stmt, rest, more = strings.Cut(rest, ";")
		if more {
			w.ColumnFlags(StatusMoreResults)
		}
		if err := s.one(ctx, strings.TrimSpace(stmt), w, more); err != nil {
			return err
		}
	}
	return nil
}

func (s *fakeSession) one(ctx context.Context, text string, w ResultWriter, more bool) error {
	verb, arg, _ := strings.Cut(text, " ")
	switch strings.ToLower(verb) {
	case "select", "select\n":
		return s.rows(w, oneHeader, more, []value.Datum{value.Int(1)})
	case "text":
		h := NewHeader([]Column{textColumn("t")})
		return s.rows(w, h, more, []value.Datum{value.String(arg)})
	case "whoami":
		h := NewHeader([]Column{textColumn("user"), textColumn("db"), textColumn("attrs")})
		return s.rows(w, h, more, []value.Datum{value.String(s.info.User), value.String(s.db), value.String(s.info.attribute("_client_name"))})
	case "flush":
		if strings.ContainsRune(text, 0) {
			return sqlerr.Parse("", text, 1)
		}
		return w.OK(OK{Info: arg, More: more})
	case "length":
		return w.OK(OK{AffectedRows: uint64(len(text)), More: more})
	case "blob":
		n, _ := strconv.Atoi(arg)
		h := NewHeader([]Column{{Name: "b", Type: blobType()}})
		return s.rows(w, h, more, []value.Datum{value.Bytes(pattern(n))})
	case "longs":
		n, _ := strconv.Atoi(arg)
		b := &vec.Batch{N: 2, Cols: []*vec.Vec{vec.NewSized(value.KindBytes, 2)}}
		for i := range b.N {
			b.Cols[0].SetDatum(i, value.Bytes(pattern(n)))
		}
		if err := w.Header(NewHeader([]Column{{Name: "b", Type: blobType()}})); err != nil {
			return err
		}
		if err := w.Batch(b); err != nil {
			return err
		}
		return w.End(End{More: more})
	case "rows":
		n, _ := strconv.Atoi(arg)
		return s.stream(ctx, w, n, more)
	case "endless":
		return s.stream(ctx, w, 1<<40, more)
	case "use":
		s.db = arg
		return w.OK(OK{More: more})
	case "load":
		return s.load(w, arg, more)
	case "block":
		s.b.started <- struct{}{}
		<-ctx.Done()
		s.b.ended <- context.Cause(ctx)
		return fmt.Errorf("running: %w", ctx.Err())
	case "panic":
		panic("as asked")
	case "bad":
		return fmt.Errorf("selecting: %w", sqlerr.NoSuchTable("d", "t"))
	case "odd":
		return errors.New("something else")
	case "silent":
		return nil
	case "half":
		if err := w.Header(oneHeader); err != nil {
			return err
		}
		if err := w.Row([]value.Datum{value.Int(7)}); err != nil {
			return err
		}
		return sqlerr.QueryInterrupted()
	}
	return w.OK(OK{AffectedRows: 3, LastInsertID: 42, Warnings: 1, Info: "Records: 3", More: more})
}

func (s *fakeSession) rows(w ResultWriter, h *Header, more bool, rows ...[]value.Datum) error {
	if err := w.Header(h); err != nil {
		return err
	}
	for _, r := range rows {
		if err := w.Row(r); err != nil {
			return err
		}
	}
	return w.End(End{More: more})
}

var streamHeader = NewHeader([]Column{
	{Name: "id", OrgName: "id", NotNull: true, Role: schema.RolePrimaryKey | schema.RolePartOfKey, Type: schema.Type{ID: schema.TypeBigInt, Len: -1}},
	{Name: "n", OrgName: "n", Type: schema.Type{ID: schema.TypeInt, Len: -1}},
	{Name: "u", OrgName: "u", Type: schema.Type{ID: schema.TypeBigInt, Unsigned: true, Len: -1}},
	{Name: "name", OrgName: "name", Type: schema.Type{ID: schema.TypeVarchar, Len: 20, Collation: 255}},
	{Name: "at", OrgName: "at", Type: schema.Type{ID: schema.TypeDatetime}},
})

// streamBatch has 1,024 rows: i, i*7 (NULL for each tenth), i, "name-i", a time.
func streamBatch() *vec.Batch {
	b := vec.NewBatch([]value.Kind{value.KindInt, value.KindInt, value.KindUint, value.KindBytes, value.KindTime})
	b.N = vec.MaxRows
	for i := range b.N {
		b.Cols[0].I64[i] = int64(i) + 1000000
		b.Cols[1].I64[i] = int64(i) * 7
		if i%10 == 0 {
			b.Cols[1].Nulls.Set(i)
		}
		b.Cols[2].I64[i] = int64(i)
		b.Cols[3].Bytes[i] = b.Cols[3].Own([]byte("name-" + strconv.Itoa(i)))
		b.Cols[4].I64[i] = int64(value.MakeTime(2024, 2, 29, 12, 30, 15, 0))
	}
	return b
}

func (s *fakeSession) stream(ctx context.Context, w ResultWriter, n int, more bool) error {
	if err := w.Header(streamHeader); err != nil {
		return err
	}
	if s.batch == nil {
		s.batch = streamBatch()
	}
	for n > 0 {
		b := *s.batch
		b.Truncate(n)
		n -= b.N
		if err := w.Batch(&b); err != nil {
			s.b.ended <- err
			return err
		}
	}
	return w.End(End{More: more})
}

func (s *fakeSession) load(w ResultWriter, name string, more bool) error {
	r, err := w.LoadLocal(name)
	if err != nil {
		return err
	}
	if name == "half" {
		var b [10]byte
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return err
		}
		return sqlerr.DuplicateEntry("1", "t.PRIMARY")
	}
	n, err := io.Copy(io.Discard, r)
	if err != nil {
		return err
	}
	return w.OK(OK{AffectedRows: uint64(n), More: more})
}

func (s *fakeSession) Prepare(ctx context.Context, text string) (*Prepared, error) {
	if strings.HasPrefix(text, "bad") {
		return nil, sqlerr.Parse("", text, 1)
	}
	s.last++
	s.stmts[s.last] = text
	ps := &Prepared{ID: s.last, Params: strings.Count(text, "?")}
	switch {
	case strings.HasPrefix(text, "SELECT"):
		ps.Columns = oneHeader
	case strings.HasPrefix(text, "rows"):
		ps.Columns = streamHeader
	}
	return ps, nil
}

func (s *fakeSession) Execute(ctx context.Context, id uint32, params []Param, w ResultWriter) error {
	text := s.stmts[id]
	if strings.HasPrefix(text, "echo") {
		cols := make([]Column, len(params))
		row := make([]value.Datum, len(params))
		for i, p := range params {
			cols[i] = Column{Name: p.Type.String(), Type: p.Type}
			row[i] = p.D
		}
		return s.rows(w, NewHeader(cols), false, row)
	}
	return s.one(ctx, text, w, false)
}

func (s *fakeSession) CloseStatement(id uint32) { delete(s.stmts, id) }

func (s *fakeSession) UseDatabase(ctx context.Context, name string) error {
	if name == "nowhere" {
		return sqlerr.UnknownDatabase(name)
	}
	s.db = name
	return nil
}

func (s *fakeSession) FieldList(ctx context.Context, table, wildcard string) ([]Column, error) {
	if table != "t" {
		return nil, sqlerr.NoSuchTable(s.db, table)
	}
	return streamHeader.Columns(), nil
}

func (s *fakeSession) Reset(ctx context.Context) error { s.stmts = map[uint32]string{}; return nil }

func (s *fakeSession) KillConnection(ctx context.Context, id uint64) error {
	s.b.mu.Lock()
	t := s.b.sessions[id]
	s.b.mu.Unlock()
	if t == nil {
		return sqlerr.NoSuchThread(id)
	}
	t.info.Kill()
	return nil
}

func (s *fakeSession) Statistics() string        { return "Uptime: 1" }
func (s *fakeSession) Status() Status            { return StatusAutocommit }
func (s *fakeSession) MaxAllowedPacket() int     { return int(s.b.maxPacket.Load()) }
func (s *fakeSession) WaitTimeout() int          { return int(s.b.wait.Load()) }
func (s *fakeSession) NetWriteTimeout() int      { return int(s.b.write.Load()) }
func (s *fakeSession) Database() string          { return s.db }
func (s *fakeSession) SetMultiStatements(b bool) { s.multi = b }

func (s *fakeSession) Close() {
	s.b.mu.Lock()
	delete(s.b.sessions, s.info.ID)
	s.b.mu.Unlock()
	s.b.closed.Add(1)
}

// pattern is n bytes that do not repeat with the size of a packet.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('a' + (i+i>>20)%26)
	}
	return b
}

// startServer serves a fake backend on a loopback port until the test ends.
func startServer(t testing.TB, cfg Config) (*Server, *fakeBackend, string) {
	t.Helper()
	b := newFakeBackend()
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	s := NewServer(cfg, b)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = s.Shutdown(ctx)
		if err := <-done; !errors.Is(err, ErrServerClosed) {
			t.Errorf("Serve: %v", err)
		}
	})
	return s, b, l.Addr().String()
}

// attribute is the value of an attribute of the client, "" without.
func (i *ConnInfo) attribute(name string) string {
	for _, a := range i.Attributes {
		if a[0] == name {
			return a[1]
		}
	}
	return ""
}
