package histcheck

import (
	"fmt"
	"time"
)

// Element is what a transaction writes: an element of a list, or the name of a
// write to a register. Each is used once.
type Element int64

// Kind says which state a read has to show.
type Kind uint8

const (
	// View shows the view of its transaction, one for all such reads of it
	// (plain reads under REPEATABLE READ).
	View Kind = iota
	// Statement shows the state at one moment of its statement.
	Statement
	// Locked shows the state at the commit of its transaction, because the object
	// stays locked until then.
	Locked
)

// Read is the answer of one statement, or the part of it that is of one kind.
type Read struct {
	Kind         Kind
	Asked, Given time.Duration
	// Lists are the lists read, by key, and Own what the transaction itself had
	// appended to them before.
	Lists, Own map[int][]Element
	// Versions are the registers read, without those that the transaction itself
	// had written before.
	Versions []Version

	seen []place // what the check made of it
}

// place is how many writes to an object a read saw.
type place struct{ key, count int }

// Version is a state of a register: the number of its writes, and the last one.
type Version struct {
	Key int
	N   int64
	By  Element
}

// Write is one to a register.
type Write struct {
	Key int
	By  Element
	// N is the version that it made, 0 if the writer does not know.
	N int64
	// Undone: the transaction went back to a savepoint.
	Undone bool
}

// Outcome is how a transaction ended, as its client knows it.
type Outcome uint8

// The outcomes.
const (
	Aborted Outcome = iota
	Committed
	Unknown // COMMIT was not answered, or with an error
)

// Txn is one transaction.
type Txn struct {
	Name    string
	Level   string
	Outcome Outcome
	// Began, Ending and Ended: before its start, before COMMIT, after its answer.
	Began, Ending, Ended time.Duration
	Appends              map[int][]Element // to lists
	Writes               []Write           // to registers
	Reads                []Read
	// Steps are its statements, for those who read a finding; they may be left out.
	Steps []Step
}

// Step is a statement with its answer.
type Step struct {
	Asked, Given time.Duration
	Path         string // the way to the rows
	SQL, Answer  string
}

// Finding is an anomaly.
type Finding struct {
	Text string
	Txns []*Txn // the transactions that take part
}

func (f Finding) String() string { return f.Text }

// maxFindings are as many as a check collects.
const maxFindings = 20

// findings collects them.
type findings []Finding

func (f *findings) fail(txns []*Txn, format string, args ...any) {
	if len(*f) < maxFindings {
		*f = append(*f, Finding{fmt.Sprintf(format, args...), txns})
	}
}

// of makes the transactions of a finding; nil ones are left out.
func of(txns ...*Txn) (out []*Txn) {
	for _, x := range txns {
		if x != nil {
			out = append(out, x)
		}
	}
	return out
}
