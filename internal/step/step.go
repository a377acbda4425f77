package step

import "fmt"

// Point is a step.
type Point uint8

// The steps of a commit, in their order. From CommitMarked to CommitStored the
// committing goroutine holds the store's sequencer: no other commit begins.
const (
	// CommitMarked: it has a sequence, and the watermarks of the change logs that
	// it writes to are raised.
	CommitMarked Point = iota
	// CommitStarted: the store knows that a commit is under way.
	CommitStarted
	// CommitNoted: scan images and filters have its changes.
	CommitNoted
	// CommitApplied: its state is visible.
	CommitApplied
	// CommitStored: its sequence is the store's.
	CommitStored
	// CommitReleased: the watermarks of its tables are raised, its locks released.
	CommitReleased
	// CommitSynced: it has the durability of its options.
	CommitSynced

	// ViewTaken: a reader has a snapshot of the store.
	ViewTaken
	// LatestBound: a read of the latest state through a scan image knows up to
	// which sequence it reads.
	LatestBound
	// SearchNumbered: a statement requests a view of a search index at the sequence of
	// its snapshot.
	SearchNumbered
	// SearchOpened: it has a snapshot of the index's files.
	SearchOpened
	// SearchAsked: it knows whether the change log has records that the files do
	// not have.
	SearchAsked
	// SearchOverlaid: it knows which rows changed between the files and its
	// snapshot.
	SearchOverlaid
	// SearchChosen: it has chosen documents.
	SearchChosen
	// SearchFetched: it has begun to read the rows of the documents, and those
	// that changed.
	SearchFetched

	// FollowTaken: an index that follows its change log has a snapshot of the
	// store.
	FollowTaken
	// FollowRead: it has read the change log.
	FollowRead
	// FollowMade: it has made a batch of documents of the rows.
	FollowMade
	// FollowApplied: its files have a batch of documents.
	FollowApplied
	// FollowSettled: statements know what the files have.
	FollowSettled

	points
)

// Commits, Views and Follows are the steps of a commit, of a read, and of a
// search index that follows its change log.
var (
	Commits = between(CommitMarked, ViewTaken)
	Views   = between(ViewTaken, FollowTaken)
	Follows = between(FollowTaken, points)
)

func between(first, end Point) (out []Point) {
	for p := first; p < end; p++ {
		out = append(out, p)
	}
	return out
}

var names = [points]string{
	"CommitMarked", "CommitStarted", "CommitNoted", "CommitApplied", "CommitStored", "CommitReleased", "CommitSynced",
	"ViewTaken", "LatestBound", "SearchNumbered", "SearchOpened", "SearchAsked", "SearchOverlaid", "SearchChosen", "SearchFetched",
	"FollowTaken", "FollowRead", "FollowMade", "FollowApplied", "FollowSettled",
}

// String is the name of the constant.
func (p Point) String() string {
	if p < points {
		return names[p]
	}
	return fmt.Sprintf("Point(%d)", uint8(p))
}

// Hook is called at each step, by the goroutine that takes it. It may be called
// by many at once.
type Hook func(Point)

// At calls the hook, if there is one.
func (h Hook) At(p Point) {
	if h != nil {
		h(p)
	}
}
