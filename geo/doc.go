// Package geo holds geometry values and what can be computed of them: the
// geometry types of MySQL with their text, binary and GeoJSON forms, spatial
// reference systems, and the algorithms of the spatial functions.
//
// # Model
//
// A Geometry is a tree of points in a plane; a Value is one with its SRID. A
// point of a geographic system has the longitude in X and the latitude in Y,
// in degrees, whatever order the axes of the system have: the order is made
// and undone where text and WKB come in and go out (Options.Swap). Stored form
// of a Value, the bytes of a column:
//
//	+----------------+----+--------------+-----------------------+
//	| SRID, 4 bytes  | 01 | type 4 bytes | body, little endian   |
//	+----------------+----+--------------+-----------------------+
//
// Cartesian predicates and overlays are those of
// github.com/peterstace/simplefeatures, which only this package imports.
// Geographic ones run in a gnomonic plane around the arguments, in which
// geodesics are straight lines (see gnomonic.go). Distances, lengths and areas
// on the ellipsoid are those of the Andoyer-Lambert formula, as in MySQL.
//
// Algorithms whose work may grow with the square of the points take a Work, by which
// they are ended. The library knows no end: its calls for large geometries are refused
// if too many segments meet; one that was abandoned goes on to its end.
//
// Functions return ErrInvalid and the other errors of errors.go; the caller,
// who knows the SQL function's name, makes MySQL's errors of them.
package geo
