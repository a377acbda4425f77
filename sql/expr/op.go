package expr

// Op identifies the calls whose identity matters beyond their own definition: to
// the planner, the ranges, the printer or the typing of other calls. The zero
// value is any other function, which is known by its name alone. A Func has its
// Op from the name by which it is made.
type Op uint8

// The operators and functions that have an Op.
const (
	OpNone Op = iota

	// comparisons
	OpEQ
	OpNullEQ // <=>
	OpNE
	OpLT
	OpLE
	OpGT
	OpGE

	// logic and tests
	OpAnd
	OpOr
	OpXor
	OpNot
	OpIsNull
	OpIsTrue
	OpIsFalse
	OpIn
	OpLike
	OpRegexp
	OpRow

	// arithmetic
	OpPlus
	OpMinus
	OpTimes
	OpDivide
	OpIntDiv
	OpMod
	OpNeg
	OpAbs
	OpBitAnd
	OpBitOr
	OpBitXor
	OpBitNot
	OpShiftLeft
	OpShiftRight

	// control flow
	OpIf
	OpCase
	OpIfNull
	OpNullIf
	OpCoalesce
	OpGreatest
	OpLeast
	OpAnyValue
	OpNameConst
	OpGrouping

	// conversions
	OpCast
	OpCastArray
	OpConvertUsing
	OpCollate
	OpAsBits
	OpFullYear
	OpFullDate
	OpFullDateTime
	OpShown
	OpPadChar

	// JSON
	OpJSONDoc
	OpJSONOf
	OpJSONScalar
	OpElementOf
	OpJSONExtract
	OpJSONUnquote
	OpJSONValid
	OpJSONContains
	OpJSONOverlaps
	OpJSONArrayInsert
	OpMemberOf

	// attributes of rows with dynamic columns
	OpAttribute
	OpAttributeAs
	OpAttributeDocument
	OpAttributeNumber
	OpAttributeOrder
	OpAttributeArith

	// partitions
	OpPartitionOf
	OpPartitionIn
	OpComputed

	// text, and functions whose text has ASCII characters only
	OpTrim
	OpLTrim
	OpRTrim
	OpConcat
	OpConcatWS
	OpLeft
	OpRight
	OpSubstring
	OpLower
	OpUpper
	OpLPad
	OpRPad
	OpReverse
	OpRepeat
	OpMD5
	OpSHA1
	OpSHA2
	OpHex
	OpBin
	OpOct
	OpConv
	OpUUID
	OpToBase64
	OpINetNToA
	OpINet6NToA
	OpINet6AToN

	// times
	OpDateAdd
	OpDateSub
	OpSubTime
	OpExtract
	OpTimestamp
	OpTimestampAdd
	OpTimestampDiff
	OpFromUnixTime
	OpUnixTimestamp
	OpToDays
	OpToSeconds
	OpYear
	OpConvertTZ
	OpParseDateTime

	// search
	OpMatch
	OpTextMatch
	OpTextMatchPhrase
	OpTextMatchFuzzy

	// places
	OpGeoPoint
	OpSTDistanceSphere
	OpSTContains
	OpSTWithin
	OpSTIntersects
	OpSTTouches
	OpSTEquals
	OpSTCrosses
	OpSTOverlaps
	OpMBRContains
	OpMBRWithin
	OpMBRIntersects
	OpMBRTouches
	OpMBREquals
	OpMBROverlaps
	OpMBRCovers
	OpMBRCoveredBy

	// the session and the server
	OpGetVar
	OpSetVar
	OpSysVar
	OpDatabase
	OpUser
	OpCurrentUser
	OpCurrentRole
	OpVersion
	OpLastInsertID
	OpFoundRows
	OpRowCount
	OpSleep
	OpBenchmark
	OpGetLock
	OpReleaseLock
	OpReleaseAllLocks
	OpIsFreeLock
	OpIsUsedLock

	// parts of plans
	OpLet
	OpLetValue
	OpLimitRows

	opEnd
)

// opNames are the names by which calls with an Op are made. Other names for the
// same function are in opAliases.
var opNames = [opEnd]string{
	OpEQ: "=", OpNullEQ: "<=>", OpNE: "<>", OpLT: "<", OpLE: "<=", OpGT: ">", OpGE: ">=",

	OpAnd: "and", OpOr: "or", OpXor: "xor", OpNot: "not", OpIsNull: "is_null", OpIsTrue: "is_true", OpIsFalse: "is_false",
	OpIn: "in", OpLike: "like", OpRegexp: "regexp", OpRow: "row",

	OpPlus: "+", OpMinus: "-", OpTimes: "*", OpDivide: "/", OpIntDiv: "div", OpMod: "%", OpNeg: "neg", OpAbs: "abs",
	OpBitAnd: "&", OpBitOr: "|", OpBitXor: "^", OpBitNot: "~", OpShiftLeft: "<<", OpShiftRight: ">>",

	OpIf: "if", OpCase: "case", OpIfNull: "ifnull", OpNullIf: "nullif", OpCoalesce: "coalesce", OpGreatest: "greatest", OpLeast: "least",
	OpAnyValue: "any_value", OpNameConst: "name_const", OpGrouping: "grouping",

	OpCast: "cast", OpCastArray: "cast_array", OpConvertUsing: "convert_using", OpCollate: "collate", OpAsBits: "as_bits",
	OpFullYear: "full_year", OpFullDate: "full_date", OpFullDateTime: "full_datetime", OpShown: asShown, OpPadChar: "pad_char",

	OpJSONDoc: "json_doc", OpJSONOf: "json_of", OpJSONScalar: "json_scalar", OpElementOf: "element_of", OpJSONExtract: "json_extract",
	OpJSONUnquote: "json_unquote", OpJSONValid: "json_valid", OpJSONContains: "json_contains", OpJSONOverlaps: "json_overlaps",
	OpJSONArrayInsert: "json_array_insert", OpMemberOf: "member of",

	OpAttribute: "attribute", OpAttributeAs: "attribute_as", OpAttributeDocument: "attribute_document", OpAttributeNumber: "attribute_number",
	OpAttributeOrder: "attribute_order", OpAttributeArith: "attribute_arith",

	OpPartitionOf: "partition_of", OpPartitionIn: "partition_in", OpComputed: "computed",

	OpTrim: "trim", OpLTrim: "ltrim", OpRTrim: "rtrim", OpConcat: "concat", OpConcatWS: "concat_ws", OpLeft: "left", OpRight: "right",
	OpSubstring: "substring", OpLower: "lower", OpUpper: "upper", OpLPad: "lpad", OpRPad: "rpad", OpReverse: "reverse", OpRepeat: "repeat",
	OpMD5: "md5", OpSHA1: "sha1", OpSHA2: "sha2", OpHex: "hex", OpBin: "bin", OpOct: "oct", OpConv: "conv", OpUUID: "uuid",
	OpToBase64: "to_base64", OpINetNToA: "inet_ntoa", OpINet6NToA: "inet6_ntoa", OpINet6AToN: "inet6_aton",

	OpDateAdd: "date_add", OpDateSub: "date_sub", OpSubTime: "subtime", OpExtract: "extract", OpTimestamp: "timestamp",
	OpTimestampAdd: "timestampadd", OpTimestampDiff: "timestampdiff", OpFromUnixTime: "from_unixtime", OpUnixTimestamp: "unix_timestamp",
	OpToDays: "to_days", OpToSeconds: "to_seconds", OpYear: "year",
	OpConvertTZ: "convert_tz", OpParseDateTime: "parse_datetime",

	OpMatch: "match", OpTextMatch: "text_match", OpTextMatchPhrase: "text_match_phrase", OpTextMatchFuzzy: "text_match_fuzzy",

	OpGeoPoint: "geo_point", OpSTDistanceSphere: "st_distance_sphere", OpSTContains: "st_contains", OpSTWithin: "st_within",
	OpSTIntersects: "st_intersects", OpSTTouches: "st_touches", OpSTEquals: "st_equals", OpSTCrosses: "st_crosses", OpSTOverlaps: "st_overlaps",
	OpMBRContains: "mbrcontains", OpMBRWithin: "mbrwithin", OpMBRIntersects: "mbrintersects", OpMBRTouches: "mbrtouches",
	OpMBREquals: "mbrequals", OpMBROverlaps: "mbroverlaps", OpMBRCovers: "mbrcovers", OpMBRCoveredBy: "mbrcoveredby",

	OpGetVar: "getvar", OpSetVar: "setvar", OpSysVar: "sysvar", OpDatabase: "database", OpUser: "user",
	OpCurrentUser: "current_user", OpCurrentRole: "current_role", OpVersion: "version", OpLastInsertID: "last_insert_id",
	OpFoundRows: "found_rows", OpRowCount: "row_count", OpSleep: "sleep", OpBenchmark: "benchmark", OpGetLock: "get_lock",
	OpReleaseLock: "release_lock", OpReleaseAllLocks: "release_all_locks", OpIsFreeLock: "is_free_lock", OpIsUsedLock: "is_used_lock",

	OpLet: "let", OpLetValue: "let_value", OpLimitRows: "limit_rows",
}

// opAliases are other names of functions with an Op.
var opAliases = map[string]Op{
	"!=": OpNE, "schema": OpDatabase, "session_user": OpUser, "system_user": OpUser, "substr": OpSubstring, "mid": OpSubstring,
	"lcase": OpLower, "ucase": OpUpper, "sha": OpSHA1,
}

// opsByName finds an Op by name.
var opsByName = func() map[string]Op {
	out := make(map[string]Op, int(opEnd)+len(opAliases))
	for op := OpNone + 1; op < opEnd; op++ {
		out[opNames[op]] = op
	}
	for name, op := range opAliases {
		out[name] = op
	}
	return out
}()

// OpOf is the Op of a function by its lower-case name, OpNone for one without.
func OpOf(name string) Op { return opsByName[name] }

// String is the name by which NewFunc makes a call of the operator.
func (op Op) String() string { return opNames[op] }

// IsComparison reports the operators that compare two values, or two rows.
func (op Op) IsComparison() bool { return op >= OpEQ && op <= OpGE }

// Swapped is the comparison that gives the same with its operands swapped: a < b
// is b > a. ok is false for other operators.
func (op Op) Swapped() (_ Op, ok bool) {
	switch op {
	case OpEQ, OpNullEQ, OpNE:
		return op, true
	case OpLT:
		return OpGT, true
	case OpLE:
		return OpGE, true
	case OpGT:
		return OpLT, true
	case OpGE:
		return OpLE, true
	}
	return OpNone, false
}

// Strict is < for < and <=, and > for > and >=.
func (op Op) Strict() Op {
	switch op {
	case OpLE:
		return OpLT
	case OpGE:
		return OpGT
	}
	return op
}

// OrEqual is <= for < and <=, and >= for > and >=.
func (op Op) OrEqual() Op {
	switch op {
	case OpLT:
		return OpLE
	case OpGT:
		return OpGE
	}
	return op
}

// MeetsBoxes reports the relations of two geometries that are true only where
// the boxes of both have a common point.
func (op Op) MeetsBoxes() bool { return op >= OpSTContains && op <= OpMBRCoveredBy }
