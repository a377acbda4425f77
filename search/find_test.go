package search

import "github.com/sqlots/sqlots/schema"

// find is the index of a table in any state, or nil.
func (m *Manager) find(table schema.TableID, id schema.IndexID) *Index {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, x := range m.indexes {
		if d := x.desc.Load(); d.table.ID == table && d.index.ID == id {
			return x
		}
	}
	return nil
}
