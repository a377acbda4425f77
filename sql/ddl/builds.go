package ddl

import (
	"slices"
	"sync"
	"time"

	"github.com/sqlots/sqlots/schema"
)

// buildHistory is how many builds are remembered.
const buildHistory = 200

// builds are those that run and the last that have ended.
type builds struct {
	mu   sync.Mutex
	list []*BuildStatus
}

// BuildStatus is what users see of a build.
type BuildStatus struct {
	builds *builds
	// ID is unique for ever: of the table and the first index.
	ID              uint64
	Database, Table string
	Indexes         []string
	Statement       string
	State           string
	Rows, Estimate  int64
	Started         time.Time
	Ended           *time.Time // nil: it runs
	Resumed         int
	Error           string
}

// Builds are copies of those that run and the last that have ended, oldest
// first.
func (r *Runner) Builds() []BuildStatus {
	r.builds.mu.Lock()
	defer r.builds.mu.Unlock()
	out := make([]BuildStatus, len(r.builds.list))
	for i, s := range r.builds.list {
		out[i] = *s
	}
	return out
}

// add enters a build of t.
func (l *builds) add(b *Build, t *schema.Table) *BuildStatus {
	s := &BuildStatus{builds: l, ID: uint64(b.table)<<16 | uint64(b.rec.Indexes[0]), Database: t.Database, Table: t.Name, Statement: b.rec.Statement,
		State: buildStarting, Rows: b.rec.Rows, Estimate: b.rec.Estimate, Started: time.UnixMicro(b.rec.Started), Resumed: b.rec.Resumed}
	for _, id := range b.rec.Indexes {
		s.Indexes = append(s.Indexes, indexByID(t, id).Name)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.list) >= buildHistory {
		if i := slices.IndexFunc(l.list, func(s *BuildStatus) bool { return s.Ended != nil }); i >= 0 {
			l.list = slices.Delete(l.list, i, i+1)
		}
	}
	l.list = append(l.list, s)
	return s
}

func (s *BuildStatus) set(state string) {
	s.builds.mu.Lock()
	defer s.builds.mu.Unlock()
	s.State = state
}

func (s *BuildStatus) progress(rows int64) {
	s.builds.mu.Lock()
	defer s.builds.mu.Unlock()
	s.Rows = rows
}

func (s *BuildStatus) end(state string, err error) {
	s.builds.mu.Lock()
	defer s.builds.mu.Unlock()
	now := time.Now()
	s.State, s.Ended = state, &now
	if err != nil {
		s.Error = err.Error()
	}
}
