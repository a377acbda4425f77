package plantest

import (
	"math/rand"
	"slices"
	"strings"

	"github.com/sqlots/sqlots/sql/planner"
)

// Set is a set of rules and operators that are switched off.
type Set struct {
	// Name lists them, "none" for none.
	Name     string
	Disabled map[string]bool
}

// Off is the set of the given switches.
func Off(names ...string) Set {
	names = slices.Clone(names)
	slices.Sort(names)
	names = slices.Compact(names)
	s := Set{Name: strings.Join(names, ","), Disabled: map[string]bool{}}
	if len(names) == 0 {
		s.Name = "none"
	}
	for _, n := range names {
		s.Disabled[n] = true
	}
	return s
}

// Sets are the sets that a differential test goes through: nothing off; each
// switch alone; each kind of join alone; all rules; all operators; everything;
// and random further ones, by the seed.
func Sets(random int, seed int64) []Set {
	rules, operators := planner.Rules(), planner.Operators()
	all := append(slices.Clone(rules), operators...)
	sets := []Set{Off(), Off(rules...), Off(operators...), Off(all...),
		Off("HashJoin", "IndexAccess"), Off("HashJoin"), Off("HashJoin", "LookupJoin"), Off("LookupJoin", "StreamAggregate")}
	for _, n := range all {
		if n != "HashJoin" {
			sets = append(sets, Off(n))
		}
	}
	r := rand.New(rand.NewSource(seed))
	for range random {
		var names []string
		for _, n := range all {
			if r.Intn(3) == 0 {
				names = append(names, n)
			}
		}
		sets = append(sets, Off(names...))
	}
	return sets
}
