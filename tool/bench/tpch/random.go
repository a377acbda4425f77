package tpch

// random is a stream of numbers that depends on nothing but its seeds
// (splitmix64: Steele, Lea, Flood, Fast splittable pseudorandom number
// generators, 2014).
type random struct{ state uint64 }

func newRandom(table table, row int64) random {
	r := random{state: uint64(table)<<56 ^ uint64(row)*0x9e3779b97f4a7c15}
	r.next()
	return r
}

func (r *random) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	z := r.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// between is uniform in [lo, hi].
func (r *random) between(lo, hi int64) int64 {
	return lo + int64(r.next()%uint64(hi-lo+1))
}

func (r *random) of(words []string) string { return words[r.between(0, int64(len(words)-1))] }
