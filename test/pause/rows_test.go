package pause

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
)

// rowIDs is how many rows commits may write; ownID is one that a reader writes.
const (
	rowIDs = 10
	ownID  = rowIDs
)

// rows are the versions of the rows of the table by their ids: the commit that
// wrote them last. A row that is not there has none.
type rows map[int]int

// history is the table after each commit.
type history struct {
	mu     sync.Mutex
	states []rows // by commit
	// begun is the last commit that was sent; seen the last one that a statement
	// or the answer to COMMIT has shown.
	begun, seen int
}

// next makes a commit, of rows with the parity or any (negative), and the
// statements of it.
func (h *history) next(rnd *rand.Rand, parity int) (commit int, stmts []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	commit = len(h.states)
	now := maps.Clone(h.states[commit-1])
	for len(stmts) < 2 || rnd.IntN(3) > 0 && len(stmts) < 6 {
		id := rnd.IntN(rowIDs)
		if parity >= 0 && id%2 != parity {
			continue
		}
		_, there := now[id]
		switch {
		case !there:
			stmts = append(stmts, fmt.Sprintf("INSERT INTO t VALUES (%d, %d, 1, %d, 'all of %d', '%s')", id, commit, commit*rowIDs+id, commit, strings.Repeat("x", 50)))
			now[id] = commit
		case rnd.IntN(5) == 0 && len(now) > 3:
			stmts = append(stmts, fmt.Sprintf("DELETE FROM t WHERE id = %d", id))
			delete(now, id)
		default:
			stmts = append(stmts, fmt.Sprintf("UPDATE t SET v = %d, u = %d, txt = 'all of %d' WHERE id = %d", commit, commit*rowIDs+id, commit, id))
			now[id] = commit
		}
	}
	h.states = append(h.states, now)
	h.begun = commit
	return commit, stmts
}

// show raises what has been seen.
func (h *history) show(commit int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen = max(h.seen, commit)
}

// since is the oldest commit that a statement may show that begins now.
func (h *history) since() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.seen
}

// find are the commits from since on whose rows the answer shows; without one, an
// error.
func (h *history) find(a *answer, since int) (shown []int, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for commit := since; commit <= h.begun; commit++ {
		if a.is(h.states[commit]) {
			shown = append(shown, commit)
		}
	}
	if len(shown) > 0 {
		return shown, nil
	}
	for commit := since - 1; commit >= max(0, since-5); commit-- {
		if a.is(h.states[commit]) {
			return nil, fmt.Errorf("shows the rows after commit %d, but %d was seen before it began: %s", commit, since, a)
		}
	}
	return nil, fmt.Errorf("shows no state between commits %d and %d: %s\nwant %s\n  to %s", since, h.begun, a, &answer{rows: h.states[since]}, &answer{rows: h.states[h.begun]})
}

// answer is what a statement shows: versions of rows, of all or some, or their
// number and sum.
type answer struct {
	rows       rows
	only       []int // nil for all
	count, sum int   // where rows is nil
	twice      bool  // a row came twice
}

func (a *answer) is(want rows) bool {
	if a.twice {
		return false
	}
	if a.rows == nil {
		sum := 0
		for _, v := range want {
			sum += v
		}
		return a.count == len(want) && a.sum == sum
	}
	if a.only == nil {
		return maps.Equal(a.rows, want)
	}
	for _, id := range a.only {
		got, ok := a.rows[id]
		if v, there := want[id]; ok != there || got != v {
			return false
		}
	}
	return len(a.rows) <= len(a.only)
}

// withoutOwn takes the row of a transaction out, which has to be there.
func (a *answer) withoutOwn() error {
	switch {
	case a.only != nil:
		return nil
	case a.rows == nil:
		a.count--
		return nil
	}
	if v, ok := a.rows[ownID]; !ok || v != 0 {
		return fmt.Errorf("does not show the row that its transaction wrote: %s", a)
	}
	delete(a.rows, ownID)
	return nil
}

// String lists the rows.
func (a *answer) String() string {
	if a.rows == nil {
		return fmt.Sprintf("%d rows with a sum of %d", a.count, a.sum)
	}
	var out []string
	for _, id := range slices.Sorted(maps.Keys(a.rows)) {
		out = append(out, fmt.Sprintf("%d:%d", id, a.rows[id]))
	}
	text := strings.Join(out, " ")
	if a.twice {
		text += " (a row came twice)"
	}
	return text
}
