package expr

// AggOp is an aggregate function.
type AggOp uint8

// Aggregate functions.
const (
	AggNone AggOp = iota
	AggCount
	AggSum
	AggAvg
	AggMin
	AggMax
	AggAnyValue
	AggBitAnd
	AggBitOr
	AggBitXor
	AggStddevPop
	AggStddevSamp
	AggVarPop
	AggVarSamp
	AggGroupConcat
	AggJSONArrayAgg
	AggJSONObjectAgg
	AggSTCollect
	AggApproxPercentile
	aggEnd
)

var aggNames = [aggEnd]string{
	AggCount: "count", AggSum: "sum", AggAvg: "avg", AggMin: "min", AggMax: "max", AggAnyValue: "any_value",
	AggBitAnd: "bit_and", AggBitOr: "bit_or", AggBitXor: "bit_xor", AggStddevPop: "stddev_pop", AggStddevSamp: "stddev_samp",
	AggVarPop: "var_pop", AggVarSamp: "var_samp", AggGroupConcat: "group_concat", AggJSONArrayAgg: "json_arrayagg",
	AggJSONObjectAgg: "json_objectagg", AggSTCollect: "st_collect", AggApproxPercentile: "approx_percentile",
}

// aggOps finds an aggregate function by its lower-case name. COUNT(DISTINCT …)
// is exact, and is what APPROX_COUNT_DISTINCT gives as well.
var aggOps = func() map[string]AggOp {
	out := map[string]AggOp{"std": AggStddevPop, "stddev": AggStddevPop, "variance": AggVarPop, approxCountDistinct: AggCount}
	for op := AggNone + 1; op < aggEnd; op++ {
		out[aggNames[op]] = op
	}
	return out
}()

const approxCountDistinct = "approx_count_distinct"

// String is the name of the function.
func (op AggOp) String() string { return aggNames[op] }

// IsBits reports BIT_AND, BIT_OR and BIT_XOR.
func (op AggOp) IsBits() bool { return op >= AggBitAnd && op <= AggBitXor }

// WindowOp is a function that needs a window. The zero value is an aggregate
// over one.
type WindowOp uint8

// Functions that need a window.
const (
	WinAggregate WindowOp = iota
	WinRowNumber
	WinRank
	WinDenseRank
	WinPercentRank
	WinCumeDist
	WinNTile
	WinLag
	WinLead
	WinFirstValue
	WinLastValue
	WinNthValue
	winEnd
)

var windowNames = [winEnd]string{
	WinRowNumber: "row_number", WinRank: "rank", WinDenseRank: "dense_rank", WinPercentRank: "percent_rank", WinCumeDist: "cume_dist",
	WinNTile: "ntile", WinLag: "lag", WinLead: "lead", WinFirstValue: "first_value", WinLastValue: "last_value", WinNthValue: "nth_value",
}

// windowOps finds a function by its lower-case name.
var windowOps = func() map[string]WindowOp {
	out := map[string]WindowOp{}
	for op := WinAggregate + 1; op < winEnd; op++ {
		out[windowNames[op]] = op
	}
	return out
}()

// String is the name of the function.
func (op WindowOp) String() string { return windowNames[op] }
