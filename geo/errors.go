package geo

import "errors"

// Errors of this package.
var (
	// ErrInvalid is data that is no well-formed geometry.
	ErrInvalid = errors.New("invalid geometry data")
	// ErrTooLarge is a polygon of half the planet or more, or geometries that do
	// not fit on one hemisphere.
	ErrTooLarge = errors.New("geometry too large for its plane")
	// ErrOverlay is an overlay that failed for numerical reasons.
	ErrOverlay = errors.New("overlay failed")
	// ErrTooComplex is an overlay or a relation of geometries with more crossings than
	// can be looked at in reasonable time.
	ErrTooComplex = errors.New("too many crossings")
	// ErrTooManyPoints is a result of more points than the limit.
	ErrTooManyPoints = errors.New("too many points")
	// ErrRange is a length, distance or area that is not finite.
	ErrRange = errors.New("result out of range")
)
