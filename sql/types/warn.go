package types

import (
	"unicode/utf8"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// bad reports a bad value in an expression: an error while values for a table
// are computed in strict mode, a warning otherwise.
func (env *Env) bad(e *sqlerr.Error) error {
	if env == nil {
		return nil
	}
	if env.Write && env.Mode.Strict() && !env.Ignore {
		return e
	}
	env.Warning(e)
	return nil
}

// Note reports e as a note.
func (env *Env) Note(e *sqlerr.Error) {
	if env != nil && env.Warn != nil {
		env.Warn(sqlerr.Warning{Level: sqlerr.LevelNote, Err: e})
	}
}

// silent reports that warnings are dropped and none is an error, so that their
// texts need not be made.
func (env *Env) silent() bool {
	return env == nil || env.Warn == nil && !(env.Write && env.Mode.Strict() && !env.Ignore)
}

const maxErrText = 64

// errText is a value in a message: at most 64 bytes, bytes that are not UTF-8
// or not printable as \xHH.
func errText(s []byte) string {
	const hex = "0123456789ABCDEF"
	var out []byte
	for len(s) > 0 {
		if len(out) >= maxErrText {
			return string(append(out, "..."...))
		}
		r, n := utf8.DecodeRune(s)
		if r == utf8.RuneError && n == 1 || r < ' ' || r == 0x7f {
			out = append(out, '\\', 'x', hex[s[0]>>4], hex[s[0]&15])
			n = 1
		} else {
			out = append(out, s[:n]...)
		}
		s = s[n:]
	}
	return string(out)
}

// truncated is warning 1292 for a string that is no whole number of a kind.
func (env *Env) truncated(kind string, s []byte) error {
	if env.silent() {
		return nil
	}
	return env.bad(sqlerr.TruncatedWrongValue(kind, errText(s)))
}

// textOf is a value in a message.
func textOf(t schema.Type, d value.Datum) []byte {
	return AppendText(nil, t, d)
}
