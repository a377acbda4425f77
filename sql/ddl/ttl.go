package ddl

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// checkTTL: the column of the TTL stays one of times, and no row that another
// refers to expires. 8148, 8149, 8152, 1235.
func (a *alteration) checkTTL() error {
	t := a.t
	if t.TTL == nil {
		return nil
	}
	c := t.Column(t.TTL.Column)
	if c == nil {
		return sqlerr.TTLDropColumn(a.old.Column(t.TTL.Column).Name)
	}
	switch c.Type.ID {
	case schema.TypeDate, schema.TypeDatetime, schema.TypeTimestamp:
	default:
		return sqlerr.TTLColumnType(c.Name)
	}
	if a.c.r.temporary {
		return sqlerr.TTLOfTemporary()
	}
	if len(a.c.snapshot().Children(a.old.Database, a.old.Name)) > 0 {
		return sqlerr.TTLOfParent()
	}
	return nil
}
