package stats

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage/table"
)

// keys is the key encoding of the rows or of an index.
type keys struct {
	index  schema.IndexID
	prefix []byte
	parts  []table.Part
}

// keys finds the encoding of x; nil is the primary key.
func (e *Estimator) keys(t *schema.Table, x *schema.Index) (*keys, error) {
	c, err := e.codecs.Get(t)
	if err != nil {
		return nil, err
	}
	k := &keys{prefix: c.Prefix(), parts: c.Key}
	if x != nil {
		ix := c.Index(x.ID)
		if ix == nil {
			return nil, errNoIndex
		}
		k.index, k.prefix, k.parts = x.ID, ix.Prefix(), ix.Parts
	}
	return k, nil
}

// leading is the length of the first n parts of a key, 0 if it is malformed.
func (k *keys) leading(key []byte, n int) int {
	rest := key[len(k.prefix):]
	for i := range n {
		var err error
		if rest, err = k.parts[i].Skip(rest); err != nil {
			return 0
		}
	}
	return len(key) - len(rest)
}
