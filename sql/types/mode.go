package types

import (
	"strconv"
	"strings"

	"github.com/sqlots/sqlots/sql/sqlerr"
)

// modeName is a sql_mode flag with its name; those without a flag are accepted
// for compatibility and have no effect.
type modeName struct {
	name string
	flag SQLMode
}

// modeNames are the names in the order in which MySQL prints them.
var modeNames = [...]modeName{
	{"REAL_AS_FLOAT", ModeRealAsFloat},
	{"PIPES_AS_CONCAT", ModePipesAsConcat},
	{"ANSI_QUOTES", ModeANSIQuotes},
	{"IGNORE_SPACE", ModeIgnoreSpace},
	{"ONLY_FULL_GROUP_BY", ModeOnlyFullGroupBy},
	{"NO_UNSIGNED_SUBTRACTION", ModeNoUnsignedSubtraction},
	{"NO_AUTO_VALUE_ON_ZERO", ModeNoAutoValueOnZero},
	{"NO_BACKSLASH_ESCAPES", ModeNoBackslashEscapes},
	{"STRICT_TRANS_TABLES", ModeStrictTransTables},
	{"STRICT_ALL_TABLES", ModeStrictAllTables},
	{"NO_ZERO_IN_DATE", ModeNoZeroInDate},
	{"NO_ZERO_DATE", ModeNoZeroDate},
	{"ALLOW_INVALID_DATES", ModeAllowInvalidDates},
	{"ERROR_FOR_DIVISION_BY_ZERO", ModeErrorForDivisionByZero},
	{"HIGH_NOT_PRECEDENCE", ModeHighNotPrecedence},
	{"NO_ENGINE_SUBSTITUTION", ModeNoEngineSubstitution},
	{"PAD_CHAR_TO_FULL_LENGTH", ModePadCharToFullLength},
	{"TIME_TRUNCATE_FRACTIONAL", ModeTimeTruncateFractional},
	{"NO_DIR_IN_CREATE", 0},
}

// Combinations that are one name in SET sql_mode.
const (
	modeANSI = ModeRealAsFloat | ModePipesAsConcat | ModeANSIQuotes | ModeIgnoreSpace | ModeOnlyFullGroupBy
	modeTrad = ModeStrictTransTables | ModeStrictAllTables | ModeNoZeroInDate | ModeNoZeroDate |
		ModeErrorForDivisionByZero | ModeNoEngineSubstitution
)

// ParseSQLMode reads the comma-separated value of SET sql_mode, ignoring case.
// Names that do not exist are 1231.
func ParseSQLMode(s string) (SQLMode, error) {
	var m SQLMode
	if strings.TrimSpace(s) == "" {
		return 0, nil
	}
	if n, err := strconv.ParseUint(s, 10, 32); err == nil && n == 0 {
		return 0, nil
	}
	for part := range strings.SplitSeq(s, ",") {
		name := strings.ToUpper(strings.TrimSpace(part))
		f, ok := modeByName(name)
		if !ok {
			return 0, sqlerr.WrongValueForVariable("sql_mode", part)
		}
		m |= f
	}
	return m, nil
}

func modeByName(name string) (SQLMode, bool) {
	switch name {
	case "":
		return 0, true // 'A,,B' and a trailing comma
	case "ANSI":
		return modeANSI, true
	case "TRADITIONAL":
		return modeTrad, true
	case "DEFAULT":
		return DefaultSQLMode, true
	}
	for _, n := range modeNames {
		if n.name == name {
			return n.flag, true
		}
	}
	return 0, false
}

// String is the value of @@sql_mode.
func (m SQLMode) String() string {
	var b strings.Builder
	add := func(name string) {
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(name)
	}
	for _, n := range modeNames {
		if n.flag != 0 && m&n.flag != 0 {
			add(n.name)
		}
		switch {
		case n.flag == ModeOnlyFullGroupBy && m&modeANSI == modeANSI:
			add("ANSI")
		case n.flag == ModeErrorForDivisionByZero && m&modeTrad == modeTrad:
			add("TRADITIONAL")
		}
	}
	return b.String()
}
