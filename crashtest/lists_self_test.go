package crashtest

import (
	"strings"
	"testing"
	"time"
)

// at makes moments of a history.
func at(n int) time.Duration { return time.Duration(n) * time.Millisecond }

type lists = map[int][]element

// TestListCheck proves that the checker sees the anomalies that it looks for.
func TestListCheck(t *testing.T) {
	txn := func(name string, o outcome, began, ending, ended int, appends lists, reads ...listRead) *listTxn {
		return &listTxn{name: name, level: "RR", outcome: o, began: at(began), ending: at(ending), ended: at(ended), appends: appends, reads: reads}
	}
	view := func(asked, given int, l lists) listRead {
		return listRead{kind: readView, lists: l, asked: at(asked), given: at(given)}
	}
	a := func() *listTxn { return txn("A", committed, 0, 10, 20, lists{1: {1}, 2: {2}}) }
	tests := map[string]struct {
		want string
		h    listHistory
	}{
		"fine": {"", listHistory{after: lists{1: {1}, 2: {2}}, txns: []*listTxn{a(),
			txn("R", committed, 0, 8, 9, nil, view(1, 2, lists{1: {}, 2: {}})),
			txn("S", committed, 21, 30, 31, nil, view(22, 23, lists{1: {1}}), view(24, 25, lists{2: {2}}))}}},
		"lost commit":   {"acknowledged", listHistory{after: lists{1: {1}}, txns: []*listTxn{a()}}},
		"half commit":   {"in part", listHistory{after: lists{1: {1}}, txns: []*listTxn{txn("A", unknown, 0, 1, 2, lists{1: {1}, 2: {2}})}}},
		"aborted write": {"rolled back", listHistory{after: lists{1: {1}}, txns: []*listTxn{txn("A", aborted, 0, 1, 2, lists{1: {1}})}}},
		"aborted read": {"G1a", listHistory{after: lists{}, txns: []*listTxn{txn("A", aborted, 0, 9, 9, lists{1: {1}}),
			txn("R", committed, 0, 8, 9, nil, view(1, 2, lists{1: {1}}))}}},
		"intermediate read": {"G1b", listHistory{after: lists{1: {1, 2}}, txns: []*listTxn{txn("A", committed, 0, 9, 9, lists{1: {1, 2}}),
			txn("R", committed, 0, 8, 9, nil, view(1, 2, lists{1: {1}}))}}},
		"garbage": {"nobody", listHistory{after: lists{}, txns: []*listTxn{txn("R", committed, 0, 8, 9, nil, view(1, 2, lists{1: {7}}))}}},
		"own write not read": {"then read", listHistory{after: lists{1: {1}}, txns: []*listTxn{txn("A", committed, 0, 8, 9, lists{1: {1}},
			listRead{kind: readLocked, lists: lists{1: {}}, own: lists{1: {1}}, asked: at(3), given: at(4)})}}},
		"read skew": {"cycle", listHistory{after: lists{1: {1}, 2: {2}}, txns: []*listTxn{a(),
			txn("R", committed, 0, 30, 31, nil, view(1, 2, lists{1: {}}), view(21, 22, lists{2: {2}}))}}},
		"no skew of statements": {"", listHistory{after: lists{1: {1}, 2: {2}}, txns: []*listTxn{a(),
			txn("R", committed, 0, 30, 31, nil, listRead{kind: readStatement, lists: lists{1: {}}, asked: at(1), given: at(2)},
				listRead{kind: readStatement, lists: lists{2: {2}}, asked: at(21), given: at(22)})}}},
		"skew inside of a statement": {"cycle", listHistory{after: lists{1: {1}, 2: {2}}, txns: []*listTxn{a(),
			txn("R", committed, 0, 30, 31, nil, listRead{kind: readStatement, lists: lists{1: {}, 2: {2}}, asked: at(1), given: at(22)})}}},
		"stale read": {"cycle", listHistory{after: lists{1: {1}, 2: {2}}, txns: []*listTxn{a(),
			txn("R", committed, 25, 30, 31, nil, view(26, 27, lists{1: {}}))}}},
		"lost update": {"cycle", listHistory{after: lists{1: {1, 2}}, txns: []*listTxn{txn("A", committed, 0, 10, 20, lists{1: {1}}),
			txn("B", committed, 0, 30, 40, lists{1: {2}}, listRead{kind: readLocked, lists: lists{1: {}}, asked: at(5), given: at(6)})}}},
		"write cycle": {"cycle", listHistory{after: lists{1: {1, 3}, 2: {4, 2}}, txns: []*listTxn{a(),
			txn("B", committed, 0, 15, 25, lists{1: {3}, 2: {4}})}}},
		"circular information": {"cycle", listHistory{after: lists{1: {1}, 2: {2}}, txns: []*listTxn{
			txn("A", committed, 0, 15, 25, lists{1: {1}}, listRead{kind: readLocked, lists: lists{2: {2}}, asked: at(1), given: at(9)}),
			txn("B", committed, 0, 15, 25, lists{2: {2}}, listRead{kind: readLocked, lists: lists{1: {1}}, asked: at(1), given: at(9)})}}},
		"long fork": {"cycle", listHistory{after: lists{1: {1}, 2: {2}}, txns: []*listTxn{
			txn("A", committed, 0, 15, 25, lists{1: {1}}), txn("B", committed, 0, 15, 25, lists{2: {2}}),
			txn("R", committed, 0, 28, 29, nil, view(16, 17, lists{1: {1}}), view(18, 19, lists{2: {}})),
			txn("S", committed, 0, 28, 29, nil, view(16, 17, lists{1: {}}), view(18, 19, lists{2: {2}}))}}},
		"older than the crash": {"older", listHistory{before: lists{1: {5}}, after: lists{1: {5}}, txns: []*listTxn{
			txn("R", committed, 0, 28, 29, nil, view(16, 17, lists{1: {}}))}}},
		"lost in the crash": {"", listHistory{after: lists{1: {1}}, txns: []*listTxn{txn("A", committed, 0, 1, 2, lists{1: {1}}),
			txn("B", unknown, 3, 4, 5, lists{1: {2}}), txn("R", committed, 3, 8, 9, nil, view(4, 5, lists{1: {1, 2}}))}}},
		"a writer that read what was lost": {"is lost", listHistory{after: lists{1: {1}, 2: {3}}, txns: []*listTxn{txn("A", committed, 0, 1, 2, lists{1: {1}}),
			txn("B", unknown, 3, 4, 5, lists{1: {2}}), txn("R", committed, 3, 8, 9, lists{2: {3}}, view(4, 5, lists{1: {1, 2}}))}}},
	}
	for name, tt := range tests {
		got := strings.Join(tt.h.check(), "\n")
		if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
