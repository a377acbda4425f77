package searchfield

import (
	"github.com/sqlots/sqlots/geo"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// Limits of search indexes.
const (
	// MaxFields is the most fields that an index has at once, MaxColumns that of a
	// columnar one, MaxFieldID the
	// largest number of one in its life (search.MaxField).
	MaxFields  = 1000
	MaxColumns = 4096 // of a columnar index
	MaxFieldID = 65534
)

// Check checks that a field of a search index can hold a column: 1283,
// 3152, 1252, 1687, 1235.
func Check(x *schema.SearchIndex, c *schema.Column, f *schema.SearchField) error {
	t := c.Type
	switch {
	case x.Form == schema.FormColumnar:
		return nil // every type has a field
	case f.Kind == schema.SearchPath && t.ID != schema.TypeJSON:
		return sqlerr.NotSupported("a search index field over anything but a path of a JSON column")
	case f.Kind == schema.SearchPath:
	case f.Kind == schema.SearchNested:
		return checkNested(x, c, f)
	case f.Kind == schema.SearchGeo && x.Form == schema.FormSpatial && t.ID != schema.TypeGeometry:
		return sqlerr.SpatialIndexColumn()
	case f.Kind == schema.SearchGeo && x.Form == schema.FormSpatial && c.Nullable:
		return sqlerr.SpatialIndexNull()
	case f.Kind == schema.SearchGeo && (t.ID != schema.TypeGeometry || t.Geometry != geo.TypePoint.String()):
		return sqlerr.NotSupported("index of places on a column that is no POINT")
	case f.Kind == schema.SearchGeo:
	case t.ID == schema.TypeJSON:
		return sqlerr.JSONKey(c.Name)
	case t.ID == schema.TypeGeometry:
		return sqlerr.NotSupported("geometry in a search index")
	case f.Kind == schema.SearchText && (!t.IsString() || t.IsBinary()):
		return sqlerr.BadFulltextColumn(c.Name)
	}
	return nil
}

// Columnar is the field of a column in a columnar index, without a number.
func Columnar(c *schema.Column) schema.SearchField {
	f := schema.SearchField{Column: c.ID, Plain: true}
	if t := c.Type; t.IsBlobOrText() || t.ID == schema.TypeJSON || t.ID == schema.TypeGeometry {
		f.Kind = schema.SearchBytes
	}
	return f
}
