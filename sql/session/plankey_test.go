package session

import (
	"testing"
	"time"
)

// TestPlanAge: plans of a session with a time of its own are kept and used as
// those of others, and age by the clock.
func TestPlanAge(t *testing.T) {
	for _, timestamp := range []string{"DEFAULT", "100000", "32536771199"} {
		s := testSession(t)
		for _, q := range []string{"CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, a INT, KEY (a))", "SET timestamp = " + timestamp} {
			s.mustQuery(t, q, &sink{})
		}
		s.mustQuery(t, "SELECT id FROM d.t WHERE a = 1", &sink{})
		before := s.engine.Counters.PlanHits.Load()
		s.mustQuery(t, "SELECT id FROM d.t WHERE a = 2", &sink{})
		if got := s.engine.Counters.PlanHits.Load() - before; got != 1 {
			t.Errorf("timestamp %s: %d plans of the cache used, want 1", timestamp, got)
		}
		for i := range s.shared.plans.shards {
			for _, c := range s.shared.plans.shards[i].plans {
				if age := time.Since(c.made); age < 0 || age > time.Hour {
					t.Errorf("timestamp %s: a plan has the age %s", timestamp, age)
				}
			}
		}
	}
}

// TestPlanKeyParallelism: plans for other numbers of workers are other plans.
func TestPlanKeyParallelism(t *testing.T) {
	s := testSession(t)
	seen := map[string]int{}
	for n := 1; n <= 1024; n++ {
		s.vars.Parallelism = n
		key := string(s.planKey(nil, []byte("SELECT 1")))
		if seen[key] != 0 {
			t.Fatalf("%d and %d workers share plans", seen[key], n)
		}
		seen[key] = n
	}
}
