package mysqlwire

import (
	"container/list"
	"net/netip"
	"time"
)

// entrance is where the connections of a listener are until they have logged in:
// first in silent, after their first packet in talking. A connection that says
// nothing takes no place from one that is logging in.
type entrance struct {
	admin           bool // its connections take no seats, and are for administrators
	silent, talking crowd
}

// The ages before which a connection is not made to leave: time enough for a
// client to send its first packet, and to log in. Under a flood they bound the rate
// at which connections are accepted.
const (
	silentGrace  = 200 * time.Millisecond
	talkingGrace = 500 * time.Millisecond
)

func newEntrance(admin bool) *entrance {
	e := &entrance{admin: admin}
	e.silent.init(silentGrace, 4) // they cost little
	e.talking.init(talkingGrace, 1)
	return e
}

// crowd is a bounded number of connections in the order of their arrival. When
// all places are taken, the oldest of the address that has the most connections
// makes room for the next. Server.mu guards it.
type crowd struct {
	grace  time.Duration
	factor int // of Limits.pending: the bound
	n      int
	queues map[netip.Prefix]*queue
	// bySize[n] has the queues of n connections, the one that has had them for the
	// longest time first; largest is the last n that has any.
	bySize  []*list.List
	largest int
	door    chan struct{} // has an element while a connection waits for a place
	left    chan struct{} // has an element when a place has become free
}

// queue is the connections of an address in a crowd.
type queue struct {
	conns list.List // *conn
	size  *list.Element
}

func (w *crowd) init(grace time.Duration, factor int) {
	w.grace, w.factor, w.queues, w.bySize = grace, factor, map[netip.Prefix]*queue{}, []*list.List{list.New()}
	w.door, w.left = make(chan struct{}, 1), make(chan struct{}, 1)
}

func (w *crowd) add(c *conn, grace time.Duration) {
	q := w.queues[c.address]
	if q == nil {
		q = &queue{}
		w.queues[c.address] = q
	}
	c.crowd, c.place, c.entered, c.grace = w, q.conns.PushBack(c), time.Now(), grace
	w.n++
	w.resize(q, q.conns.Len()-1)
}

func (w *crowd) remove(c *conn) {
	q := w.queues[c.address]
	q.conns.Remove(c.place)
	c.crowd, c.place = nil, nil
	w.n--
	w.resize(q, q.conns.Len()+1)
	if q.conns.Len() == 0 {
		delete(w.queues, c.address)
	}
	w.signal()
}

// resize moves q, which had before connections.
func (w *crowd) resize(q *queue, before int) {
	n := q.conns.Len()
	if before > 0 {
		w.bySize[before].Remove(q.size)
	}
	if n == len(w.bySize) {
		w.bySize = append(w.bySize, list.New())
	}
	if n > 0 {
		q.size = w.bySize[n].PushBack(q)
	}
	if n > w.largest || w.bySize[w.largest].Len() == 0 {
		w.largest = n
	}
}

// first is who makes room; the crowd is not empty.
func (w *crowd) first() *conn {
	return w.bySize[w.largest].Front().Value.(*queue).conns.Front().Value.(*conn)
}

func (w *crowd) signal() {
	select {
	case w.left <- struct{}{}:
	default:
	}
}

// leavingWait is how often a full server looks whether connections that it has
// closed have ended.
const leavingWait = 10 * time.Millisecond

// enter makes c one of a crowd, if need be in the place of another. It waits while
// all have come a moment ago, or while as many that had to leave have not ended
// yet, and keeps the place in another crowd meanwhile. Who comes first is served
// first. False: c or the server has ended.
func (s *Server) enter(w *crowd, c *conn) bool {
	select {
	case w.door <- struct{}{}:
	default:
		s.mu.Lock()
		s.keep(c)
		s.mu.Unlock()
		select {
		case w.door <- struct{}{}:
		case <-c.ctx.Done():
			return false
		}
	}
	defer func() { <-w.door }()
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if s.draining.Load() || c.ctx.Err() != nil {
			return false
		}
		bound, wait := w.factor*s.limits.pending(), leavingWait
		if s.leaving < bound {
			if w.n < bound {
				break
			}
			first := w.first()
			if wait = first.grace - time.Since(first.entered); wait <= 0 {
				s.evict(first)
				continue
			}
		}
		s.keep(c)
		s.mu.Unlock()
		select {
		case <-w.left:
		case <-time.After(wait):
		case <-c.ctx.Done():
		}
		s.mu.Lock()
	}
	if c.crowd != nil {
		c.crowd.remove(c)
	}
	w.add(c, w.grace)
	s.conns[c] = struct{}{}
	if s.monitor == nil {
		s.monitor = startMonitor(s)
	}
	return true
}

// keep saves a connection that waits for a place in another crowd from being made
// to leave the one in which it is; s.mu is held.
func (s *Server) keep(c *conn) {
	if w := c.crowd; w != nil && c.grace < s.limits.ConnectTimeout {
		w.remove(c)
		w.add(c, s.limits.ConnectTimeout)
	}
}

// evict closes a connection that has not logged in; s.mu is held.
func (s *Server) evict(c *conn) {
	c.crowd.remove(c)
	c.evicted = true
	s.leaving++
	c.cancel(errClientGone)
	_ = c.raw.Close()
}

// addressOf is what counts as one address: one of IPv4, 64 bits of IPv6, which is
// what a site is given. Unix sockets have none.
func addressOf(addr netip.Addr) netip.Prefix {
	bits := 64
	if addr = addr.Unmap().WithZone(""); addr.Is4() {
		bits = 32
	}
	p, _ := addr.Prefix(bits)
	return p
}
