package exec

import (
	"sync"
	"sync/atomic"
)

const (
	// accountStep is the size of the pieces in which an account takes memory
	// from its tracker, so that small growth costs no atomics.
	accountStep = 32 << 10
	// spillWorth is the least that an account must hold to be made to spill.
	spillWorth = 128 << 10
	// spillFloor is what an account that can spill may hold in any case: with
	// less, spilling would go on for ever.
	spillFloor = 96 << 10
)

// thread is the identity of the goroutine that runs a tree of operators.
type thread struct{ _ byte }

// account is the memory of one operator.
type account struct {
	t        *Tracker
	operator string
	held     int64        // by the operator
	reserved atomic.Int64 // from the tracker, >= held
	stat     *nodeStats
	thread   *thread
	// relief, of operators that can spill, spills between two calls of the
	// operator's Next, or while its Next waits for that of its input. It
	// reports false when nothing can be given back at the moment.
	relief func() (bool, error)
	// cache: what is held can be dropped at any time. It goes before anything is
	// spilled, and any goroutine may call relief.
	cache bool
	// most, when set, is a limit of this account alone (tests).
	most int64
	// isListed is listed, for the owner alone.
	isListed bool
	// forced: must went beyond a limit, and room has found no room since.
	forced bool
	// barren, unless 0, are the bytes of which nothing could be spilled.
	barren int64

	requested atomic.Bool
	// mu guards what follows; it is taken before that of a tracker.
	mu      sync.Mutex
	listed  bool
	promise int64 // what requested has added to the trackers' promised
}

// to makes an operator hold n bytes that it cannot do without: others spill for
// it, else it is 3170.
func (a *account) to(n int64) error {
	if n > a.reserved.Load() {
		more := roundStep(n - a.reserved.Load())
		if err := a.afterValues(more, a.takeFixed(more)); err != nil {
			return err
		}
	}
	a.set(n)
	return nil
}

// toBeyondQuery is to for what can neither spill nor be refused for the limit of its query
// alone: that may be passed, the limit of the server not.
func (a *account) toBeyondQuery(n int64) error {
	if more := roundStep(n - a.reserved.Load()); more > 0 {
		if err := a.takeFixed(more); err != nil && !a.takeBeyondQuery(more) {
			return err
		}
	}
	a.set(n)
	return nil
}

// takeBeyondQuery takes n bytes if only the limit of the query forbids it.
func (a *account) takeBeyondQuery(n int64) bool {
	q := a.t
	for q != nil && q.name != QueryTracker {
		q = q.parent
	}
	if q == nil || q.parent.tryGrow(n) != nil {
		return false
	}
	for p := a.t; p != q.parent; p = p.parent {
		p.notePeak(p.used.Add(n))
	}
	a.reserved.Add(n)
	return true
}

// room makes an operator that can spill hold n bytes. ok is false when it is
// the one to spill: it then spills, says so by kept, and goes on.
func (a *account) room(n int64) (ok bool, err error) {
	if a.relief == nil {
		return true, a.to(n)
	}
	if a.requested.Load() || a.most > 0 && n > a.most {
		return false, nil
	}
	if more := n - a.reserved.Load(); more > 0 || a.forced {
		if ok, err := a.take(roundStep(max(more, 0)), true); !ok || err != nil {
			return ok, err
		}
		a.forced = false
	}
	a.set(n)
	return true, nil
}

// fit makes an operator hold size bytes, by room where it can spill; else it spills, or has
// nothing that it could, and holds what are no buffers by to. It is not requested to spill
// then, before it holds twice as much: what it would promise could not be kept.
func (a *account) fit(size, buffers func() int64) error {
	ok, err := a.room(size())
	if err != nil || ok {
		return err
	}
	if ok, err = a.relief(); err != nil || ok {
		a.barren = 0
		return err
	}
	a.barren = size()
	a.unlist()
	a.isListed = false
	a.settle()
	a.lower(0) // what must took for buffers is no room for more
	return a.withBuffers(a.barren, buffers())
}

// leastBuffers are the bytes of buffers that are held below any limit.
const leastBuffers = 1 << 20

// withBuffers is to for n bytes of which some are the buffers by which memory is spilled:
// those may take half of the limit, or leastBuffers, beyond it.
func (a *account) withBuffers(n, buffers int64) error {
	if limit := a.t.Limit(); limit > 0 {
		buffers = min(buffers, max(limit/2, leastBuffers))
	}
	if err := a.to(n - buffers); err != nil {
		return err
	}
	a.must(n)
	return nil
}

// spare makes a cache hold n bytes if there is memory that no one uses.
func (a *account) spare(n int64) bool {
	if more := roundStep(n - a.reserved.Load()); more > 0 {
		if a.t.tryGrow(more) != nil {
			return false
		}
		a.reserved.Add(more)
	}
	a.set(n)
	return true
}

// must makes the operator hold n bytes, also beyond the limit: the buffers by
// which memory is spilled.
func (a *account) must(n int64) {
	if more := n - a.reserved.Load(); more > 0 {
		a.forced = a.t.force(roundStep(more)) || a.forced
		a.reserved.Add(roundStep(more))
	}
	a.set(n)
}

// kept says that the operator has spilled and holds n bytes now.
func (a *account) kept(n int64) {
	a.settle()
	if !a.lower(n) {
		a.must(n)
	}
}

// lower gives back what is more than n bytes; false says that it is not more.
func (a *account) lower(n int64) bool {
	less := a.reserved.Load() - roundStep(n)
	if less <= 0 {
		return false
	}
	a.t.Shrink(less)
	a.reserved.Add(-less)
	a.held = n
	return true
}

// wanted reports that the operator is requested to spill.
func (a *account) wanted() bool { return a.requested.Load() }

func roundStep(n int64) int64 { return (n + accountStep - 1) / accountStep * accountStep }

func (a *account) set(n int64) {
	a.held = n
	if a.stat != nil {
		a.stat.memory(n)
	}
	if a.relief != nil && !a.isListed && a.reserved.Load() >= spillWorth && n/2 >= a.barren {
		a.isListed = true
		a.list()
	}
}

// takeFixed takes n bytes of what cannot be spilled from the trackers: 3170.
func (a *account) takeFixed(n int64) error {
	_, err := a.take(n, false)
	return err
}

// afterValues takes n bytes, which err has refused, once values that no one has any more
// are collected, if these fill the memory of all.
func (a *account) afterValues(n int64, err error) error {
	if err == nil || a.t == nil {
		return err
	}
	root := a.t
	for root.parent != nil {
		root = root.parent
	}
	if root.values == nil || n > root.limit {
		return err
	}
	if root.Used()+n <= root.limit { // others limit it, or there is room again
		return a.takeFixed(n)
	}
	return root.values.again(err, func() error { return a.takeFixed(n) })
}

// take takes n bytes from the trackers. ok is false when a, which spills, is the one to do
// so.
func (a *account) take(n int64, spills bool) (ok bool, err error) {
	for {
		full := a.t.tryGrow(n)
		if full == nil {
			a.reserved.Add(n)
			return true, nil
		}
		mine := a.reserved.Load()
		if !spills {
			mine = 0
		}
		other, _ := full.biggest(a)
		switch {
		case other != nil && (other.cache || other.reserved.Load() > mine):
			if err := other.requestSpill(a.thread); err != nil {
				return false, err
			}
		case spills && mine+n > spillFloor && (!full.over(n) || full.beyond(n, mine)):
			return false, nil
		case spills || full.over(n) || a.relief != nil && a.reserved.Load()+n <= spillFloor:
			a.t.force(n)
			a.reserved.Add(n)
			return true, nil
		default:
			return false, full.overLimit(a.operator)
		}
	}
}

// requestSpill makes a spill: at once when it belongs to the goroutine that
// requests it, else when its own goroutine looks next.
func (a *account) requestSpill(by *thread) error {
	if a.cache || by != nil && by == a.thread {
		before := a.reserved.Load()
		if ok, err := a.relief(); err != nil || ok && a.reserved.Load() < before {
			return err
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.listed && !a.requested.Swap(true) {
		a.promiseMore(a.reserved.Load())
	}
	return nil
}

// promiseMore adds to what a has promised; a.mu is held.
func (a *account) promiseMore(n int64) {
	a.promise += n
	for p := a.t; p != nil; p = p.parent {
		p.mu.Lock()
		p.promised += n
		p.mu.Unlock()
	}
}

// settle takes the promise back, if there is one.
func (a *account) settle() {
	if !a.requested.Load() {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.promiseMore(-a.promise)
	a.requested.Store(false)
}

func (a *account) list() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.listed = true
	for p := a.t; p != nil; p = p.parent {
		p.mu.Lock()
		if p.spillers == nil {
			p.spillers = map[*account]struct{}{}
		}
		p.spillers[a] = struct{}{}
		p.mu.Unlock()
	}
}

// close gives everything back.
func (a *account) close() {
	a.unlist()
	a.settle()
	a.t.Shrink(a.reserved.Load())
	a.held, a.isListed, a.forced, a.barren = 0, false, false, 0
	a.reserved.Store(0)
}

// fixed says that the operator spills no more: it only reads what it holds.
func (a *account) fixed() {
	a.relief = nil
	a.unlist()
	a.settle()
}

func (a *account) unlist() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.listed {
		return
	}
	a.listed = false
	for p := a.t; p != nil; p = p.parent {
		p.mu.Lock()
		delete(p.spillers, a)
		p.mu.Unlock()
	}
}
