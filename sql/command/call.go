package command

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/statement"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/stream"
	"github.com/sqlots/sqlots/value"
)

// runCall is CALL of the procedures of change logs. What they do to consumers
// belongs to the open transaction.
func (s *commands) runCall(ctx context.Context, c *logical.Call, vals []value.Datum) error {
	args, err := s.EvalAll(ctx, c.Args, &c.Reads, vals)
	if err != nil {
		return err
	}
	a := callArgs{name: c.Name, args: args}
	name := a.text(0)
	if a.err == nil && name == "" {
		a.fail()
	}
	if a.err != nil {
		return a.err
	}
	if err := s.mayCall(ctx, c, name, &a); err != nil {
		return err
	}
	switch c.Name {
	case "stream_purge":
		return s.purgeStream(ctx, name, c.Database, &a)
	case "stream_consumer":
		return s.Tx.InTxn(ctx, func(txn storage.Txn) error { return s.addConsumer(ctx, txn, name, c.Database, &a) })
	case "stream_checkpoint":
		return s.Tx.InTxn(ctx, func(txn storage.Txn) error { return s.checkpoint(ctx, txn, name, &a) })
	case "stream_drop_consumer":
		return s.Tx.InTxn(ctx, func(txn storage.Txn) error {
			found, err := stream.LockConsumer(ctx, txn, name)
			if err != nil {
				return err
			}
			if found == nil {
				return sqlerr.NoSuchProgram("CONSUMER", name)
			}
			return stream.DropConsumer(ctx, txn, name)
		})
	}
	return sqlerr.NoSuchProgram("PROCEDURE", c.Name)
}

// mayCall: consumers are for those who may read their table; records are removed, and
// consumers of tables that are gone, by administrators. 1142, 1370.
func (s *commands) mayCall(ctx context.Context, c *logical.Call, name string, a *callArgs) error {
	set := s.Privileges()
	if set.Has(priv.Super, priv.ReplicationSlaveAdmin) {
		return nil
	}
	account := s.AccountName()
	denied := sqlerr.ProcedureAccessDenied("EXECUTE", account.User, s.ClientHost(), "sqlots."+c.Name)
	table := ""
	switch c.Name {
	case "stream_consumer":
		table = a.text(1)
	case "stream_checkpoint", "stream_drop_consumer":
		x, err := stream.FindConsumer(ctx, s.Engine.Store.Latest(), name)
		if err != nil {
			return err
		}
		if x != nil {
			table = s.tableOfStream(x.Stream)
		}
	}
	if table == "" {
		return denied
	}
	db, t, ok := strings.Cut(table, ".")
	if !ok {
		db, t = c.Database, table
	}
	d := set.Check(&priv.Needs{Tables: []priv.TableNeed{{DB: db, Table: t, Mask: priv.Select}}})
	if d != nil && c.Name != "stream_consumer" { // the statement does not name the table
		return denied
	}
	return s.Refusal(d)
}

// tableOfStream is the name of the table of a change log, "" if it is gone.
func (s *commands) tableOfStream(id schema.StreamID) string {
	snap := s.Engine.Catalog.Snapshot()
	for _, d := range snap.Databases() {
		for _, t := range snap.Tables(d.Name) {
			if t.Stream != nil && t.Stream.ID == id {
				return d.Name + "." + t.Name
			}
		}
	}
	return ""
}

// callArgs are the arguments of a procedure; err is that of the first one that
// does not fit.
type callArgs struct {
	name string
	args []value.Datum
	err  error
}

func (a *callArgs) fail() { a.err = sqlerr.WrongArguments(a.name) }

func (a *callArgs) has(i int) bool { return i < len(a.args) }

func (a *callArgs) text(i int) string {
	if a.args[i].Kind() != value.KindBytes || len(a.args[i].Bytes()) > stream.MaxConsumerName {
		a.fail()
		return ""
	}
	return a.args[i].Str()
}

func (a *callArgs) number(i int) uint64 {
	d := a.args[i]
	if d.Kind() != value.KindUint && (d.Kind() != value.KindInt || d.Int() < 0) {
		a.fail()
		return 0
	}
	return d.Bits()
}

// position reads a sequence at i, and perhaps an ordinal after it.
func (a *callArgs) position(i int) stream.Position {
	p := stream.Behind(a.number(i))
	if a.has(i + 1) {
		p.Ordinal = uint32(min(a.number(i+1), 1<<32-1))
	}
	return p
}

// addConsumer is CALL sqlots.stream_consumer(name, table [, seq [, ordinal]]);
// without a position it begins with the first record that is kept.
func (s *commands) addConsumer(ctx context.Context, txn storage.Txn, name, current string, a *callArgs) error {
	table := a.text(1)
	var at stream.Position
	if a.has(2) {
		at = a.position(2)
	}
	if a.err != nil {
		return a.err
	}
	id, full, err := s.StreamNamed(ctx, table, current)
	if err != nil {
		return err
	}
	kv := s.Engine.Store.Latest()
	if !a.has(2) {
		begin, err := stream.Begin(ctx, kv, id)
		if err != nil {
			return err
		}
		at.Seq = begin
		if begin > 0 {
			at = stream.Behind(begin)
		}
	} else if err := s.checkPosition(ctx, id, full, at); err != nil {
		return err
	}
	found, err := stream.LockConsumer(ctx, txn, name)
	if err != nil {
		return err
	}
	if found != nil {
		old, err := s.wasStreamOf(ctx, found.Stream, full)
		if err != nil {
			return err
		}
		if !old || found.Stream == id {
			return sqlerr.AlreadyExists("CONSUMER", name)
		}
	}
	return stream.PutConsumer(ctx, txn, &stream.Consumer{Name: name, Stream: id, Seq: at.Seq, Ordinal: at.Ordinal, At: time.Now().UnixMicro()})
}

// wasStreamOf: the stream ended with a table of that name. When a new one has
// taken the name, nothing can be read from it, and its consumers' names are free.
func (s *commands) wasStreamOf(ctx context.Context, id schema.StreamID, table string) (bool, error) {
	ended, err := stream.EndedStreams(ctx, s.Engine.Store.Latest())
	return slices.ContainsFunc(ended, func(e stream.Ended) bool { return e.ID == id && e.Database+"."+e.Table == table }), err
}

// checkPosition: all records after a position are there, and it is of the past:
// 1236, 1789.
func (s *commands) checkPosition(ctx context.Context, id schema.StreamID, table string, at stream.Position) error {
	last, err := s.Engine.Store.Settled(ctx)
	if err != nil {
		return err
	}
	if at.Seq > last {
		return sqlerr.StreamPosition(table, at.Seq, last)
	}
	err = stream.Check(ctx, s.Engine.Store.Latest(), id, at)
	if purged, ok := errors.AsType[*stream.PurgedError](err); ok {
		return sqlerr.StreamPurged(table, purged.Asked, purged.Purged)
	}
	return err
}

// checkpoint is CALL sqlots.stream_checkpoint(name, seq [, ordinal]).
func (s *commands) checkpoint(ctx context.Context, txn storage.Txn, name string, a *callArgs) error {
	at := a.position(1)
	if a.err != nil {
		return a.err
	}
	c, err := stream.LockConsumer(ctx, txn, name)
	if err != nil {
		return err
	}
	if c == nil {
		return sqlerr.NoSuchProgram("CONSUMER", name)
	}
	if err := s.checkPosition(ctx, c.Stream, "consumer "+name, at); err != nil {
		return err
	}
	c.Seq, c.Ordinal, c.At = at.Seq, at.Ordinal, time.Now().UnixMicro()
	return stream.PutConsumer(ctx, txn, c)
}

// purgeStream is CALL sqlots.stream_purge(table, seq): the records up to seq go
// before their time. It is no part of a transaction.
func (s *commands) purgeStream(ctx context.Context, name, current string, a *callArgs) error {
	upTo := a.number(1)
	if a.err != nil {
		return a.err
	}
	if s.Tx.RefusesChanges() {
		return sqlerr.ReadOnlyTransaction()
	}
	id, full, err := s.StreamNamed(ctx, name, current)
	if err != nil {
		return err
	}
	last, err := s.Engine.Store.Settled(ctx)
	if err != nil {
		return statement.Translate(err)
	}
	if upTo > last {
		return sqlerr.StreamPosition(full, upTo, last)
	}
	return statement.Translate(s.Engine.TrimStream(ctx, id, upTo))
}
