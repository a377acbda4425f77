package ddl

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/sqlots/sqlots/index/backfill"
	"github.com/sqlots/sqlots/internal/guard"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/mdl"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/table"
)

// Build is the making of indexes while their table is in use: it is recorded in
// the store from its start to its end, so that a server that finds it at its
// start goes on with it.
//
//	01 'j' 'b' table (4 bytes BE)   buildRecord as JSON
type Build struct {
	r     *Runner
	table schema.TableID
	rec   buildRecord
	// owner holds the schema-change lock of a build that Resume has found.
	owner  mdl.Owner
	status *BuildStatus
	// cells removes the large values of dropped columns, after publish.
	cells func()
}

// buildRecord is what is stored of a Build.
type buildRecord struct {
	Indexes   []schema.IndexID `json:"indexes"`
	Statement string           `json:"statement,omitempty"`
	Started   int64            `json:"started"` // microseconds since 1970
	// Filled: what is left are the changes of writers.
	Filled bool `json:"filled,omitempty"`
	// Position is where to go on filling, after so many Rows.
	Position []byte `json:"position,omitempty"`
	Rows     int64  `json:"rows"`
	Estimate int64  `json:"estimate"`
	// Resumed counts the starts of the server that found the build.
	Resumed int `json:"resumed,omitempty"`
	// Final is the table in the end. Version is that of the table until then.
	Final   json.RawMessage `json:"final,omitempty"`
	Version uint32          `json:"version,omitempty"`
	// AutoIncrement is what the statement sets it to, 0 for nothing; Dropped are
	// the indexes that go.
	AutoIncrement uint64           `json:"auto_increment,omitempty"`
	Dropped       []schema.IndexID `json:"dropped,omitempty"`
}

// States of a build, as users see them.
const (
	buildStarting  = "starting"
	buildFilling   = "backfill"
	buildMerging   = "merge"
	buildReady     = "ready" // waits for the table, to become public
	buildPublic    = "public"
	buildUndoing   = "rolling back"
	buildUndone    = "rolled back"
	buildSuspended = "suspended" // the server stops
)

// Rows of a run: a sixth of the table, in these bounds. Few: each run spans the
// whole key range, so that it is compacted with all runs before it. A build that
// is interrupted goes on after its last whole run.
const (
	minRunRows = 3_000_000
	maxRunRows = 16_000_000
	runShare   = 6
)

// A build locks the table when a merge found fewer changes than mergeEnough, or
// hardly fewer than the one before, or after mergePasses.
const (
	mergeEnough = 1000
	mergePasses = 30
)

func buildKey(t schema.TableID) []byte {
	return binary.BigEndian.AppendUint32(append(append([]byte(nil), jobPrefix...), 'b'), uint32(t))
}

func (b *Build) encode() []byte {
	out, err := json.Marshal(b.rec)
	if err != nil {
		panic(err) // plain fields
	}
	return out
}

// put writes the record, or removes it.
func (b *Build) put(ctx context.Context, del bool) error {
	txn, err := b.r.Store.Begin(ctx, storage.TxnOptions{Label: "schema change"})
	if err != nil {
		return err
	}
	defer txn.Rollback()
	if err := storage.LockOutside(ctx, b.r.Store, txn, buildKey(b.table)); err != nil {
		return err
	}
	if del {
		err = txn.Delete(ctx, buildKey(b.table))
	} else {
		err = txn.Put(ctx, buildKey(b.table), b.encode())
	}
	if err != nil {
		return err
	}
	if _, err := txn.Commit(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("recording an index build: %w", err)
	}
	return nil
}

// end forgets a build whose indexes are public or gone; with the indexes it
// deletes their entries, and in any case the changes that writers have noted. It can be
// repeated.
func (b *Build) end(ctx context.Context, entries bool) error {
	for _, id := range b.rec.Indexes {
		if entries {
			if err := b.r.discardIndex(ctx, b.table, id, indexSpan(b.table, id)); err != nil {
				return err
			}
		}
		if err := b.r.discardIndex(ctx, b.table, id, table.ChangesSpan(b.table, id)); err != nil {
			return err
		}
	}
	b.r.step("before job end")
	return b.put(ctx, true)
}

// run takes the build to its end, or back. When the server stops, all stays for
// the next start.
func (b *Build) run(ctx context.Context, c *change) error {
	err := b.withoutExpired(ctx, c, func() error { return b.fill(ctx, c) })
	if err == nil {
		err = b.publish(ctx, c)
	}
	if err == nil {
		b.status.end(buildPublic, nil)
		c.releaseTables()
		b.r.step("after publish")
		c.leave(ctx, dataRemoval, func(ctx context.Context, _ *change) error {
			if err := b.end(ctx, false); err != nil {
				return err
			}
			return b.r.deleteJobs(ctx, b.gone())
		})
		b.cells()
		return nil
	}
	var dup *table.DuplicateError
	if errors.As(err, &dup) {
		b.named(dup)
		err = c.duplicate(dup)
	}
	if isShutdown(ctx, err) {
		b.status.end(buildSuspended, nil)
		return err
	}
	b.status.set(buildUndoing)
	if terr := b.takeBack(ctx, c); terr != nil {
		// Writers go on noting changes, which costs time but is right.
		b.r.Log.Error("removing an unfinished index", "table", b.table, "error", terr)
	}
	b.status.end(buildUndone, err)
	return err
}

func isShutdown(ctx context.Context, err error) bool {
	down := sqlerr.ServerShutdown()
	return errors.Is(err, down) || ctx.Err() != nil && errors.Is(context.Cause(ctx), down) || errors.Is(err, storage.ErrClosed)
}

// descriptor is the present descriptor of the table.
func (b *Build) descriptor() (*schema.Table, error) {
	t := b.r.Catalog.Snapshot().TableByID(b.table)
	if t == nil {
		return nil, sqlerr.Internal("table %d is gone while its index is built", b.table)
	}
	return t, nil
}

func (b *Build) builder(ctx context.Context, c *change) (*backfill.Build, error) {
	t, err := b.descriptor()
	if err != nil {
		return nil, err
	}
	codec, err := c.buildCodec(t, b.rec.Indexes)
	if err != nil {
		return nil, err
	}
	r := b.r
	runRows := int(min(max(b.rec.Estimate/runShare, minRunRows), maxRunRows))
	if r.runRows > 0 {
		runRows = r.runRows
	}
	return backfill.New(r.Store, codec, b.rec.Indexes, backfill.Options{
		RunRows: runRows, Memory: r.sortMemory(onlineSort), TempDir: r.TempDir, Budget: r.SortBudget, Pace: r.pacer(),
		Checkpoint: func(position []byte, rows int64) (key, val []byte) {
			b.rec.Position, b.rec.Rows, b.rec.Filled = position, rows, position == nil
			return buildKey(b.table), b.encode()
		},
		Progress: func(rows int64) error {
			b.status.progress(rows)
			c.state(fmt.Sprintf("creating index: %d of about %d rows", rows, max(rows, b.rec.Estimate)))
			r.step("backfill chunk")
			return context.Cause(ctx)
		}})
}

// fill makes the entries, and follows the writers until few changes are left.
func (b *Build) fill(ctx context.Context, c *change) error {
	build, err := b.builder(ctx, c)
	if err != nil {
		return err
	}
	b.status.set(buildFilling)
	if !b.rec.Filled {
		if err := build.Fill(ctx, b.rec.Position, b.rec.Rows); err != nil {
			return err
		}
	}
	b.status.set(buildMerging)
	c.state("creating index: merging changes")
	b.r.step("filled")
	before := math.MaxInt
	for range mergePasses {
		merged, left, err := build.Merge(ctx)
		if err != nil {
			return err
		}
		b.r.step("merged")
		// Each pass has what was written during the one before.
		n := merged + left
		if n < mergeEnough || n > before/10*9 {
			break
		}
		before = n
	}
	return nil
}

// lock takes the table alone; one that goes on by itself waits as long as it
// takes.
func (b *Build) lock(ctx context.Context, c *change) error {
	t, err := b.descriptor()
	if err != nil {
		return err
	}
	var keys []string
	for _, n := range b.names(t) {
		if key := mdl.Key(n.DB, n.Name); !slices.Contains(c.held, key) {
			keys = append(keys, key)
		}
	}
	for {
		held := len(c.held)
		err := c.lock(ctx, keys...)
		if err == nil || b.owner == 0 || !errors.Is(err, mdl.ErrTimeout) {
			return err
		}
		for _, key := range slices.Clone(c.held[held:]) {
			c.unlock(key)
		}
	}
}

// undoWait is how long a statement waits for the table before it leaves the
// removal of what it has built to the background.
const undoWait = time.Second

// takeBack removes the indexes, with all that was built.
func (b *Build) takeBack(ctx context.Context, c *change) error {
	t, err := b.descriptor()
	if err != nil {
		return err
	}
	if key := mdl.Key(t.Database, t.Name); !slices.Contains(c.held, key) {
		c.env.LockTimeout = undoWait
		err := c.lock(context.WithoutCancel(ctx), key)
		if errors.Is(err, mdl.ErrTimeout) {
			c.release()
			b.r.background.Go(func() { guard.Do(b.r.Log, "removing an unfinished index", func() { b.takeBackLater(t) }) })
			return nil
		}
		if err != nil {
			return err
		}
	}
	return b.remove(ctx, c)
}

// takeBackLater is takeBack once the table is free.
func (b *Build) takeBackLater(t *schema.Table) {
	ctx := b.r.running
	c := b.r.change(&Env{Owner: mdl.Owner(b.status.ID | 1<<60), LockTimeout: 24 * time.Hour})
	defer c.release()
	err := c.lock(ctx, mdl.ChangeKey(t.Database, t.Name), mdl.Key(t.Database, t.Name))
	if err == nil {
		err = b.remove(ctx, c)
	}
	if err != nil && ctx.Err() == nil {
		b.r.Log.Error("removing an unfinished index", "table", b.table, "error", err)
	}
}

// remove takes the indexes out of the table, which is held alone, and has deleted what was
// built.
func (b *Build) remove(ctx context.Context, c *change) error {
	b.r.step("before take back")
	err := c.publish(storage.FreeingSpace(ctx), func(ch *catalog.Change) error {
		if t := ch.Base.TableByID(b.table); t != nil {
			if n := without(t, b.rec.Indexes); n != nil {
				ch.PutTable(n)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	b.r.step("taken back")
	c.releaseTables()
	c.leave(ctx, dataRemoval, func(ctx context.Context, _ *change) error { return b.end(ctx, true) })
	return nil
}

// Continuation is what is left to do of a statement of the last run of the server.
type Continuation interface {
	// Statement is its text, Database that of the table.
	Statement() string
	Database() string
	// Continue takes it to its end. It is called once.
	Continue(ctx context.Context, env Env) error
}

// Unfinished are the statements that Resume has found.
func (r *Runner) Unfinished() []Continuation { return r.unfinished }

// Statement implements Continuation.
func (b *Build) Statement() string { return b.rec.Statement }

// Database implements Continuation.
func (b *Build) Database() string { return b.status.Database }

// Continue runs a build that Resume has found to its end. As in Run, KILL and
// duplicate keys undo it: the indexes are dropped. Of env it uses SetState and Types.
func (b *Build) Continue(ctx context.Context, env Env) error {
	env.Owner, env.LockTimeout = b.owner, time.Hour
	c := b.r.change(&env)
	t, err := b.descriptor()
	if err != nil {
		return err
	}
	for _, n := range b.names(t) {
		c.held = append(c.held, mdl.ChangeKey(n.DB, n.Name))
	}
	defer c.release()
	if err := b.run(ctx, c); err != nil {
		return err
	}
	names := b.names(t)
	return c.awaitSearch(ctx, names[len(names)-1], t)
}

// resumeBuilds brings the builds in order that the last server has left: those
// whose indexes are still being built will be continued, and hold their tables
// against other schema changes from now on.
func (r *Runner) resumeBuilds(ctx context.Context) error {
	list, err := r.storedBuilds(ctx)
	if err != nil {
		return err
	}
	for _, b := range list {
		t := r.Catalog.Snapshot().TableByID(b.table)
		building := 0
		entries := true
		for _, id := range b.rec.Indexes {
			if t == nil {
				continue
			}
			if x := indexByID(t, id); x != nil {
				entries = x.State != schema.IndexPublic
				if x.State == schema.IndexBuilding {
					building++
				}
			}
		}
		if building != len(b.rec.Indexes) {
			if err := b.end(storage.FreeingSpace(ctx), entries); err != nil {
				return fmt.Errorf("ending an index build of table %d: %w", b.table, err)
			}
			continue
		}
		b.rec.Resumed++
		if err := b.put(ctx, false); err != nil {
			return err
		}
		b.status = r.builds.add(b, t)
		b.owner = mdl.Owner(b.status.ID | 1<<60)
		for _, n := range b.names(t) {
			if err := r.Locks.Exclusive(ctx, b.owner, mdl.ChangeKey(n.DB, n.Name), time.Minute); err != nil {
				return err
			}
		}
		r.unfinished = append(r.unfinished, b)
		r.Log.Info("continuing an index build", "event", "ddl.continued", "table", t.Database+"."+t.Name, "rows", b.rec.Rows)
	}
	return nil
}

func (r *Runner) storedBuilds(ctx context.Context) ([]*Build, error) {
	prefix := buildKey(0)[:len(jobPrefix)+1]
	end := append([]byte(nil), prefix...)
	end[len(end)-1]++
	scan, err := r.Store.Latest().Scan(ctx, storage.Span{Start: prefix, End: end}, storage.ScanOptions{})
	if err != nil {
		return nil, err
	}
	defer scan.Close()
	var out []*Build
	var bad error
	_, err = scan.Visit(ctx, func(k, v []byte) bool {
		b := &Build{r: r}
		if len(k) != len(prefix)+4 {
			bad = fmt.Errorf("%w: index build at %x", storage.ErrCorruption, k)
			return false
		}
		b.table = schema.TableID(binary.BigEndian.Uint32(k[len(prefix):]))
		if bad = json.Unmarshal(v, &b.rec); bad != nil {
			bad = fmt.Errorf("%w: index build at %x: %w", storage.ErrCorruption, k, bad)
			return false
		}
		out = append(out, b)
		return true
	})
	return out, errors.Join(err, bad)
}

// isContinued reports whether an index belongs to a build that will go on.
func (r *Runner) isContinued(t schema.TableID, x schema.IndexID) bool {
	return slices.ContainsFunc(r.unfinished, func(c Continuation) bool {
		b, ok := c.(*Build)
		return ok && b.table == t && slices.Contains(b.rec.Indexes, x)
	})
}
