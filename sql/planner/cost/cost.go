package cost

import "math"

// Costs in nanoseconds of CPU.
const (
	Get            = 1500 // a point read
	Seek           = 2000 // opening a scan of one span
	LookupRow      = 130  // fetching a row by sorted keys, neighbours close
	LookupFarRow   = 900  // the same, neighbours far apart
	LookupBatch    = 800  // each batch of lookups
	ScanRow        = 45   // a row of a scan
	ScanColumn     = 5    // each decoded column
	EntryRow       = 40   // an index entry
	FilterRow      = 3    // each condition on a row
	FilterText     = 100  // each that compares texts otherwise than by their order
	ProjectRow     = 3
	HashGroupRow   = 15
	StreamGroupRow = 5
	NewGroup       = 100
	WindowRow      = 30 // each function on a row
	BuildRow       = 60
	ProbeRow       = 40
	ProbeWord      = 15 // ProbeRow by a key that is one number or time
	NestedPair     = 4
	LockRow        = 1000 // a row lock; more than it takes, as others may wait for it
	MergeRow       = 18   // each row of both sides of a merge join
	SortCompare    = 12
	SearchOpen     = 30000 // a view of a search index
	SearchCount    = 90000 // a number of documents that lists of values give
	SearchParts    = 16    // segments, each of which has its own list of different values
	SearchDoc      = 0.3   // each document, for each condition that it is tested for
	SearchHit      = 1     // each document that it finds
	SearchWord     = 1     // each value of it that is a number or a time
	SearchText     = 30    // each that is a text, of which a segment has very many different
	SearchTexts    = 4096  // more are very many
	SearchPick     = 2     // each that shows whether a join has use for its document
	SearchRank     = 10    // each of them whose score or distance is computed: less than above the scan
	SearchNear     = 1     // each of them, where the nearest are looked for
	MergeKey       = 40    // a key of an index merge, and
	MergeCompare   = 12    // its place in the order
	MergeOpen      = 128   // ranges that a merge in order keeps open; of more, each row is a seek
	ApplyRun       = 3000  // starting a plan for one row
	ParallelStart  = 30000 // starting the workers of a parallel scan
)

// Lookup is the cost of fetching n of a table's total rows by sorted primary
// keys: cheap when the rows are close together.
func Lookup(n, total float64) float64 {
	if n <= 0 {
		return 0
	}
	gap := math.Max(total/n, 1)
	// The measured curve: 88 ns at every row to 916 at every 1000th.
	row := LookupRow + 95*math.Log2(gap)
	return n*math.Min(row, LookupFarRow) + math.Ceil(n/1024)*LookupBatch
}

// Sort is the cost of sorting n rows.
func Sort(n float64) float64 {
	if n < 2 {
		return SortCompare
	}
	return n * math.Log2(n) * SortCompare
}

// TopK is the cost of keeping the best k of n rows.
func TopK(n, k float64) float64 {
	if k < 2 {
		k = 2
	}
	return n*SortCompare + math.Min(n, k*math.Log(math.Max(n/k, 2)))*math.Log2(k)*SortCompare
}
