package ddl

import (
	"context"
	"slices"
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/planner/bind"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// A search index is made by publishing its descriptor: whoever keeps its files
// builds them from then on, also after a restart, and says when they can be
// used. The statement waits for that, so that the index serves the next one.

// SearchBuilds tells of the files of search indexes.
type SearchBuilds interface {
	// Wait waits until the indexes of a table serve queries, or can never.
	// progress is called with a line for the process list.
	Wait(ctx context.Context, table schema.TableID, progress func(state string)) error
}

// internalRetention is how long the records of a change log are kept that only
// search indexes read, in seconds: transactions that began before are served
// otherwise.
const internalRetention = 600

func (a *alteration) addSearch(s *logical.AlterSpec) error {
	if a.c.r.temporary {
		return sqlerr.NotSupported("search index on a temporary table")
	}
	x := *s.Search
	x.Name, x.Invisible, x.Comment = s.Index.Name, s.Index.Invisible, s.Index.Comment
	if x.Name == "" {
		x.Name = s.Name
	}
	if s.IfNotExists && x.Name != "" && a.t.HasIndexNamed(x.Name) {
		a.c.note(sqlerr.DuplicateKeyName(x.Name))
		return nil
	}
	if a.t.NextIndexID > maxIndexID {
		return sqlerr.TooManyKeys(maxKeys)
	}
	if x.Name == "" && s.IndexColumns[0].Expr != "" {
		x.Name = bind.IndexName(a.t, "functional_index")
	}
	if x.Name == "" {
		x.Name = bind.IndexName(a.t, s.IndexColumns[0].Name)
	}
	if err := bind.ResolveSearch(a.c.r.parsers, a.t, &x, s.IndexColumns); err != nil {
		return err
	}
	x.ID = a.t.NextIndexID
	a.t.NextIndexID++
	a.t.Search, a.changed = append(a.t.Search, x), true
	return nil
}

// findSearch is findIndex for search indexes.
func (a *alteration) findSearch(name string) int {
	x := a.old.SearchByName(name)
	if x == nil {
		return -1
	}
	return slices.IndexFunc(a.t.Search, func(o schema.SearchIndex) bool { return o.ID == x.ID })
}

// dropFromSearch takes a column out of all search indexes. One without fields
// goes.
func (a *alteration) dropFromSearch(id schema.ColumnID) {
	a.t.Search = slices.DeleteFunc(a.t.Search, func(x schema.SearchIndex) bool { return len(withoutField(x.Fields, id)) == 0 })
	for i := range a.t.Search {
		a.t.Search[i].Fields = withoutField(a.t.Search[i].Fields, id)
	}
}

func withoutField(list []schema.SearchField, id schema.ColumnID) []schema.SearchField {
	return slices.DeleteFunc(slices.Clone(list), func(f schema.SearchField) bool { return f.Column == id })
}

// checkSearch checks the search indexes of the finished copy: names, and that
// the types of columns still fit.
func (a *alteration) checkSearch() error {
	t := a.t
	for i := range t.Search {
		x := &t.Search[i]
		if strings.EqualFold(x.Name, "PRIMARY") {
			return sqlerr.WrongNameForIndex(x.Name)
		}
		taken := t.IndexByName(x.Name) != nil || slices.ContainsFunc(t.Search[:i], func(o schema.SearchIndex) bool { return strings.EqualFold(o.Name, x.Name) })
		if taken {
			return sqlerr.DuplicateKeyName(x.Name)
		}
		for j := range x.Fields {
			c := t.Column(x.Fields[j].Column)
			if c == nil {
				return sqlerr.Internal("field %d of search index %s has no column", x.Fields[j].ID, x.Name)
			}
			if err := bind.CheckSearchField(x, c, &x.Fields[j]); err != nil {
				return err
			}
		}
	}
	logSearch(t)
	if s := t.Stream; s != nil && s.Internal && s.ID == 0 && a.old.Stream != nil {
		s.ID = a.old.Stream.ID
	}
	return nil
}

// logSearch gives a table with search indexes the change log that they follow,
// and takes away one that nothing needs any more.
func logSearch(t *schema.Table) {
	switch {
	case len(t.Search) > 0 && t.Stream == nil:
		t.Stream = &schema.Stream{Retention: internalRetention, Internal: true}
	case len(t.Search) == 0 && t.Stream != nil && t.Stream.Internal:
		t.Stream = nil
	}
}

// alterSearched is alterTable that ends when the search indexes which it adds
// serve queries.
func (c *change) alterSearched(ctx context.Context, x *logical.AlterTable) (uint64, error) {
	var before []schema.SearchIndex
	if t, err := findTable(c.snapshot(), x.Table); err == nil {
		before = t.Search
	}
	n, err := c.alterTable(ctx, x)
	if err != nil {
		return 0, err
	}
	for _, s := range x.Specs {
		if s.Kind == logical.AlterRenameTable {
			x.Table = s.Table
		}
	}
	return n, c.awaitSearch(ctx, x.Table, before)
}

// awaitSearch waits until the search indexes of a table serve queries. Those
// that were not there before go when the statement is killed.
func (c *change) awaitSearch(ctx context.Context, name logical.TableName, before []schema.SearchIndex) error {
	t, err := findTable(c.snapshot(), name)
	if err != nil || len(t.Search) == 0 || c.r.Search == nil {
		return nil
	}
	c.release()
	err = c.r.Search.Wait(ctx, t.ID, c.state)
	if err == nil || isShutdown(ctx, err) {
		return err
	}
	if undone := c.dropSearch(context.WithoutCancel(ctx), t, before); undone != nil {
		c.r.Log.Error("removing an unfinished search index", "table", t.Database+"."+t.Name, "error", undone)
	}
	return err
}

// dropSearch removes the search indexes of a table that were not there before.
func (c *change) dropSearch(ctx context.Context, t *schema.Table, before []schema.SearchIndex) error {
	if err := c.lockTables(ctx, logical.TableName{DB: t.Database, Name: t.Name}); err != nil {
		return err
	}
	defer c.release()
	return c.publish(ctx, func(ch *catalog.Change) error {
		now := ch.Base.TableByID(t.ID)
		if now == nil {
			return nil
		}
		n := now.Clone()
		n.Search = slices.DeleteFunc(n.Search, func(x schema.SearchIndex) bool {
			return !slices.ContainsFunc(before, func(o schema.SearchIndex) bool { return o.ID == x.ID })
		})
		n.Version++
		logSearch(n)
		ch.PutTable(n)
		return nil
	})
}
