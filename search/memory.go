package search

import "github.com/sqlots/sqlots/search/seg"

// memory is what all indexes of a Manager may hold, in bytes: a half for segments
// that are not in files yet, a half for merges of files.
type memory int64

const defaultMemory memory = 256 << 20

// Of the segments that are not in files, each index has an equal part within these
// bounds. A single batch may be larger.
const (
	maxUnpersisted = 16 << 20
	minUnpersisted = 128 << 10
)

// share is what one of n indexes may hold.
func (m memory) share(n int) int {
	return min(max(int(m/2)/max(n, 1), minUnpersisted), maxUnpersisted)
}

// Documents of a segment that a merge makes, at least and at most.
const (
	minSegmentDocs = 50_000
	maxSegmentDocs = 2_000_000
)

// segmentDocs bounds what a merge makes, of which it holds a part in memory.
func (m memory) segmentDocs() int {
	return min(max(int(m/2)/(seg.MergeSlots()*seg.MergeBytes), minSegmentDocs), maxSegmentDocs)
}

// reserved is what statements do without for n indexes: what these may hold, and at
// most twice m, where m is so small that the bounds below exceed it.
func (m memory) reserved(n int) int64 {
	if n == 0 {
		return 0
	}
	merges := int64(min(n, seg.MergeSlots())*m.segmentDocs()) * seg.MergeBytes
	return min(int64(n*m.share(n))+merges, 2*int64(m))
}
