package exec

import (
	"encoding/binary"
	"sync"

	"github.com/sqlots/sqlots/value"
)

// memoBytes is about the most that the results of one correlated subquery may
// hold together; when they pass it, all are forgotten.
const memoBytes = 16 << 20

// memoTrial is the number of runs after which a memo that was of no use is
// given up: the outer values differ from row to row.
const memoTrial = 4096

// memo keeps the results of a correlated subquery by its outer values, as long as
// no one else needs the memory. It may be used by several goroutines.
type memo struct {
	// off: the subquery has effects, or gives other results when it runs again.
	off  bool
	mu   sync.Mutex
	gets int
	hits int
	rows map[string]*subqueryRows
	size int64
	acct account
}

// start makes m count its results for t, until that is closed.
func (m *memo) start(t *Tracker) {
	m.acct = account{t: t, operator: "subquery", cache: true, relief: func() (bool, error) {
		if !m.mu.TryLock() {
			return false, nil // its user looks next
		}
		defer m.mu.Unlock()
		m.forget()
		return true, nil
	}}
	t.onClose(func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.off = true
		m.forget()
	})
}

func (m *memo) get(key []byte) *subqueryRows {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.acct.wanted() {
		m.forget()
	}
	rows := m.rows[string(key)]
	if m.gets++; rows != nil {
		m.hits++
	}
	if m.gets == memoTrial && m.hits < memoTrial/64 {
		m.off = true
		m.forget()
	}
	return rows
}

// put keeps rows if there is memory for them.
func (m *memo) put(key []byte, rows *subqueryRows) {
	size := 2*rows.store.size + int64(len(key)) + 256
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.off {
		return
	}
	if m.size+size > memoBytes {
		m.forget()
	}
	if size > memoBytes {
		return
	}
	if m.acct.wanted() || !m.acct.spare(m.size+size) {
		m.forget() // the statement goes on without
		return
	}
	if m.rows == nil {
		m.rows = map[string]*subqueryRows{}
	}
	m.rows[string(key)] = rows
	m.size += size
}

func (m *memo) forget() {
	m.rows, m.size = nil, 0
	m.acct.close()
}

// appendValues appends bytes that are the same only for the same values: unlike
// keys of equality, they distinguish 'a' from 'A' and 1.0 from 1.00.
func appendValues(dst []byte, vals []value.Datum) []byte {
	for _, d := range vals {
		dst = append(dst, byte(d.Kind()))
		switch d.Kind() {
		case value.KindNull:
		case value.KindBytes, value.KindJSON:
			dst = append(binary.AppendUvarint(dst, uint64(len(d.Bytes()))), d.Bytes()...)
		case value.KindDecimal:
			text := d.Decimal().String()
			dst = append(binary.AppendUvarint(dst, uint64(len(text))), text...)
		default:
			dst = binary.BigEndian.AppendUint64(dst, d.Bits())
		}
	}
	return dst
}
