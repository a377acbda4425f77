package ddl

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/define/searchfield"
	"github.com/sqlots/sqlots/sql/mdl"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// A search index is made by publishing its descriptor: whoever keeps its files
// builds them from then on, also after a restart, and says when they can be
// used. The statement waits for that, so that the index serves the next one.

// SearchBuilds reports on the files of search indexes.
type SearchBuilds interface {
	// Wait waits until indexes of a table serve queries, and their next forms can;
	// the error is a failure that lasts. progress is called with a line for the
	// process list.
	Wait(ctx context.Context, table schema.TableID, indexes []schema.IndexID, progress func(state string)) error
	// Files names the files of an index.
	Files(t *schema.Table, x *schema.SearchIndex) string
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
	if x.Name == "" && x.All {
		x.Name = define.IndexName(a.t, define.ColumnarName)
	}
	if x.Name == "" && s.IndexColumns[0].Expr != "" {
		x.Name = define.IndexName(a.t, define.FunctionalIndex)
	}
	if x.Name == "" {
		x.Name = define.IndexName(a.t, s.IndexColumns[0].Name)
	}
	if err := define.ResolveSearch(a.c.r.Binder, a.t, &x, s.IndexColumns); err != nil {
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

// alterSearch is ALTER SEARCH INDEX: other fields are the next form of the index.
func (a *alteration) alterSearch(s *logical.AlterSpec) error {
	i := a.findSearch(s.Name)
	if i < 0 {
		return sqlerr.KeyDoesNotExist(s.Name, a.t.Name)
	}
	x := a.t.Search[i].Clone()
	switch x.Form {
	case schema.FormFulltext:
		return sqlerr.WrongUsage("ALTER SEARCH INDEX", "FULLTEXT")
	case schema.FormSpatial:
		return sqlerr.WrongUsage("ALTER SEARCH INDEX", "SPATIAL")
	case schema.FormColumnar:
		return sqlerr.WrongUsage("ALTER SEARCH INDEX", "COLUMNAR")
	}
	if x.Next == nil {
		next := x.Clone()
		next.Files = nil
		x.Next = &next
	}
	for _, c := range s.SearchDrop {
		if !a.dropFields(x.Next, &c) {
			return sqlerr.CannotDropFieldOrKey(cmp.Or(c.Name, c.Expr))
		}
	}
	if err := define.ResolveSearch(a.c.r.Binder, a.t, x.Next, s.IndexColumns); err != nil {
		return err
	}
	if len(x.Next.Fields) == 0 {
		return sqlerr.CannotRemoveAllSearchFields()
	}
	a.t.Search[i], a.changed = x, true
	return nil
}

// dropFields takes the fields of a column out of x: all of them, unless the kind
// is named too. false: it has none.
func (a *alteration) dropFields(x *schema.SearchIndex, c *define.IndexColumn) bool {
	n := len(x.Fields)
	x.Fields = slices.DeleteFunc(x.Fields, func(f schema.SearchField) bool {
		col := a.t.Column(f.Column)
		switch {
		case col == nil:
			return false
		case c.Expr != "":
			if s := a.t.Column(f.Source); s != nil {
				col = s
			}
			return col.Hidden && col.Generated != nil && col.Generated.Expr == c.Expr && isNamed(c.Search, &f)
		}
		if f.Attribute {
			return strings.EqualFold(col.Generated.Expr, schema.QuoteName(c.Name)) && (c.Search.Kind == schema.SearchValue || c.Search.ElemName() == f.ElemName())
		}
		if c.Search.Kind == schema.SearchNested && c.Search.Path != f.Path {
			return false
		}
		if f.Source != 0 {
			if col = a.t.Column(f.Source); col == nil {
				return false
			}
		}
		if col.Hidden || !strings.EqualFold(col.Name, c.Name) {
			return false
		}
		if c.Search.As != "" {
			return c.Search.As == f.As && slices.Equal(c.Search.Formats, f.Formats)
		}
		return c.Search.Kind == schema.SearchValue || c.Search.Kind == f.Kind
	})
	return len(x.Fields) < n
}

// isNamed reports whether a field over a part of a JSON column is of the kind that
// is named: any if none is.
func isNamed(c, f *schema.SearchField) bool {
	switch {
	case c.Kind == schema.SearchValue && c.As == "":
		return true
	case c.Kind != f.Kind:
		return false
	case c.Kind == schema.SearchPath:
		return c.Many == f.Many && c.ElemName() == f.ElemName()
	}
	return c.As == "" || c.As == f.As && slices.Equal(c.Formats, f.Formats)
}

// dropFromSearch takes a column out of all search indexes. One without fields
// goes.
func (a *alteration) dropFromSearch(id schema.ColumnID) {
	a.t.Search = slices.DeleteFunc(a.t.Search, func(x schema.SearchIndex) bool {
		g := x.Generations()
		return len(withoutField(g[len(g)-1].Fields, id)) == 0
	})
	for i := range a.t.Search {
		x := &a.t.Search[i]
		for _, g := range x.Generations() {
			g.Fields = withoutField(g.Fields, id)
		}
		if len(x.Fields) == 0 {
			*x = *x.Next
		}
	}
}

func withoutField(list []schema.SearchField, id schema.ColumnID) []schema.SearchField {
	return slices.DeleteFunc(slices.Clone(list), func(f schema.SearchField) bool { return f.Column == id })
}

// checkSearch checks the search indexes of the finished copy: names, and that
// the types of columns still fit.
func (a *alteration) checkSearch() error {
	t := a.t
	if err := a.followColumns(); err != nil {
		return err
	}
	a.succeedSearch()
	for i := range t.Search {
		x := &t.Search[i]
		if strings.EqualFold(x.Name, "PRIMARY") {
			return sqlerr.WrongNameForIndex(x.Name)
		}
		taken := t.IndexByName(x.Name) != nil || slices.ContainsFunc(t.Search[:i], func(o schema.SearchIndex) bool { return strings.EqualFold(o.Name, x.Name) })
		if taken {
			return sqlerr.DuplicateKeyName(x.Name)
		}
		for _, g := range x.Generations() {
			for j := range g.Fields {
				c := t.Column(g.Fields[j].Column)
				if c == nil {
					return sqlerr.Internal("field %d of search index %s has no column", g.Fields[j].ID, x.Name)
				}
				if err := searchfield.Check(g, c, &g.Fields[j]); err != nil {
					return err
				}
			}
		}
	}
	logSearch(t)
	if s := t.Stream; s != nil && s.Internal && s.ID == 0 && a.old.Stream != nil {
		s.ID = a.old.Stream.ID
	}
	return nil
}

// followColumns has columnar indexes follow the columns of the table: other types, and
// columns that were added. What that adds is the next form of an index that serves.
func (a *alteration) followColumns() error {
	for i := range a.t.Search {
		x := &a.t.Search[i]
		if x.Form != schema.FormColumnar {
			continue
		}
		next := x
		if x.Next != nil {
			next = x.Next
		}
		now := next.Clone()
		now.Next = nil
		if err := define.RetypeColumns(a.t, &now); err != nil {
			return err
		}
		if x.All {
			if err := define.FollowColumns(a.c.r.Binder, a.t, &now); err != nil {
				return err
			}
		}
		if sameFiles(next, &now) {
			continue
		}
		now.Files = nil
		if searchByID(a.old, x.ID) == nil {
			*x = now
			continue
		}
		if a.changed = true; x.Next == nil && a.addLate(x, &now) {
			continue
		}
		x.Next = &now
	}
	return nil
}

// addLate gives an index the fields of now that it lacks, if it can read them without a
// build: those of columns that all rows have with one value. Others leave it as it was.
func (a *alteration) addLate(x, now *schema.SearchIndex) bool {
	if a.rebuild {
		return false
	}
	for i := range now.Fields {
		f := &now.Fields[i]
		if x.Values(f.Column) != nil && x.Values(f.Column).ID == f.ID {
			continue
		}
		c := a.t.Column(f.Column)
		if !a.fresh[f.Column] || c.Generated != nil || c.AutoIncrement {
			return false
		}
		f.Late, f.Missing = true, c.AddedDefault
	}
	x.Fields, x.NextField = now.Fields, now.NextField
	return true
}

// succeedSearch makes a search index that takes the name of one that goes the next
// form of that; and has only those indexes serve until their next form is built
// that can.
func (a *alteration) succeedSearch() {
	for i := range a.t.Search {
		x := &a.t.Search[i]
		o := a.old.SearchByName(x.Name)
		if o != nil && searchByID(a.old, x.ID) == nil && searchByID(a.t, o.ID) == nil {
			next := x.Clone()
			next.ID, next.NextField = o.ID, max(o.NextField, 1)
			for j := range next.Fields {
				f := &next.Fields[j]
				if k := slices.IndexFunc(o.Fields, func(was schema.SearchField) bool { return sameField(f, &was) }); k >= 0 {
					f.ID, f.Sub = o.Fields[k].ID, o.Fields[k].Sub
					continue
				}
				f.Number(&next.NextField)
			}
			*x = o.Clone()
			x.Next = &next
		}
		if x.Next != nil && (sameFiles(x, x.Next) || !a.serves(x)) {
			*x = *x.Next
		}
		a.keepFiles(x)
	}
}

// keepFiles has an index keep its files where its documents stay what they are,
// except for fields that it drops. It reports whether they do.
func (a *alteration) keepFiles(x *schema.SearchIndex) bool {
	o := searchByID(a.old, x.ID)
	x.Files = nil
	if o == nil || a.c.r.Search == nil || !a.sameDocuments(o, x) {
		return false
	}
	if name := a.c.r.Search.Files(a.old, o); name != a.c.r.Search.Files(a.t, x) {
		x.Files = &schema.SearchFiles{Name: name, Table: a.t.ID}
	}
	return true
}

// sameDocuments reports whether the documents of an index have what those of o have
// in all its fields.
func (a *alteration) sameDocuments(o, x *schema.SearchIndex) bool {
	if a.t.ID != a.old.ID { // a copy
		if !slices.Equal(a.old.PrimaryKey, a.t.PrimaryKey) || slices.ContainsFunc(a.t.PrimaryKey, func(p schema.KeyPart) bool { return !a.sameValues(p.Column) }) {
			return false
		}
	}
	if o.Form != x.Form {
		return false
	}
	was := *a.t // under the old number, which is in the name
	was.ID = a.old.ID
	for i := range x.Fields {
		f := &x.Fields[i]
		if f.Late && a.fresh[f.Column] && a.t.ID == a.old.ID {
			continue
		}
		if !slices.ContainsFunc(o.Fields, func(g schema.SearchField) bool { return g.ID == f.ID && sameField(&g, f) }) {
			return false
		}
		alone := schema.SearchIndex{ID: x.ID, Form: x.Form, Fields: []schema.SearchField{*f}}
		if a.c.r.Search.Files(a.old, &alone) != a.c.r.Search.Files(&was, &alone) || !a.sameValues(f.Column) || f.Source != 0 && !a.sameValues(f.Source) || f.Value != 0 && !a.sameValues(f.Value) ||
			f.Attribute && a.t.ID != a.old.ID {
			return false
		}
	}
	return true
}

// sameValues reports whether a column has the same values as before, in the same
// form.
func (a *alteration) sameValues(id schema.ColumnID) bool {
	was, now := a.old.Column(id), a.t.Column(id)
	if was == nil || now == nil || !sameRule(was.Generated, now.Generated) || a.notNull[id] || a.numbered == id || !a.sameStorage(was, now) {
		return false
	}
	if now.Generated == nil {
		return true
	}
	if a.t.IsPartitionColumn(id) && !samePartitions(a.old.Partitioning, a.t.Partitioning) {
		return false
	}
	return !slices.ContainsFunc(now.Generated.Reads, func(r schema.ColumnID) bool {
		w, n := a.old.Column(r), a.t.Column(r)
		return w == nil || n == nil || !sameType(w.Type, n.Type) || !a.sameValues(r)
	})
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

// serves reports whether an index can go on serving with the present definition
// of the table.
func (a *alteration) serves(x *schema.SearchIndex) bool {
	return !slices.ContainsFunc(x.Fields, func(f schema.SearchField) bool {
		was, now := a.old.Column(f.Column), a.t.Column(f.Column)
		return was == nil || now == nil || !sameType(was.Type, now.Type) || !sameRule(was.Generated, now.Generated)
	})
}

func sameField(a, b *schema.SearchField) bool {
	x, y := *a, *b
	x.ID, y.ID = 0, 0
	if len(x.Sub) > 0 {
		var from, to uint16
		x.Number(&from)
		y.Number(&to)
	}
	return reflect.DeepEqual(x, y)
}

// sameFiles reports whether two forms of an index have the same fields.
func sameFiles(a, b *schema.SearchIndex) bool {
	return a.Form == b.Form && slices.EqualFunc(a.Fields, b.Fields, func(a, b schema.SearchField) bool { return a.ID == b.ID && sameField(&a, &b) })
}

func searchByID(t *schema.Table, id schema.IndexID) *schema.SearchIndex {
	for i := range t.Search {
		if t.Search[i].ID == id {
			return &t.Search[i]
		}
	}
	return nil
}

// swapSearch gives all search indexes of a table their next form.
func swapSearch(t *schema.Table) {
	for i := range t.Search {
		if x := &t.Search[i]; x.Next != nil {
			*x = *x.Next
		}
	}
}

// forgetNext drops the next forms of all search indexes of a table, which keep
// their present ones.
func forgetNext(t *schema.Table) {
	for i := range t.Search {
		t.Search[i].Next = nil
	}
}

// alterSearched is alterTable that ends when the search indexes which it adds
// serve queries, and those which it changes have their next form.
func (c *change) alterSearched(ctx context.Context, x *logical.AlterTable) (uint64, error) {
	was := &schema.Table{}
	if t, err := findTable(c.snapshot(), x.Table); err == nil {
		was = t
	}
	n, err := c.alterTable(ctx, x)
	if err != nil {
		return 0, err
	}
	name := x.Table
	for _, s := range x.Specs {
		if s.Kind == logical.AlterRenameTable {
			name = s.Table
		}
	}
	return n, c.awaitSearch(ctx, name, was)
}

// awaitSearch waits until those search indexes of a table that are not what they
// were serve queries, then gives them their next forms. An error takes back what
// is new of them; nothing else of the statement, and no index that had to be made
// again. Other schema changes of the table are kept away.
func (c *change) awaitSearch(ctx context.Context, name logical.TableName, was *schema.Table) error {
	t, err := findTable(c.snapshot(), name)
	if err != nil {
		return nil
	}
	var ids []schema.IndexID
	next := false
	for i := range t.Search {
		x := &t.Search[i]
		next = next || x.Next != nil
		if o := searchByID(was, x.ID); t.ID != was.ID || o == nil || x.Next != nil || !sameFiles(o, x) {
			ids = append(ids, x.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	c.releaseTables()
	c.r.step("search published")
	if c.r.Search != nil {
		err = c.r.Search.Wait(ctx, t.ID, ids, c.state)
	}
	if err == nil && !next {
		return nil
	}
	if err == nil {
		c.r.step("search built")
		err = c.changeSearch(ctx, t.ID, swapSearch)
		c.r.step("search swapped")
	}
	if err == nil || isShutdown(ctx, err) {
		return err
	}
	isNew := func(x schema.SearchIndex) bool { return searchByID(was, x.ID) == nil }
	if !next && !slices.ContainsFunc(t.Search, isNew) {
		return nil // it is built in the background
	}
	undone := c.changeSearch(ctx, t.ID, func(t *schema.Table) {
		forgetNext(t)
		t.Search = slices.DeleteFunc(t.Search, isNew)
		logSearch(t)
	})
	if undone != nil {
		c.r.Log.Error("removing an unfinished search index", "table", t.Database+"."+t.Name, "error", undone)
	}
	return err
}

// changeSearch publishes other search indexes of a table. Those who use the table
// need not wait: they read no files of an index that is not there, and their rows
// do not change.
func (c *change) changeSearch(ctx context.Context, id schema.TableID, fn func(t *schema.Table)) error {
	return c.publish(ctx, func(ch *catalog.Change) error {
		now := ch.Base.TableByID(id)
		if now == nil {
			return nil
		}
		n := now.Clone()
		fn(n)
		n.DropUnusedHidden()
		n.Version++
		ch.PutTable(n)
		return nil
	})
}

// awaitNew waits until the search indexes of a new table serve queries. Its name
// is locked: after an error there is no table.
func (c *change) awaitNew(ctx context.Context, t *schema.Table) error {
	if t == nil || len(t.Search) == 0 || c.r.Search == nil {
		return nil
	}
	var ids []schema.IndexID
	for i := range t.Search {
		ids = append(ids, t.Search[i].ID)
	}
	err := c.r.Search.Wait(ctx, t.ID, ids, c.state)
	if err == nil || isShutdown(ctx, err) {
		return err
	}
	if undone := c.drop(context.WithoutCancel(ctx), []*schema.Table{t}); undone != nil {
		c.r.Log.Error("removing an unfinished table", "table", t.Database+"."+t.Name, "error", undone)
	}
	return err
}

// searchChange is ALTER TABLE of a search index that the last run of the server
// has left while the next form was built.
type searchChange struct {
	r     *Runner
	table *schema.Table
	owner mdl.Owner
}

// Statement implements Continuation.
func (s *searchChange) Statement() string {
	text := "ALTER TABLE `" + s.table.Name + "`"
	for i := range s.table.Search {
		if x := &s.table.Search[i]; x.Next != nil {
			text += " ALTER SEARCH INDEX `" + x.Name + "`"
		}
	}
	return text
}

// Database implements Continuation.
func (s *searchChange) Database() string { return s.table.Database }

// Continue implements Continuation.
func (s *searchChange) Continue(ctx context.Context, env Env) error {
	env.Owner = s.owner
	c := s.r.change(&env)
	c.held = append(c.held, mdl.ChangeKey(s.table.Database, s.table.Name))
	defer c.release()
	return c.awaitSearch(ctx, logical.TableName{DB: s.table.Database, Name: s.table.Name}, s.table)
}

// resumeSearch finds the changes of search indexes that the last server has left.
// They hold their tables against other schema changes from now on.
func (r *Runner) resumeSearch(ctx context.Context) error {
	snap := r.Catalog.Snapshot()
	for _, d := range snap.Databases() {
		for _, t := range snap.Tables(d.Name) {
			if !slices.ContainsFunc(t.Search, func(x schema.SearchIndex) bool { return x.Next != nil }) {
				continue
			}
			s := &searchChange{r: r, table: t, owner: mdl.Owner(uint64(t.ID) | 1<<60 | 1<<59)}
			if err := r.Locks.Exclusive(ctx, s.owner, mdl.ChangeKey(t.Database, t.Name), time.Minute); err != nil {
				return err
			}
			r.unfinished = append(r.unfinished, s)
			r.Log.Info("continuing a change of a search index", "event", "ddl.continued", "table", t.Database+"."+t.Name)
		}
	}
	return nil
}
