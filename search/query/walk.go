package query

// walked is a document of the hits of a number, and its value by the flip of the
// order.
type walked struct {
	hits int
	doc  uint32
	val  int64
}

// walkPart is how many values of hits are read in the time in which a walk passes a
// place of a permutation.
const walkPart = 4

// walk finds the first n values of hits, in order, by the permutations of their
// field: of each segment the documents that have one of its first n, and all that
// are equal to the last of these. ok is false where there is no permutation, or it
// would take longer than to read the values of all hits.
func walk(hits []Hits, cols []*column, desc bool, n int) (list []walked, ok bool) {
	budget := 0
	for i := range hits {
		if c := cols[i]; !c.all && (c.words == nil || c.words.Multi() || !c.words.HasPerm()) {
			return nil, false
		}
		budget += hits[i].Count
	}
	budget /= walkPart
	flip := flipOf(desc)
	var docs, in []uint32
	var vals []int64
	for i := range hits {
		c := cols[i]
		if c.all {
			continue
		}
		w, set := c.words, hits[i].Set
		first := len(list)
		for at, end := 0, w.Sorted(); at < end; {
			size := min(blockDocs/4, end-at)
			if budget -= size; budget < 0 {
				return nil, false
			}
			if from := end - at - size; desc {
				docs = w.SortedDocs(from, from+size, docs[:0])
			} else {
				docs = w.SortedDocs(at, at+size, docs[:0])
			}
			at += size
			in = in[:0]
			for j := range docs {
				d := docs[j]
				if desc {
					d = docs[len(docs)-1-j]
				}
				if set[d>>6]>>(d&63)&1 != 0 {
					in = append(in, d)
				}
			}
			if cap(vals) < len(in) {
				vals = make([]int64, blockDocs)
			}
			w.Gather(in, vals[:len(in)])
			done := false
			for j, d := range in {
				v := vals[j]
				if c.zeros && v == -1 {
					v = 0
				}
				v ^= flip
				if len(list)-first >= n && v > list[first+n-1].val {
					done = true
					break
				}
				list = append(list, walked{i, d, v})
			}
			if done {
				break
			}
		}
	}
	return list, true
}

// lastOf is the n-th value of a walk in order; there are so many.
func lastOf(list []walked, n int) int64 {
	vals := make([]int64, len(list))
	for i := range list {
		vals[i] = list[i].val
	}
	selectNth(vals, n-1)
	return vals[n-1]
}
