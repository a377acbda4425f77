package catalog

import (
	"cmp"
	"slices"

	"github.com/sqlots/sqlots/schema"
)

type tableName struct{ db, name string }

// findChildren notes which tables have foreign keys that refer to which.
func (s *Snapshot) findChildren() {
	s.children = map[tableName][]*schema.Table{}
	for _, t := range s.byID {
		for i := range t.ForeignKeys {
			n := tableName{t.ForeignKeys[i].Database, t.ForeignKeys[i].Table}
			if !slices.Contains(s.children[n], t) {
				s.children[n] = append(s.children[n], t)
			}
		}
	}
	for _, list := range s.children {
		slices.SortFunc(list, func(a, b *schema.Table) int { return cmp.Compare(a.ID, b.ID) })
	}
}

// Children are the tables with foreign keys that refer to a table of that name,
// by id. Not to be changed. Within a Change they are as before it.
func (s *Snapshot) Children(db, name string) []*schema.Table { return s.children[tableName{db, name}] }

// References are the foreign keys that changes of tables have to keep; nil
// without foreign keys.
func (s *Snapshot) References(tables []*schema.Table) *schema.References {
	has := false
	for _, t := range tables {
		has = has || len(t.ForeignKeys) > 0 || len(s.Children(t.Database, t.Name)) > 0
	}
	if !has {
		return nil
	}
	w := &walk{s: s, out: &schema.References{Out: map[schema.TableID][]*schema.Reference{}, In: map[schema.TableID][]*schema.Reference{}}}
	for _, t := range tables {
		w.visit(t)
	}
	return w.out
}

// walk follows the actions of foreign keys.
type walk struct {
	s    *Snapshot
	out  *schema.References
	done []*schema.Table
}

func (w *walk) note(t *schema.Table) {
	if t != nil && !slices.Contains(w.out.Tables, t) {
		w.out.Tables = append(w.out.Tables, t)
	}
}

// visit adds the foreign keys of a table that is written to.
func (w *walk) visit(t *schema.Table) {
	if slices.Contains(w.done, t) {
		return
	}
	w.done = append(w.done, t)
	w.note(t)
	for i := range t.ForeignKeys {
		k := &t.ForeignKeys[i]
		parent, _ := w.s.Table(k.Database, k.Table)
		if r, ok := schema.NewReference(t, k, parent); ok {
			w.out.Out[t.ID] = append(w.out.Out[t.ID], r)
			w.note(parent)
		}
	}
	for _, child := range w.s.Children(t.Database, t.Name) {
		w.note(child)
		for i := range child.ForeignKeys {
			k := &child.ForeignKeys[i]
			if !k.RefersTo(t.Database, t.Name) {
				continue
			}
			r, ok := schema.NewReference(child, k, t)
			if !ok || r.Parent == nil {
				continue
			}
			w.out.In[t.ID] = append(w.out.In[t.ID], r)
			if k.OnDelete.Writes() || k.OnUpdate.Writes() {
				if !slices.Contains(w.out.Cascaded, child) {
					w.out.Cascaded = append(w.out.Cascaded, child)
				}
				w.visit(child)
			}
		}
	}
}

// IsCurrent reports whether r is what References of the tables gives now.
func (s *Snapshot) IsCurrent(r *schema.References, tables []*schema.Table) bool {
	if r == nil {
		for _, t := range tables {
			if len(t.ForeignKeys) > 0 || len(s.Children(t.Database, t.Name)) > 0 {
				return false
			}
		}
		return true
	}
	now := s.References(tables)
	return now != nil && slices.Equal(now.Tables, r.Tables)
}
