package catalog

import (
	"context"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/stream"
)

// Replace puts t, which has another id, in the place of old: the change log
// goes on. emptied says that the rows are gone, not copied. A nil old says that
// t has rows already.
func (ch *Change) Replace(old, t *schema.Table, emptied bool) {
	if old == nil {
		old = t
	} else {
		ch.DropTable(old)
	}
	ch.PutTable(t)
	if ch.replaced == nil {
		ch.replaced, ch.emptied = map[schema.TableID]*schema.Table{}, map[schema.TableID]bool{}
	}
	ch.replaced[t.ID], ch.emptied[t.ID] = old, emptied
}

// noteTables notes in the change logs which tables changed, and begins the
// histories of those that keep versions from now on.
func (ch *Change) noteTables(ctx context.Context, txn storage.Txn) error {
	now := time.Now().UnixMicro()
	kept := map[schema.TableID]bool{} // old tables that go on under another id
	for id, t := range ch.next.byID {
		old := ch.Base.byID[id]
		if old == t || !t.IsLogged() && (old == nil || !old.IsLogged()) && ch.replaced[id] == nil {
			continue
		}
		if old == nil {
			if old = ch.replaced[id]; old != nil {
				kept[old.ID] = true
			}
		}
		if old == t {
			c := *t // it had rows before anything was noted
			c.Stream, c.MaxVersions = nil, 0
			old = &c
		}
		if err := (stream.Change{Old: old, New: t, Emptied: ch.emptied[id], At: now}).Note(ctx, txn); err != nil {
			return err
		}
		if t.KeepsVersions() && (old == nil || old.ID != id || !old.KeepsVersions()) {
			if err := table.MarkHistory(txn, id); err != nil {
				return err
			}
		}
	}
	for id, old := range ch.Base.byID {
		if ch.next.byID[id] == nil && !kept[id] && old.Stream != nil {
			if err := (stream.Change{Old: old, At: now}).Note(ctx, txn); err != nil {
				return err
			}
		}
	}
	return nil
}
