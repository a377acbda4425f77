package pebblekv

// blockHeap gives memory back that blocks have left to write buffers, which are
// allocated elsewhere.
type blockHeap struct {
	// slack is how much may stay.
	slack int64
	// trimmed is what was free after the last return, or the least since: it has no
	// pages. Free memory that is used again has, and counts from then on.
	trimmed int64
}

// returnFree is called again and again.
func (h *blockHeap) returnFree() {
	free := freeBlockBytes()
	h.trimmed = min(h.trimmed, free)
	if free-h.trimmed > h.slack {
		trimBlocks()
		h.trimmed = freeBlockBytes()
	}
}
