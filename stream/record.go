package stream

import (
	"encoding/binary"
	"fmt"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage"
)

// Kind says what a record is about.
type Kind uint8

// Kinds of records. Those from Truncate on are about the table as a whole.
const (
	Insert Kind = iota + 1
	Update
	Delete
	Truncate
	Start // the stream begins; the table has this form
	Alter // the table has another form or name
	Drop
)

// String is the kind in SQL.
func (k Kind) String() string {
	switch k {
	case Insert:
		return "insert"
	case Update:
		return "update"
	case Delete:
		return "delete"
	case Truncate:
		return "truncate"
	case Start:
		return "start"
	case Alter:
		return "alter"
	case Drop:
		return "drop"
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// OfTable: the record is about the table, not about a row.
func (k Kind) OfTable() bool { return k >= Truncate }

// Record is one change.
type Record struct {
	Position
	// Time of the commit, microseconds since 1970.
	Time int64
	Kind Kind
	// Version is that of the descriptor by which the images are to be read;
	// OldVersion, in records of the table, the one before, 0 for none.
	Version, OldVersion uint32
	// Existed: the table was there before its stream (Start).
	Existed bool
	// Key is the row's, without the table's prefix; OldKey, where the update
	// changed it, the one before, else nil.
	Key, OldKey []byte
	// Before and After are the row, nil if it did not or does not exist.
	Before, After []byte
}

const (
	recordVersion = 1
	timeAt        = 2
	headLen       = 11

	flagBefore  = 1
	flagAfter   = 2
	flagMoved   = 4
	flagExisted = 8
	knownFlags  = flagBefore | flagAfter | flagMoved | flagExisted
)

// maxPart is the most bytes of the payload in one pair.
const maxPart = 1 << 20

// Appender writes records into transactions. The zero value is ready; it
// belongs to one goroutine.
type Appender struct {
	key, head, payload []byte
}

func appendBytes(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

// Append writes a record; Position and Time are the commit's to fill.
func (a *Appender) Append(txn storage.Txn, id schema.StreamID, r *Record) error {
	flags := byte(0)
	p := a.payload[:0]
	if r.Kind.OfTable() {
		p = binary.AppendUvarint(p, uint64(r.OldVersion))
		if r.Existed {
			flags |= flagExisted
		}
	} else {
		p = appendBytes(p, r.Key)
		if r.OldKey != nil {
			flags |= flagMoved
			p = appendBytes(p, r.OldKey)
		}
		if r.Before != nil {
			flags |= flagBefore
			p = appendBytes(p, r.Before)
		}
		if r.After != nil {
			flags |= flagAfter
			p = appendBytes(p, r.After)
		}
	}
	a.payload = p
	more := (len(p) - 1) / maxPart
	a.head = append(a.head[:0], recordVersion, byte(r.Kind), 0, 0, 0, 0, 0, 0, 0, 0, flags)
	a.head = binary.AppendUvarint(binary.AppendUvarint(a.head, uint64(r.Version)), uint64(more))
	a.head = append(a.head, p[:min(len(p), maxPart)]...)
	a.key = appendKey(a.key[:0], id, Position{Ordinal: txn.Ordinal()}, 0)
	if err := txn.PutStamped(a.key, a.head, storage.Stamp{Key: seqAt, Time: timeAt}); err != nil {
		return err
	}
	for i := 1; i <= more; i++ {
		binary.BigEndian.PutUint16(a.key[partAt:], uint16(i))
		part := p[i*maxPart : min(len(p), (i+1)*maxPart)]
		if err := txn.PutStamped(a.key, part, storage.Stamp{Key: seqAt, Time: -1}); err != nil {
			return err
		}
	}
	if cap(a.payload) > maxPart {
		*a = Appender{} // one large row should not hold memory for long
	}
	return nil
}

func corrupt(key []byte, what string) error {
	return fmt.Errorf("%w: change log, key %x: %s", storage.ErrCorruption, key, what)
}

// parseHead reads the head before the payload; more is the number of parts that follow.
func (r *Record) parseHead(key, val []byte) (flags byte, more int, payload []byte, err error) {
	if len(val) < headLen || val[0] != recordVersion || val[headLen-1]&^knownFlags != 0 {
		return 0, 0, nil, corrupt(key, "malformed record")
	}
	flags = val[headLen-1]
	*r = Record{Position: r.Position, Kind: Kind(val[1]), Time: int64(binary.BigEndian.Uint64(val[timeAt:])), Existed: flags&flagExisted != 0}
	rest := val[headLen:]
	version, n := binary.Uvarint(rest)
	if n <= 0 {
		return 0, 0, nil, corrupt(key, "malformed record")
	}
	parts, m := binary.Uvarint(rest[n:])
	if m <= 0 || parts > 1<<16 || version > 1<<32-1 {
		return 0, 0, nil, corrupt(key, "malformed record")
	}
	r.Version = uint32(version)
	return flags, int(parts), rest[n+m:], nil
}

// parsePayload reads the payload, whose memory the record then shares.
func (r *Record) parsePayload(key []byte, flags byte, p []byte) error {
	if r.Kind.OfTable() {
		v, n := binary.Uvarint(p)
		if n <= 0 || n != len(p) {
			return corrupt(key, "malformed record of a table")
		}
		r.OldVersion = uint32(v)
		return nil
	}
	ok := true
	next := func() []byte {
		size, n := binary.Uvarint(p)
		if n <= 0 || size > uint64(len(p)-n) {
			ok = false
			return nil
		}
		b := p[n : n+int(size) : n+int(size)]
		p = p[n+int(size):]
		return b
	}
	r.Key = next()
	if flags&flagMoved != 0 {
		r.OldKey = next()
	}
	if flags&flagBefore != 0 {
		r.Before = next()
	}
	if flags&flagAfter != 0 {
		r.After = next()
	}
	if !ok || len(p) > 0 {
		return corrupt(key, "malformed record of a row")
	}
	return nil
}
