package pebblekv

import (
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// claims is memory that the block cache gives up for what is kept elsewhere. It is taken
// and given back in units, since the cache only takes a claim back as a whole: a new one
// for all of it, next to the old one, would drop as many blocks again.
type claims struct {
	mu    sync.Mutex
	cache *pebble.Cache
	unit  int64
	// shrink is what ShrinkCache takes, images what the images have or are about to,
	// but at least spare.
	shrink, images, spare int64
	taken                 []func() // each gives a unit back
}

// claimSpare is how much of the images' part blocks never use. All of it in small stores,
// where it makes up for what is not counted: with 256 MiB for everything, blocks in its
// place had the process take a third more than that under load.
const claimSpare = 64 << 20

// claimUnits is how many units the whole data memory has.
const claimUnits = 256

// setShrink is how much the cache is to be smaller than its options say.
func (c *claims) setShrink(bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shrink = bytes
	c.adjust()
}

// setImages is how much images have, which may be less than what they had.
func (c *claims) setImages(bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if bytes = max(bytes, c.spare); c.images != bytes {
		c.images = bytes
		c.adjust()
	}
}

func (c *claims) adjust() {
	want := int((c.shrink + c.images + c.unit - 1) / c.unit)
	for len(c.taken) < want {
		c.taken = append(c.taken, c.cache.Reserve(int(c.unit)))
	}
	for n := len(c.taken); n > want; n-- {
		c.taken[n-1]()
		c.taken = c.taken[:n-1]
	}
}

// end gives all back.
func (c *claims) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shrink, c.images = 0, 0
	c.adjust()
}

// claimed is what was taken.
func (c *claims) claimed() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return int64(len(c.taken)) * c.unit
}
