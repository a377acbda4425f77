package exec

import (
	"github.com/sqlots/sqlots/geo"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/vec"
)

// collectAcc is ST_COLLECT: it keeps the geometries of a group, NULL left out,
// in their stored form.
type collectAcc struct{ jsonArrayAcc }

func (c *collectAcc) add(args []*vec.Vec, rows []uint16, groups []uint32) error {
	for r, i := range rows {
		if args[0].Nulls.IsNull(int(i)) {
			continue
		}
		g := groupOf(groups, r)
		b := append([]byte(nil), args[0].Bytes[i]...)
		c.list[g] = append(c.list[g], b)
		c.held += int64(len(b)) + 24
	}
	return nil
}

func (c *collectAcc) merge(o accumulator, to []uint32) error {
	return c.jsonArrayAcc.merge(&o.(*collectAcc).jsonArrayAcc, to)
}

func (c *collectAcc) result(g int, dst *vec.Vec, i int) error {
	if len(c.list[g]) == 0 {
		dst.Nulls.Set(i)
		return nil
	}
	out := geo.Value{SRID: geo.SRIDOf(c.list[g][0])}
	var parts []geo.Geometry
	for _, b := range c.list[g] {
		v, err := geo.Decode(b)
		switch {
		case err != nil:
			return sqlerr.InvalidGISData("st_collect")
		case v.SRID != out.SRID:
			return sqlerr.DifferentSRIDsInAggregate("st_collect", out.SRID, v.SRID)
		}
		parts = append(parts, geo.Orient(v.Geometry))
	}
	if _, ok := geo.Lookup(out.SRID); !ok {
		return sqlerr.SRSNotFound(out.SRID)
	}
	out.Geometry = geo.Collect(parts)
	dst.Bytes[i] = out.Encode()
	return nil
}
