package histcheck

import (
	"strings"
	"testing"
	"time"
)

// at makes moments of a history.
func at(n int) time.Duration { return time.Duration(n) * time.Millisecond }

type lists = map[int][]Element

// TestLists proves that the checker sees the anomalies that it looks for.
func TestLists(t *testing.T) {
	txn := func(name string, o Outcome, began, ending, ended int, appends lists, reads ...Read) *Txn {
		return &Txn{Name: name, Level: "RR", Outcome: o, Began: at(began), Ending: at(ending), Ended: at(ended), Appends: appends, Reads: reads}
	}
	view := func(asked, given int, l lists) Read {
		return Read{Kind: View, Lists: l, Asked: at(asked), Given: at(given)}
	}
	a := func() *Txn { return txn("A", Committed, 0, 10, 20, lists{1: {1}, 2: {2}}) }
	tests := map[string]struct {
		want string
		h    Lists
	}{
		"fine": {"", Lists{After: lists{1: {1}, 2: {2}}, Txns: []*Txn{a(),
			txn("R", Committed, 0, 8, 9, nil, view(1, 2, lists{1: {}, 2: {}})),
			txn("S", Committed, 21, 30, 31, nil, view(22, 23, lists{1: {1}}), view(24, 25, lists{2: {2}}))}}},
		"lost commit":   {"acknowledged", Lists{After: lists{1: {1}}, Txns: []*Txn{a()}}},
		"half commit":   {"in part", Lists{After: lists{1: {1}}, Txns: []*Txn{txn("A", Unknown, 0, 1, 2, lists{1: {1}, 2: {2}})}}},
		"aborted write": {"rolled back", Lists{After: lists{1: {1}}, Txns: []*Txn{txn("A", Aborted, 0, 1, 2, lists{1: {1}})}}},
		"aborted read": {"G1a", Lists{After: lists{}, Txns: []*Txn{txn("A", Aborted, 0, 9, 9, lists{1: {1}}),
			txn("R", Committed, 0, 8, 9, nil, view(1, 2, lists{1: {1}}))}}},
		"intermediate read": {"G1b", Lists{After: lists{1: {1, 2}}, Txns: []*Txn{txn("A", Committed, 0, 9, 9, lists{1: {1, 2}}),
			txn("R", Committed, 0, 8, 9, nil, view(1, 2, lists{1: {1}}))}}},
		"garbage": {"nobody", Lists{After: lists{}, Txns: []*Txn{txn("R", Committed, 0, 8, 9, nil, view(1, 2, lists{1: {7}}))}}},
		"own write not read": {"then read", Lists{After: lists{1: {1}}, Txns: []*Txn{txn("A", Committed, 0, 8, 9, lists{1: {1}},
			Read{Kind: Locked, Lists: lists{1: {}}, Own: lists{1: {1}}, Asked: at(3), Given: at(4)})}}},
		"read skew": {"cycle", Lists{After: lists{1: {1}, 2: {2}}, Txns: []*Txn{a(),
			txn("R", Committed, 0, 30, 31, nil, view(1, 2, lists{1: {}}), view(21, 22, lists{2: {2}}))}}},
		"no skew of statements": {"", Lists{After: lists{1: {1}, 2: {2}}, Txns: []*Txn{a(),
			txn("R", Committed, 0, 30, 31, nil, Read{Kind: Statement, Lists: lists{1: {}}, Asked: at(1), Given: at(2)},
				Read{Kind: Statement, Lists: lists{2: {2}}, Asked: at(21), Given: at(22)})}}},
		"skew inside of a statement": {"cycle", Lists{After: lists{1: {1}, 2: {2}}, Txns: []*Txn{a(),
			txn("R", Committed, 0, 30, 31, nil, Read{Kind: Statement, Lists: lists{1: {}, 2: {2}}, Asked: at(1), Given: at(22)})}}},
		"stale read": {"cycle", Lists{After: lists{1: {1}, 2: {2}}, Txns: []*Txn{a(),
			txn("R", Committed, 25, 30, 31, nil, view(26, 27, lists{1: {}}))}}},
		"lost update": {"cycle", Lists{After: lists{1: {1, 2}}, Txns: []*Txn{txn("A", Committed, 0, 10, 20, lists{1: {1}}),
			txn("B", Committed, 0, 30, 40, lists{1: {2}}, Read{Kind: Locked, Lists: lists{1: {}}, Asked: at(5), Given: at(6)})}}},
		"write cycle": {"cycle", Lists{After: lists{1: {1, 3}, 2: {4, 2}}, Txns: []*Txn{a(),
			txn("B", Committed, 0, 15, 25, lists{1: {3}, 2: {4}})}}},
		"circular information": {"cycle", Lists{After: lists{1: {1}, 2: {2}}, Txns: []*Txn{
			txn("A", Committed, 0, 15, 25, lists{1: {1}}, Read{Kind: Locked, Lists: lists{2: {2}}, Asked: at(1), Given: at(9)}),
			txn("B", Committed, 0, 15, 25, lists{2: {2}}, Read{Kind: Locked, Lists: lists{1: {1}}, Asked: at(1), Given: at(9)})}}},
		"long fork": {"cycle", Lists{After: lists{1: {1}, 2: {2}}, Txns: []*Txn{
			txn("A", Committed, 0, 15, 25, lists{1: {1}}), txn("B", Committed, 0, 15, 25, lists{2: {2}}),
			txn("R", Committed, 0, 28, 29, nil, view(16, 17, lists{1: {1}}), view(18, 19, lists{2: {}})),
			txn("S", Committed, 0, 28, 29, nil, view(16, 17, lists{1: {}}), view(18, 19, lists{2: {2}}))}}},
		"older than the crash": {"older", Lists{Before: lists{1: {5}}, After: lists{1: {5}}, Txns: []*Txn{
			txn("R", Committed, 0, 28, 29, nil, view(16, 17, lists{1: {}}))}}},
		"lost in the crash": {"", Lists{After: lists{1: {1}}, Txns: []*Txn{txn("A", Committed, 0, 1, 2, lists{1: {1}}),
			txn("B", Unknown, 3, 4, 5, lists{1: {2}}), txn("R", Committed, 3, 8, 9, nil, view(4, 5, lists{1: {1, 2}}))}}},
		"a writer that read what was lost": {"is lost", Lists{After: lists{1: {1}, 2: {3}}, Txns: []*Txn{txn("A", Committed, 0, 1, 2, lists{1: {1}}),
			txn("B", Unknown, 3, 4, 5, lists{1: {2}}), txn("R", Committed, 3, 8, 9, lists{2: {3}}, view(4, 5, lists{1: {1, 2}}))}}},
	}
	for name, tt := range tests {
		expect(t, name, tt.h.Check(), tt.want)
	}
}

// expect wants findings that say something, or none.
func expect(t *testing.T, name string, found []Finding, want string) {
	t.Helper()
	var got strings.Builder
	for _, f := range found {
		got.WriteString(f.Text + "\n")
		if len(f.Txns) == 0 && strings.Contains(f.Text, "cycle") {
			t.Errorf("%s: nobody takes part in %q", name, f.Text)
		}
	}
	if want == "" && len(found) > 0 || !strings.Contains(got.String(), want) {
		t.Errorf("%s: %q, want %q", name, got.String(), want)
	}
}
