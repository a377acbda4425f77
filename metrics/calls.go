package metrics

import "time"

// Calls are the calls of one kind that a store has made to other machines.
type Calls struct {
	// Kind is the name of the call in the protocol.
	Kind string
	// Times are how long calls took that were answered.
	Times Histogram
	// Errors counts calls without an answer (NoAnswer), and answers that send the caller
	// elsewhere or say to come again, by reason.
	Errors map[string]int64
}

// NoAnswer is the reason of calls that were lost, or have timed out.
const NoAnswer = "no_answer"

// Cluster is what a server sees of the cluster that has its store.
type Cluster struct {
	// Calls are in the order of their kinds.
	Calls []Calls
	// Lease is how long the store belongs to this server from now on, unless it renews that.
	Lease time.Duration
	// Unknown are commits whose outcome the cluster did not say.
	Unknown int64
}
