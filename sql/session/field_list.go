package session

import (
	"context"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// FieldList implements mysqlwire.Session: COM_FIELD_LIST.
func (s *Session) FieldList(ctx context.Context, name, wildcard string) ([]mysqlwire.Column, error) {
	if s.database == "" {
		return nil, sqlerr.NoDatabaseSelected()
	}
	var out []mysqlwire.Column
	snap := s.engine.Catalog.Snapshot()
	if v, ok := snap.View(s.database, name); ok && s.temps.temporary(s.database, name) == nil {
		cols, _, err := (*introspected)(s.Connection).DescribeView(v)
		for _, c := range cols {
			out = append(out, mysqlwire.Column{Database: v.Database, Table: v.Name, OrgTable: v.Name, Name: c.Name, OrgName: c.Name, Type: c.Type, NotNull: !c.Nullable})
		}
		return out, err
	}
	t, ok := s.temps.visible().Table(s.database, name)
	if !ok {
		return nil, sqlerr.NoSuchTable(s.database, name)
	}
	roles := t.Roles()
	for i, c := range t.Columns {
		if c.Hidden {
			continue
		}
		out = append(out, mysqlwire.Column{Database: t.Database, Table: t.Name, OrgTable: t.Name, Name: c.Name, OrgName: c.Name, Type: c.Type,
			NotNull: !c.Nullable, Role: roles[i]})
	}
	return out, nil
}
