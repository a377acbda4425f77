package geo

import (
	"math"
	"strings"
)

const geohashDigits = "0123456789bcdefghjkmnpqrstuvwxyz"

// Geohash encodes a longitude and latitude in at most n characters; fewer
// where these are exact.
func Geohash(lon, lat float64, n int) string {
	loX, hiX, loY, hiY := -180.0, 180.0, -90.0, 90.0
	var b strings.Builder
	even := true
	for b.Len() < n {
		digit := 0
		exact := false
		for bit := 0; bit < 5; bit++ {
			var upper bool
			if even {
				upper, loX, hiX = half(lon, loX, hiX)
			} else {
				upper, loY, hiY = half(lat, loY, hiY)
			}
			digit <<= 1
			if upper {
				digit |= 1
			}
			even = !even
		}
		b.WriteByte(geohashDigits[digit])
		exact = lon == (loX+hiX)/2 && lat == (loY+hiY)/2
		if exact {
			break
		}
	}
	return b.String()
}

func half(v, lo, hi float64) (bool, float64, float64) {
	if mid := (lo + hi) / 2; v < mid {
		return false, lo, mid
	} else {
		return true, mid, hi
	}
}

const maxGeohash = 64

// ParseGeohash is the place that a geohash means: the middle of its cell,
// rounded to as few digits as stay in the cell. ok is false for bad hashes. What follows
// after maxGeohash digits is smaller than a double can say.
func ParseGeohash(hash string) (lon, lat float64, ok bool) {
	loX, hiX, loY, hiY := -180.0, 180.0, -90.0, 90.0
	even := true
	for i := 0; i < len(hash); i++ {
		digit := strings.IndexByte(geohashDigits, hash[i]|0x20)
		if hash[i] < 'A' {
			digit = strings.IndexByte(geohashDigits, hash[i])
		}
		if digit < 0 {
			return 0, 0, false
		}
		if i >= maxGeohash {
			continue
		}
		for bit := 4; bit >= 0; bit-- {
			v := digit>>bit&1 == 1
			switch {
			case even && v:
				loX = (loX + hiX) / 2
			case even:
				hiX = (loX + hiX) / 2
			case v:
				loY = (loY + hiY) / 2
			default:
				hiY = (loY + hiY) / 2
			}
			even = !even
		}
	}
	if hash == "" {
		return 0, 0, false
	}
	return roundInto(loX, hiX), roundInto(loY, hiY), true
}

func roundInto(lo, hi float64) float64 {
	mid := (lo + hi) / 2
	for digits := 0; digits <= 17; digits++ {
		scale := math.Pow(10, float64(digits))
		if r := math.Round(mid*scale) / scale; r >= lo && r <= hi {
			return r
		}
	}
	return mid
}
