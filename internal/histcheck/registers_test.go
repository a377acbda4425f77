package histcheck

import "testing"

// TestRegisters proves that the checker sees the anomalies that it looks for.
func TestRegisters(t *testing.T) {
	state := func(versions ...Version) map[int]Version {
		out := map[int]Version{}
		for _, v := range versions {
			out[v.Key] = v
		}
		return out
	}
	txn := func(name string, o Outcome, began, ending, ended int, writes []Write, reads ...Read) *Txn {
		return &Txn{Name: name, Level: "RC", Outcome: o, Began: at(began), Ending: at(ending), Ended: at(ended), Writes: writes, Reads: reads}
	}
	read := func(kind Kind, asked, given int, versions ...Version) Read {
		return Read{Kind: kind, Asked: at(asked), Given: at(given), Versions: versions}
	}
	// A and then B write registers 1 and 2, which were at 4 and 8 before.
	old1, old2 := Version{1, 4, 100}, Version{2, 8, 101}
	a1, a2, b1, b2 := Version{1, 5, 11}, Version{2, 9, 12}, Version{1, 6, 21}, Version{2, 10, 22}
	before, after := state(old1, old2), state(b1, b2)
	a := func() *Txn { return txn("A", Committed, 0, 10, 20, []Write{{1, 11, 5, false}, {2, 12, 9, false}}) }
	b := func() *Txn { return txn("B", Committed, 15, 30, 40, []Write{{1, 21, 6, false}, {2, 22, 0, false}}) }
	with := func(more ...*Txn) Registers {
		return Registers{Before: before, After: after, Txns: append([]*Txn{a(), b()}, more...)}
	}
	reader := func(reads ...Read) Registers { return with(txn("R", Committed, 0, 50, 51, nil, reads...)) }
	tests := map[string]struct {
		want string
		h    Registers
	}{
		"fine":             {"", reader(read(Statement, 1, 12, old1, old2), read(Statement, 13, 35, a1, a2), read(Statement, 41, 42, b1, b2))},
		"half of a commit": {"cycle", reader(read(Statement, 9, 19, a1, old2))},
		"half of a commit whose version is told by a reader": {"cycle", with(txn("R", Committed, 0, 50, 51, nil, read(Statement, 16, 39, a1, b2)))},
		"two states in two statements":                       {"", reader(read(Statement, 9, 19, a1), read(Statement, 9, 18, old2))},
		"two states in one view":                             {"cycle", reader(read(View, 9, 19, a1), read(View, 9, 18, old2))},
		"stale after a commit":                               {"cycle", reader(read(Statement, 21, 22, old1))},
		"older than what another was answered": {"cycle", with(txn("R", Committed, 0, 14, 14, nil, read(Statement, 11, 12, a1)),
			txn("S", Committed, 0, 19, 19, nil, read(Statement, 13, 14, old2)))},
		"rolled back": {"G1a", with(txn("C", Aborted, 0, 5, 6, []Write{{1, 31, 5, false}}),
			txn("R", Committed, 0, 5, 6, nil, read(Statement, 3, 4, Version{1, 5, 31})))},
		"undone": {"G1a", with(txn("C", Committed, 0, 5, 6, []Write{{1, 31, 5, true}}),
			txn("R", Committed, 0, 5, 6, nil, read(Statement, 3, 4, Version{1, 5, 31})))},
		"intermediate": {"G1b", Registers{Before: state(old1), After: state(Version{1, 6, 42}), Txns: []*Txn{
			txn("A", Committed, 0, 5, 6, []Write{{1, 41, 5, false}, {1, 42, 6, false}}), txn("R", Committed, 0, 5, 6, nil, read(Statement, 3, 4, Version{1, 5, 41}))}}},
		"garbage":        {"nobody", reader(read(Statement, 3, 4, Version{1, 5, 77}))},
		"another's":      {"nobody", reader(read(Statement, 3, 4, Version{1, 5, 12}))},
		"wrong version":  {"which made version", reader(read(Statement, 3, 4, Version{1, 6, 11}))},
		"of long before": {"long before", reader(read(Statement, 3, 4, Version{1, 3, 99}))},
		"same version":   {"lost update", with(txn("C", Committed, 0, 5, 6, []Write{{1, 31, 5, false}}))},
		"lost update": {"cycle", with(txn("C", Committed, 0, 45, 46, []Write{{1, 31, 0, false}}, read(Locked, 1, 2, old1)),
			txn("R", Committed, 60, 61, 62, nil, read(Statement, 60, 61, Version{1, 7, 31})))},
		"not counted":                  {"acknowledged", with(txn("C", Committed, 0, 5, 6, []Write{{1, 31, 0, false}}))},
		"counted, and never committed": {"acknowledged", Registers{Before: before, After: after, Txns: []*Txn{a()}}},
		"not answered and not there":   {"", with(txn("C", Unknown, 0, 5, 6, []Write{{1, 31, 7, false}}))},
		"locked":                       {"cycle", reader(read(Locked, 25, 26, a1))},
		"locked and rolled back":       {"", with(txn("R", Aborted, 0, 0, 26, nil, read(Locked, 21, 25, a1)))},
	}
	lost := tests["lost update"]
	lost.h.After = state(Version{1, 7, 31}, b2)
	tests["lost update"] = lost
	for name, tt := range tests {
		expect(t, name, tt.h.Check(), tt.want)
	}
}
