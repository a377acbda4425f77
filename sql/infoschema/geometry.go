package infoschema

import (
	"slices"

	"github.com/sqlots/sqlots/geo"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/priv"
)

// geometryColumns is ST_GEOMETRY_COLUMNS.
func geometryColumns(q *query) error {
	return q.eachColumn(func(t *schema.Table, c *schema.Column, _ int, _ priv.Mask) error {
		if c.Type.ID != schema.TypeGeometry {
			return nil
		}
		var name, id any
		if c.Type.HasSRID {
			name, id = "", uint64(c.Type.SRID)
			if s, ok := geo.Lookup(c.Type.SRID); ok && s != nil {
				name = s.Name
			}
		}
		return q.emit("def", t.Database, t.Name, c.Name, name, id, c.Type.Name())
	})
}

// referenceSystems is ST_SPATIAL_REFERENCE_SYSTEMS.
func referenceSystems(q *query) error {
	if err := q.emit("", uint64(0), nil, nil, "", nil); err != nil {
		return err
	}
	all := geo.All()
	ids := make([]uint32, 0, len(all))
	for id := range all {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		s := all[id]
		if err := q.emit(s.Name, uint64(id), "EPSG", uint64(id), s.Definition, nil); err != nil {
			return err
		}
	}
	return nil
}

// lengthUnits is ST_UNITS_OF_MEASURE.
func lengthUnits(q *query) error {
	for _, u := range geo.Units {
		if err := q.emit(u.Name, "LINEAR", u.Metres, ""); err != nil {
			return err
		}
	}
	return nil
}
