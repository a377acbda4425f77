package types

import (
	"time"

	"github.com/sqlots/sqlots/sql/sqlerr"
)

// SQLMode is the set of sql_mode flags that change conversions and functions.
type SQLMode uint32

// The flags that sqlots knows; SQLModeNames lists them all.
const (
	ModeStrictTransTables SQLMode = 1 << iota
	ModeStrictAllTables
	ModeNoZeroDate
	ModeNoZeroInDate
	ModeErrorForDivisionByZero
	ModeNoEngineSubstitution
	ModeOnlyFullGroupBy
	ModeANSIQuotes
	ModePipesAsConcat
	ModeNoUnsignedSubtraction
	ModeNoBackslashEscapes
	ModeIgnoreSpace
	ModeHighNotPrecedence
	ModeRealAsFloat
	ModePadCharToFullLength
	ModeAllowInvalidDates
	ModeNoAutoValueOnZero
	ModeTimeTruncateFractional
)

// DefaultSQLMode is MySQL 8's.
const DefaultSQLMode = ModeOnlyFullGroupBy | ModeStrictTransTables | ModeNoZeroInDate | ModeNoZeroDate |
	ModeErrorForDivisionByZero | ModeNoEngineSubstitution

// Strict reports strict mode.
func (m SQLMode) Strict() bool { return m&(ModeStrictTransTables|ModeStrictAllTables) != 0 }

// Env is what conversions need to know of the statement that they run for.
type Env struct {
	Mode SQLMode
	// Loc is the session time zone.
	Loc *time.Location
	// Now is the statement's start.
	Now time.Time
	// Write is set while values for a table are computed: in strict mode
	// bad values are errors then. A SELECT only warns.
	Write bool
	// Ignore is set for INSERT IGNORE and the like: errors become warnings.
	Ignore bool
	// Restoring is set while a dump is loaded: a value for a generated column
	// is left out with a warning. mariadb-dump writes them.
	Restoring bool
	// MaxAttributes and MaxAttributeSize bound the attributes of a row; 0 for
	// the defaults.
	MaxAttributes, MaxAttributeSize int
	// Warn takes a diagnostic; nil drops it.
	Warn func(w sqlerr.Warning)
	// Work counts the work of reading long texts, in units of about a nanosecond; its
	// errors end it. It may be nil.
	Work func(n int) error
}

func (env *Env) work() func(n int) error {
	if env == nil {
		return nil
	}
	return env.Work
}

// Warning reports e as a warning.
func (env *Env) Warning(e *sqlerr.Error) {
	if env != nil && env.Warn != nil {
		env.Warn(sqlerr.Warning{Level: sqlerr.LevelWarning, Err: e})
	}
}
