package slt

import (
	"context"
	"crypto/rand"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// Options say how a file is run. Open is required.
type Options struct {
	// Open makes a connection for each session of the file; RunFile closes it.
	// With CurrentDatabase the connection's own database is used.
	Open func(context.Context) (driver.Conn, error)
	// Engines are the names that skipif and onlyif match; nil means "mysql".
	Engines []string
	// Protocol is used for all records.
	Protocol Protocol
	// CurrentDatabase runs the file in the database that Open selects instead
	// of a fresh one that is dropped afterwards.
	CurrentDatabase bool
	// HashThreshold is the initial one; 0 means that results are never hashed.
	HashThreshold int
	// MaxErrors ends a file after so many failures; 0 means no limit.
	MaxErrors int
	// KeepFailures bounds Report.Failures; 0 means 10.
	KeepFailures int
	// Exceptions are records whose expectation is not MySQL's.
	Exceptions []Exception
	// QueryShare runs only one of so many queries, and all statements; 0 and 1
	// mean all. Exceptions may then remain unused.
	QueryShare int
	// Rewrite puts the server's answers into the file.
	Rewrite bool
	// Finish is called with the file's own database before it is dropped, if it
	// is not nil; an error is one of the file.
	Finish func(ctx context.Context, conn driver.Conn, database string) error
	// Instead is called for each query, which is then not run, if it is not nil; an
	// error fails the record.
	Instead func(ctx context.Context, conn driver.Conn, query string) error
	// Trace gets a line for each executed record, if it is not nil.
	Trace io.Writer
}

const (
	defaultKeepFailures = 10
	maxIncludeDepth     = 16
)

// RunFile runs one file and reports on its records. The error is non-nil when the file
// could not be run to its end: it is malformed, a session could not be opened, or ctx
// was cancelled. Failed records are no error; they are in the report, which is valid in
// both cases.
func RunFile(ctx context.Context, path string, opts Options) (Report, error) {
	r := newRunner(path, opts)
	start := time.Now()
	err := r.run(ctx, path)
	return r.finish(start, err), err
}

// RunReader runs records from in, for files that do not lie on disk. name is
// what reports call it and where include starts from. Rewrite is ignored.
func RunReader(ctx context.Context, name string, in io.Reader, opts Options) (Report, error) {
	opts.Rewrite = false
	r := newRunner(name, opts)
	start := time.Now()
	err := r.withDatabase(ctx, func() error {
		return ignoreStop(r.records(ctx, name, NewParser(name, in), 0))
	})
	return r.finish(start, err), err
}

func (r *runner) finish(start time.Time, err error) Report {
	r.report.Seconds = time.Since(start).Seconds()
	r.report.Exceptions = r.except.counts()
	if err != nil {
		r.report.Error = err.Error()
		return r.report
	}
	if r.opts.QueryShare <= 1 && !r.report.Stopped {
		for _, e := range r.except.unused() {
			r.fail(Failure{File: r.report.File, Line: e.First, Reason: "no record needs the exception: " + e.Reason})
		}
	}
	return r.report
}

// runner is the state of one file's run. Single goroutine.
type runner struct {
	opts      Options
	report    Report
	database  string
	sessions  map[string]*session
	current   string
	threshold int
	utf8      bool              // text prints as UTF-8
	labels    map[string]string // label → hash of its first result
	out       *rewriter         // nil unless rewriting
	except    exceptions
	queries   int // met so far, for Options.QueryShare
}

func newRunner(name string, opts Options) *runner {
	if opts.Engines == nil {
		opts.Engines = []string{"mysql"}
	}
	if opts.KeepFailures == 0 {
		opts.KeepFailures = defaultKeepFailures
	}
	return &runner{
		opts:      opts,
		report:    Report{File: name},
		sessions:  map[string]*session{},
		current:   "default",
		threshold: opts.HashThreshold,
		labels:    map[string]string{},
		except:    exceptionsFor(name, opts.Exceptions),
	}
}

// errStop ends a file early without being an error: halt, too many failures.
var errStop = errors.New("stop")

func ignoreStop(err error) error {
	if errors.Is(err, errStop) {
		return nil
	}
	return err
}

func (r *runner) run(ctx context.Context, path string) (err error) {
	in, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("opening the test file: %w", err)
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	p := NewParser(path, in)
	if r.opts.Rewrite {
		p.keepText = true
		if r.out, err = newRewriter(path); err != nil {
			return err
		}
		defer r.out.discard()
	}
	err = r.withDatabase(ctx, func() error { return ignoreStop(r.records(ctx, path, p, 0)) })
	if err != nil || r.out == nil {
		return err
	}
	return r.out.finish(p)
}

// withDatabase runs body in a fresh database and closes all sessions.
func (r *runner) withDatabase(ctx context.Context, body func() error) (err error) {
	defer func() { err = errors.Join(err, r.closeSessions()) }()
	if r.opts.CurrentDatabase {
		return body()
	}
	conn, err := r.opts.Open(ctx)
	if err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	admin := &session{conn: conn}
	defer func() { err = errors.Join(err, conn.Close()) }()
	name := "slt_" + randomSuffix()
	if _, err := admin.exec(ctx, "CREATE DATABASE "+name); err != nil {
		return fmt.Errorf("creating the test database: %w", err)
	}
	r.database = name
	defer func() {
		// Sessions with open transactions would block DROP DATABASE.
		closeErr := r.closeSessions()
		if err == nil && r.opts.Finish != nil {
			err = r.opts.Finish(ctx, conn, name)
		}
		_, dropErr := admin.exec(context.WithoutCancel(ctx), "DROP DATABASE IF EXISTS "+name)
		if isLost(dropErr) {
			dropErr = r.dropAgain(ctx, name)
		}
		err = errors.Join(err, closeErr, dropErr)
	}()
	return body()
}

// dropAgain drops the database over a new connection, since a server closes
// connections that have been idle as long as a big file runs.
func (r *runner) dropAgain(ctx context.Context, name string) (err error) {
	ctx = context.WithoutCancel(ctx)
	conn, err := r.opts.Open(ctx)
	if err != nil {
		return fmt.Errorf("dropping the test database: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	_, err = (&session{conn: conn}).exec(ctx, "DROP DATABASE IF EXISTS "+name)
	return err
}

func randomSuffix() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails, see its documentation
	return hex.EncodeToString(b[:])
}

func (r *runner) closeSessions() error {
	var errs []error
	for name, s := range r.sessions {
		if err := s.conn.Close(); err != nil && !errors.Is(err, driver.ErrBadConn) {
			errs = append(errs, fmt.Errorf("closing session %s: %w", name, err))
		}
	}
	clear(r.sessions)
	return errors.Join(errs...)
}

// records runs the records of one file or of an included one.
func (r *runner) records(ctx context.Context, path string, p *Parser, depth int) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		rec, err := p.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		err = r.record(ctx, path, rec, depth)
		if r.out != nil && depth == 0 {
			r.out.write(rec)
		}
		if err != nil {
			return err
		}
	}
}

func (r *runner) record(ctx context.Context, path string, rec *Record, depth int) error {
	if !rec.runs(r.opts.Engines) {
		if rec.Kind == KindStatement || rec.Kind == KindQuery {
			r.report.Skipped++
		}
		return nil
	}
	switch rec.Kind {
	case KindQuery:
		if r.queries++; r.opts.QueryShare > 1 && r.queries%r.opts.QueryShare != 0 {
			r.report.Skipped++
			return nil
		}
	case KindHalt:
		return errStop
	case KindHashThreshold:
		r.threshold = rec.N
		return nil
	case KindEncoding:
		r.utf8 = rec.Arg == "utf8"
		return nil
	case KindConnection:
		r.current = rec.Arg
		return nil
	case KindInclude:
		return r.include(ctx, filepath.Join(filepath.Dir(path), rec.Arg), depth+1)
	}
	s, err := r.session(ctx)
	if err != nil {
		return err
	}
	reason, err := r.instead(ctx, s, rec)
	if isLost(err) {
		r.dropSession()
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if reason != "" && r.except.allows(rec, err) {
		r.report.Excepted++
		return nil
	}
	return r.count(path, rec, reason)
}

// instead runs a record, or what Options.Instead does with it.
func (r *runner) instead(ctx context.Context, s *session, rec *Record) (string, error) {
	if rec.Kind != KindQuery || r.opts.Instead == nil {
		return r.execute(ctx, s, rec)
	}
	if err := r.opts.Instead(ctx, s.conn, rec.SQL); err != nil {
		return err.Error(), nil
	}
	return "", nil
}

func (r *runner) include(ctx context.Context, path string, depth int) (err error) {
	if depth > maxIncludeDepth {
		return fmt.Errorf("%s: include is nested more than %d deep", path, maxIncludeDepth)
	}
	in, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("opening the included file: %w", err)
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	return r.records(ctx, path, NewParser(path, in), depth)
}

// session returns the current session, opening it at its first use.
func (r *runner) session(ctx context.Context) (*session, error) {
	if s := r.sessions[r.current]; s != nil {
		return s, nil
	}
	conn, err := r.opts.Open(ctx)
	if err != nil {
		return nil, fmt.Errorf("opening session %s: %w", r.current, err)
	}
	s := &session{conn: conn, protocol: r.opts.Protocol}
	r.sessions[r.current] = s
	if r.database != "" {
		if _, err := s.exec(ctx, "USE "+r.database); err != nil {
			return nil, fmt.Errorf("opening session %s: %w", r.current, err)
		}
	}
	return s, nil
}

// dropSession forgets a lost connection; the next record opens a new one.
func (r *runner) dropSession() {
	if s := r.sessions[r.current]; s != nil {
		_ = s.conn.Close() // it is broken already
		delete(r.sessions, r.current)
	}
}

func (r *runner) count(path string, rec *Record, reason string) error {
	if r.opts.Trace != nil {
		verdict := "ok"
		if reason != "" {
			verdict = "FAILED"
		}
		_, _ = fmt.Fprintf(r.opts.Trace, "%s:%d: %s\n", path, rec.Line, verdict)
	}
	if reason == "" {
		r.report.OK++
		return nil
	}
	r.fail(Failure{File: path, Line: rec.Line, SQL: rec.SQL, Reason: reason})
	if r.opts.MaxErrors > 0 && r.report.Failed >= r.opts.MaxErrors {
		r.report.Stopped = true
		return errStop
	}
	return nil
}

func (r *runner) fail(f Failure) {
	r.report.Failed++
	if len(r.report.Failures) < r.opts.KeepFailures {
		r.report.Failures = append(r.report.Failures, f)
	}
}

// execute runs a statement or query. It returns why the record fails ("" if
// it does not), and the error that the connection gave, if any.
func (r *runner) execute(ctx context.Context, s *session, rec *Record) (string, error) {
	if rec.Kind == KindStatement {
		affected, err := s.exec(ctx, rec.SQL)
		if reason, done := r.checkError(rec, err); done {
			return reason, err
		}
		if rec.Count >= 0 && rec.Count != affected {
			if r.out != nil {
				rec.text.header = fmt.Sprintf("statement count %d", affected)
				return "", nil
			}
			return fmt.Sprintf("expected %d affected rows, got %d", rec.Count, affected), nil
		}
		return "", nil
	}
	s.utf8 = r.utf8
	res, err := s.query(ctx, rec.SQL, rec.Types)
	if reason, done := r.checkError(rec, err); done {
		return reason, err
	}
	return r.checkResult(rec, res), nil
}

// checkError compares an outcome with the expected error; done is false when
// success was demanded and given.
func (r *runner) checkError(rec *Record, err error) (reason string, done bool) {
	number, message := errorNumber(err)
	switch {
	case rec.Error == nil && err == nil:
		return "", false
	case rec.Error == nil && number == 0:
		return "the connection failed: " + message, true
	case rec.Error == nil:
		return fmt.Sprintf("error %d: %s", number, message), true
	case err == nil:
		return "expected an error, but it succeeded", true
	case number == 0:
		return "expected an error of the server, but the connection failed: " + message, true
	}
	reason = rec.Error.check(number, message)
	if r.out != nil && (reason != "" || len(rec.Error.Numbers) == 0) {
		rewriteError(rec, number)
		reason = ""
	}
	return reason, true
}

func (r *runner) checkResult(rec *Record, res *result) string {
	if res.cols != len(rec.Types) {
		return fmt.Sprintf("expected %d columns, got %d", len(rec.Types), res.cols)
	}
	res.sortBy(rec.Sort)
	reason := ""
	if rec.HasResult {
		reason = res.compare(rec)
	}
	if r.out != nil && (reason != "" || !rec.HasResult) {
		rewriteResult(rec, res, r.threshold)
		reason = ""
	}
	if reason != "" || rec.Label == "" {
		return reason
	}
	hash := hashValues(res.values)
	if first, seen := r.labels[rec.Label]; seen && first != hash {
		return fmt.Sprintf("the result differs from that of an earlier query with label %s", rec.Label)
	}
	r.labels[rec.Label] = hash
	return ""
}
