package exec

import (
	"github.com/sqlots/sqlots/geo"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/vec"
)

// collectAcc is ST_COLLECT: it keeps the geometries of a group, NULL left out,
// in their stored form.
type collectAcc struct{ listAcc }

// collectRoom is how many bytes it takes to put a geometry into a collection, for each
// byte of its stored form.
const collectRoom = 8

func (c *collectAcc) add(args []*vec.Vec, rows []uint16, groups []uint32) error {
	for r, i := range rows {
		if args[0].Nulls.IsNull(int(i)) {
			continue
		}
		if err := c.put(groupOf(groups, r), args[0].Bytes[i]); err != nil {
			return err
		}
	}
	return nil
}

func (c *collectAcc) merge(o accumulator, to []uint32) error {
	return c.mergeLists(&o.(*collectAcc).listAcc, to)
}

func (c *collectAcc) result(g int, dst *vec.Vec, i int) error {
	l := &c.list[g]
	if l.len() == 0 {
		dst.Nulls.Set(i)
		return nil
	}
	release, err := c.ec.Hold(collectRoom * int64(len(l.data)))
	if err != nil {
		return err
	}
	defer release()
	out := geo.Value{SRID: geo.SRIDOf(l.at(0))}
	var parts []geo.Geometry
	for k := range l.len() {
		v, err := geo.Decode(l.at(k))
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
