package catalog

import (
	"encoding/binary"
	"sort"

	"github.com/sqlots/sqlots/schema"
)

// View finds a view by its exact name.
func (s *Snapshot) View(db, name string) (*schema.View, bool) {
	d := s.databases[db]
	if d == nil {
		return nil, false
	}
	v := d.views[name]
	return v, v != nil
}

// ViewByID finds a view; nil if none exists.
func (s *Snapshot) ViewByID(id schema.TableID) *schema.View { return s.viewByID[id] }

// Views are the views of a database by name.
func (s *Snapshot) Views(db string) []*schema.View {
	d := s.databases[db]
	if d == nil {
		return nil
	}
	out := make([]*schema.View, 0, len(d.views))
	for _, v := range d.views {
		out = append(out, v)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// Taken reports whether a table or view has the name: they share one space.
func (s *Snapshot) Taken(db, name string) bool {
	_, isTable := s.Table(db, name)
	_, isView := s.View(db, name)
	return isTable || isView
}

func viewKey(id schema.TableID) []byte {
	return binary.BigEndian.AppendUint32([]byte{system, keyView}, uint32(id))
}

// PutView creates or replaces a view, also under another name; v becomes part
// of the snapshot and must not change any more.
func (ch *Change) PutView(v *schema.View) {
	if old := ch.next.viewByID[v.ID]; old != nil {
		delete(ch.next.databases[old.Database].views, old.Name)
	}
	ch.next.databases[v.Database].views[v.Name] = v
	ch.next.viewByID[v.ID] = v
	ch.put(viewKey(v.ID), v)
}

// DropView removes a view.
func (ch *Change) DropView(v *schema.View) {
	if d := ch.next.databases[v.Database]; d != nil && d.views[v.Name] != nil && d.views[v.Name].ID == v.ID {
		delete(d.views, v.Name)
	}
	delete(ch.next.viewByID, v.ID)
	ch.puts[string(viewKey(v.ID))] = nil
}
