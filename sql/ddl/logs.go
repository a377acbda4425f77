package ddl

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/storage/table"
)

// newStream gives the change log of a new table its id.
func (c *change) newStream(ch *catalog.Change, t *schema.Table) error {
	if len(t.Search) > 0 && c.r.temporary {
		return sqlerr.NotSupported("search index on a temporary table")
	}
	if t.IsLogged() && c.r.temporary {
		return sqlerr.NotSupported("change log or versions of a temporary table")
	}
	logSearch(t)
	if t.Stream == nil {
		return nil
	}
	s := *t.Stream
	s.ID = schema.StreamID(ch.NextTableID())
	t.Stream = &s
	return nil
}

// setAttributes is SECONDARY_ENGINE_ATTRIBUTE = '…': it replaces all that the
// one before said.
func (a *alteration) setAttributes(s *logical.AlterSpec) error {
	if err := define.SetAttributes(a.t, s.Text); err != nil {
		return err
	}
	if a.t.IsLogged() && a.c.r.temporary {
		return sqlerr.NotSupported("change log or versions of a temporary table")
	}
	if old, now := a.old.Stream, a.t.Stream; now != nil && old != nil {
		kept := *now
		kept.ID = old.ID
		a.t.Stream = &kept
	}
	if a.old.KeepsVersions() && !a.t.KeepsVersions() {
		a.dropped = append(a.dropped, table.HistoryIndexID)
	}
	a.changed = true
	return a.setDynamic(define.HasDynamicColumns(s.Text))
}

// numberStream gives a change log that the alteration turns on its id.
func (a *alteration) numberStream(ch *catalog.Change, t *schema.Table) {
	if t.Stream != nil && t.Stream.ID == 0 {
		s := *t.Stream
		s.ID = schema.StreamID(ch.NextTableID())
		t.Stream = &s
	}
}
