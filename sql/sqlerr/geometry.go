package sqlerr

// Errors of geometry types and functions, by number; function is the name in
// lower case.

// SpatialIndexNull: 1252.
func SpatialIndexNull() *Error {
	return newError(1252, "42000", "All parts of a SPATIAL index must be NOT NULL")
}

// SpatialIndexColumn: 1687.
func SpatialIndexColumn() *Error {
	return newError(1687, "42000", "A SPATIAL index may only contain a geometrical type column")
}

// CantCreateGeometryObject: 1416, a value that is none of the column's type.
func CantCreateGeometryObject() *Error {
	return newError(1416, "22003", "Cannot get geometry object from data you send to the GEOMETRY field")
}

// DifferentSRIDs: 3033.
func DifferentSRIDs(function string, a, b uint32) *Error {
	return newError(3033, "HY000", "Binary geometry function %s given two geometries of different srids: %d and %d, which should have been identical.", function, a, b)
}

// GISUnknown: 3035, an algorithm that failed.
func GISUnknown(function string) *Error {
	return newError(3035, "HY000", "Unknown GIS error occurred in function %s.", function)
}

// InvalidGISData: 3037.
func InvalidGISData(function string) *Error {
	return newError(3037, "22023", "Invalid GIS data provided to function %s.", function)
}

// IncorrectType: 3064.
func IncorrectType(argument, function string) *Error {
	return newError(3064, "HY000", "Incorrect type for argument %s in function %s.", argument, function)
}

// GeoJSONMissingMember: 3070.
func GeoJSONMissingMember(function, member string) *Error {
	return newError(3070, "HY000", "Invalid GeoJSON data provided to function %s: Missing required member '%s'", function, member)
}

// GeoJSONWrongType: 3071.
func GeoJSONWrongType(function, member, want string) *Error {
	return newError(3071, "HY000", "Invalid GeoJSON data provided to function %s: Member '%s' is expected to be of type '%s'", function, member, want)
}

// InvalidGeoJSON: 3072.
func InvalidGeoJSON(function string) *Error {
	return newError(3072, "HY000", "Invalid GeoJSON data provided to function %s", function)
}

// UnsupportedDimensions: 3073.
func UnsupportedDimensions(function string, found, want int) *Error {
	return newError(3073, "HY000", "Unsupported number of coordinate dimensions in function %s: Found %d, expected %d", function, found, want)
}

// TooManyPoints: 3134.
func TooManyPoints(parameter string, limit int, function string) *Error {
	return newError(3134, "HY000", "Parameter %s exceeds the maximum number of points in a geometry (%d) in function %s.", parameter, limit, function)
}

// UnexpectedGeometryType: 3516; got is the type that want is not.
func UnexpectedGeometryType(want, got, function string) *Error {
	return newError(3516, "22S01", "%s value is a geometry of unexpected type %s in %s.", want, got, function)
}

// SRSNotFound: 3548.
func SRSNotFound(srid uint32) *Error {
	return newError(3548, "SR001", "There's no spatial reference system with SRID %d.", srid)
}

// InvalidOptionKey: 3558.
func InvalidOptionKey(key, function string) *Error {
	return newError(3558, "22023", "Invalid option key '%s' in function %s.", key, function)
}

// InvalidOptionValue: 3559.
func InvalidOptionValue(val, key, function string) *Error {
	return newError(3559, "22023", "Invalid value '%s' for option '%s' in function '%s'.", val, key, function)
}

// InvalidOptionPair: 3560.
func InvalidOptionPair(pair, function string) *Error {
	return newError(3560, "22023", "The string '%s' is not a valid key %c value pair in function %s.", pair, '=', function)
}

// InvalidOptionStart: 3561.
func InvalidOptionStart(function string, c byte) *Error {
	return newError(3561, "22023", "The options argument in function %s starts with the invalid character '%c'.", function, c)
}

// InvalidOptionEnd: 3562.
func InvalidOptionEnd(function string, c byte) *Error {
	return newError(3562, "22023", "The options argument in function %s ends with the invalid character '%c'.", function, c)
}

// DuplicateOptionKey: 3564, with MySQL's spelling.
func DuplicateOptionKey(key, function string) *Error {
	return newError(3564, "22023", "Duplicate option key '%s' in funtion '%s'.", key, function)
}

// LongitudeOutOfRange: 3616, of a number that a function was given.
func LongitudeOutOfRange(lon float64, function string) *Error {
	return newError(3616, "22S02", "Longitude %f is out of range in function %s. It must be within (%f, %f].", lon, function, -180.0, 180.0)
}

// LatitudeOutOfRange: 3617.
func LatitudeOutOfRange(lat float64, function string) *Error {
	return newError(3617, "22S03", "Latitude %f is out of range in function %s. It must be within [%f, %f].", lat, function, -90.0, 90.0)
}

// NotImplementedForGeographicSRS: 3618; types are the arguments' types.
func NotImplementedForGeographicSRS(function, types string) *Error {
	return newError(3618, "22S00", "%s(%s) has not been implemented for geographic spatial reference systems.", function, types)
}

// WrongSRIDForColumn: 3643.
func WrongSRIDForColumn(column string, got, want uint32) *Error {
	return newError(3643, "HY000", "The SRID of the geometry does not match the SRID of the column '%s'. The SRID of the geometry is %d, but the SRID of the column is %d. Consider changing the SRID of the geometry or the SRID property of the column.", column, got, want)
}

// GeoJSONCRSNotTopLevel: 3672.
func GeoJSONCRSNotTopLevel(function string) *Error {
	return newError(3672, "HY000", "Invalid GeoJSON data provided to function %s: Member 'crs' must be specified in the top level object.", function)
}

// OnlySRID0And4326: 3682.
func OnlySRID0And4326(function string) *Error {
	return newError(3682, "22S00", "Function %s is only defined for SRID 0 and SRID 4326.", function)
}

// NotImplementedForCartesianSRS: 3704.
func NotImplementedForCartesianSRS(function, types string) *Error {
	return newError(3704, "22S00", "%s(%s) has not been implemented for Cartesian spatial reference systems.", function, types)
}

// NotImplementedForProjectedSRS: 3705.
func NotImplementedForProjectedSRS(function, types string) *Error {
	return newError(3705, "22S00", "%s(%s) has not been implemented for projected spatial reference systems.", function, types)
}

// NonPositiveRadius: 3706.
func NonPositiveRadius(function string) *Error {
	return newError(3706, "22003", "Invalid radius provided to function %s: Radius must be greater than zero.", function)
}

// SRSNotGeographic: 3726.
func SRSNotGeographic(function string, srid uint32) *Error {
	return newError(3726, "22S00", "Function %s is only defined for geographic spatial reference systems, but one of its arguments is in SRID %d, which is not geographic.", function, srid)
}

// PolygonTooLarge: 3727.
func PolygonTooLarge(function string) *Error {
	return newError(3727, "22023", "Function %s encountered a polygon that was too large. Polygons must cover less than half the planet.", function)
}

// GeometryLongitudeOutOfRange: 3731, of a point in an argument.
func GeometryLongitudeOutOfRange(function string, lon float64) *Error {
	return newError(3731, "22S02", "A parameter of function %s contains a geometry with longitude %f, which is out of range. It must be within (%f, %f].", function, lon, -180.0, 180.0)
}

// GeometryLatitudeOutOfRange: 3732.
func GeometryLatitudeOutOfRange(function string, lat float64) *Error {
	return newError(3732, "22S03", "A parameter of function %s contains a geometry with latitude %f, which is out of range. It must be within [%f, %f].", function, lat, -90.0, 90.0)
}

// TransformSourceNotSupported: 3741.
func TransformSourceNotSupported(srid uint32) *Error {
	return newError(3741, "22S00", "Transformation from SRID %d is not supported.", srid)
}

// TransformTargetNotSupported: 3742.
func TransformTargetNotSupported(srid uint32) *Error {
	return newError(3742, "22S00", "Transformation to SRID %d is not supported.", srid)
}

// UnknownLengthUnit: 3882.
func UnknownLengthUnit(function, unit string) *Error {
	return newError(3882, "SU001", "The geometry passed to function %s is in SRID 0, which doesn't specify a length unit. Can't convert to '%s'.", function, unit)
}

// UnitNotFound: 3902.
func UnitNotFound(unit string) *Error {
	return newError(3902, "SU001", "There's no unit of measure named '%s'.", unit)
}

// DifferentSRIDsInAggregate: 4034.
func DifferentSRIDsInAggregate(function string, a, b uint32) *Error {
	return newError(4034, "22S05", "Arguments to function %s contains geometries with different SRIDs: %d and %d. All geometries must have the same SRID.", function, a, b)
}
