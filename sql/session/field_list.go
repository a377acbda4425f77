package session

import (
	"context"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// FieldList implements mysqlwire.Session: COM_FIELD_LIST.
func (s *Session) FieldList(ctx context.Context, name, wildcard string) ([]mysqlwire.Column, error) {
	if s.DB == "" {
		return nil, sqlerr.NoDatabaseSelected()
	}
	if err := s.SeesTable(s.DB, name); err != nil {
		return nil, s.st.Audited("Field List", "", name, err)
	}
	var out []mysqlwire.Column
	snap := s.Engine.Catalog.Snapshot()
	if v, ok := snap.View(s.DB, name); ok && s.Temps.Find(s.DB, name) == nil {
		cols, _, err := s.DescribeView(v)
		for _, c := range cols {
			if s.HidesColumn(v.Database, v.Name, c.Name) {
				continue
			}
			out = append(out, mysqlwire.Column{Database: v.Database, Table: v.Name, OrgTable: v.Name, Name: c.Name, OrgName: c.Name, Type: c.Type, NotNull: !c.Nullable})
		}
		return out, err
	}
	t, ok := s.Temps.Visible().Table(s.DB, name)
	if !ok {
		return nil, sqlerr.NoSuchTable(s.DB, name)
	}
	roles := t.Roles()
	for i, c := range t.Columns {
		if c.Hidden || s.HidesColumn(t.Database, t.Name, c.Name) {
			continue
		}
		out = append(out, mysqlwire.Column{Database: t.Database, Table: t.Name, OrgTable: t.Name, Name: c.Name, OrgName: c.Name, Type: c.Type,
			NotNull: !c.Nullable, Role: roles[i]})
	}
	return out, nil
}
