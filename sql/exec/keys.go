package exec

import (
	"context"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// maxKeyBytes is the declared length of the keys of rows; none is cut to it.
const maxKeyBytes = 4096

var keyKinds = []value.Kind{value.KindBytes}

// KeyList keeps keys of rows that a Source has found, in their order, until it
// goes to the rows: in memory or, where that is short, on disk. Of env it uses
// the memory and the means to spill.
type KeyList struct {
	rows *rowList
	rd   *bufferReader
	page [][]byte
}

// NewKeyList makes an empty list; name is what an error of memory says.
func NewKeyList(env *Env, name string) *KeyList {
	return &KeyList{rows: newKindList(env, nil, keyKinds, name)}
}

// Add appends keys, which are copied. None can be added after the first Next.
func (l *KeyList) Add(keys [][]byte) error {
	for len(keys) > 0 {
		n := min(len(keys), vec.MaxRows)
		col := vec.Vec{Kind: value.KindBytes, Bytes: keys[:n]}
		if err := l.rows.buf.add([]*vec.Vec{&col}, identity[:n]); err != nil {
			return err
		}
		keys = keys[n:]
	}
	return nil
}

// Next gives the next keys, at most max; none at the end. They are valid until
// the next call.
func (l *KeyList) Next(max int) ([][]byte, error) {
	if l.rd == nil {
		if err := l.rows.buf.finish(); err != nil {
			return nil, err
		}
		l.rd = l.rows.buf.read(0, l.rows.buf.n)
	}
	if len(l.page) == 0 {
		b, err := l.rd.next(vec.MaxRows)
		if err != nil || b == nil {
			return nil, err
		}
		l.page = b.Cols[0].Bytes[:b.Live()]
	}
	part := l.page[:min(max, len(l.page))]
	l.page = l.page[len(part):]
	return part, nil
}

// Close gives the keys up. It is idempotent, and nil may be closed.
func (l *KeyList) Close() {
	if l != nil {
		l.rows.close()
	}
}

// KeySet finds the rows whose keys were not met before.
type KeySet struct {
	acct  account
	dedup *dedup
	ended bool
	fresh [][]byte
}

// NewKeySet makes an empty set. With inOrder it does not spill: all keys come
// from Fresh, in the order in which they were given, or memory is an error that
// says name.
func NewKeySet(env *Env, name string, inOrder bool) *KeySet {
	b := newBuilder(env, env.Ctx)
	s := &KeySet{acct: b.account(nil, name)}
	sp := b.spiller(nil)
	s.dedup = env.newDedup(&s.acct, sp, []schema.Type{types.VarbinaryOf(maxKeyBytes)}, keyKinds)
	if !inOrder {
		sp.attach(&s.acct, func() (bool, error) {
			if s.ended {
				return false, nil
			}
			return s.dedup.relieve()
		})
	}
	return s
}

// Fresh gives those of keys, vec.MaxRows at most, that are new, or some of them:
// others are spilled, and come from Rest. The slice is valid until the next
// call.
func (s *KeySet) Fresh(keys [][]byte) ([][]byte, error) {
	col := vec.Vec{Kind: value.KindBytes, Bytes: keys}
	rows, err := s.dedup.add([]*vec.Vec{&col}, identity[:len(keys)])
	if err != nil {
		return nil, err
	}
	s.fresh = s.fresh[:0]
	for _, i := range rows {
		s.fresh = append(s.fresh, keys[i])
	}
	return s.fresh, nil
}

// Rest gives, after the last Fresh, keys that were spilled; none at the end.
// They are valid until the next call.
func (s *KeySet) Rest(ctx context.Context) ([][]byte, error) {
	s.ended = true
	b, rows, err := s.dedup.next(ctx)
	if err != nil || b == nil {
		return nil, err
	}
	s.fresh = s.fresh[:0]
	for _, i := range rows {
		s.fresh = append(s.fresh, b.Cols[0].Bytes[i])
	}
	return s.fresh, nil
}

// Close gives the set up. It is idempotent, and nil may be closed.
func (s *KeySet) Close() {
	if s != nil {
		s.dedup.close()
		s.acct.close()
	}
}
