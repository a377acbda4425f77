package types

import (
	"math"

	"github.com/sqlots/sqlots/geo"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// geometry checks that a value is a geometry in stored form, of the column's
// kind and reference system. What is not is an error whatever sql_mode says:
// nothing could be stored instead.
func (s *storer) geometry(d value.Datum, from schema.Type) (value.Datum, error) {
	if d.Kind() != value.KindBytes {
		return value.Null, sqlerr.CantCreateGeometryObject()
	}
	v, err := geo.Decode(d.Bytes())
	if err != nil || s.col.Type.Geometry != "" && s.col.Type.Geometry != v.Type.String() {
		return value.Null, sqlerr.CantCreateGeometryObject()
	}
	if t := s.col.Type; t.HasSRID && t.SRID != v.SRID {
		return value.Null, sqlerr.WrongSRIDForColumn(s.col.Name, v.SRID, t.SRID)
	}
	return d, nil
}

// geometryToJSON is a geometry as GeoJSON.
func geometryToJSON(b []byte) ([]byte, error) {
	v, err := geo.Decode(b)
	if err != nil {
		return nil, sqlerr.InvalidGISData("cast_as_json")
	}
	return value.ParseJSON(geo.AppendGeoJSON(nil, v, geo.GeoJSONOptions{Digits: math.MaxInt32}))
}
