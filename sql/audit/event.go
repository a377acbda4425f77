package audit

import (
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"
)

// Class is a set of kinds of events that are written or not.
type Class uint8

// The classes.
const (
	Connect Class = 1 << iota // connections and refused logins
	Denied                    // statements that were refused for privileges
	Account
	Schema
	Setting
	Admin

	// Always is the class of events about the log and the server themselves.
	Always Class = 0
	All          = Connect | Denied | Account | Schema | Setting | Admin
)

// Names are the names of the classes, in order.
var Names = [...]string{"CONNECT", "DENIED", "ACCOUNT", "SCHEMA", "SETTING", "ADMIN"}

// Event is one line. Fields that are empty are left out.
type Event struct {
	Class Class
	Name  string
	// Connection, and who it is: the user as the client named it, and the account.
	Connection           uint64
	User, Account        string
	Client, TLS, Program string
	Database             string
	Roles                []string
	// Command is that of the protocol, Statement the kind of the statement.
	Command, Statement, Text string
	Objects                  []string
	Settings                 []Change
	// Privilege is what was missing.
	Privilege string
	// Number is that of the error, 0 without; Failed marks failures without one.
	Number          uint16
	Failed          bool
	Reason, Message string
}

// Change is a new value of a variable.
type Change struct{ Scope, Name, Old, New string }

// The most that a line takes of what clients can make long.
const (
	maxName    = 256 // bytes of a name
	maxMessage = 512 // of messages and values
	maxList    = 64  // names in a list
)

const stampLayout = "2006-01-02T15:04:05.000000Z"

// append appends the line of an event, with at most textSize bytes of its text.
func (e *Event) append(b []byte, at time.Time, textSize int) []byte {
	o := object{append(b, '{')}
	o.text("time", at.UTC().Format(stampLayout), len(stampLayout))
	o.text("event", e.Name, maxName)
	if e.Connection != 0 {
		o.number("connection", e.Connection)
	}
	o.text("user", e.User, maxName)
	o.text("account", e.Account, maxName)
	o.text("client", e.Client, maxName)
	o.text("tls", e.TLS, maxName)
	o.text("program", e.Program, maxName)
	o.text("database", e.Database, maxName)
	o.list("roles", e.Roles)
	o.text("command", e.Command, maxName)
	o.text("statement", e.Statement, maxName)
	o.text("text", e.Text, textSize)
	o.list("objects", e.Objects)
	o.changes("settings", e.Settings)
	o.text("privilege", e.Privilege, maxMessage)
	outcome := "ok"
	if e.Failed || e.Number != 0 {
		outcome = "error"
	}
	o.text("outcome", outcome, maxName)
	if e.Number != 0 {
		o.number("error", uint64(e.Number))
	}
	o.text("reason", e.Reason, maxMessage)
	o.text("message", e.Message, maxMessage)
	return append(o.b, '}', '\n')
}

// object is a JSON object that is written.
type object struct{ b []byte }

func (o *object) key(name string) {
	if o.b[len(o.b)-1] != '{' {
		o.b = append(o.b, ',')
	}
	o.b = append(append(append(o.b, '"'), name...), '"', ':')
}

func (o *object) number(name string, n uint64) {
	o.key(name)
	o.b = strconv.AppendUint(o.b, n, 10)
}

// text adds a text, if it is not empty; with name_bytes, its whole length, if it is cut.
func (o *object) text(name, s string, most int) {
	if s == "" {
		return
	}
	o.key(name)
	o.b = appendString(o.b, cut(s, most))
	if len(s) > most {
		o.number(name+"_bytes", uint64(len(s)))
	}
}

func (o *object) list(name string, list []string) {
	if len(list) == 0 {
		return
	}
	o.key(name)
	o.b = append(o.b, '[')
	for i, s := range list[:min(len(list), maxList)] {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = appendString(o.b, cut(s, maxName))
	}
	o.b = append(o.b, ']')
	if len(list) > maxList {
		o.number(name+"_count", uint64(len(list)))
	}
}

func (o *object) changes(name string, list []Change) {
	if len(list) == 0 {
		return
	}
	o.key(name)
	o.b = append(o.b, '[')
	for i, c := range list[:min(len(list), maxList)] {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		in := object{append(o.b, '{')}
		in.text("scope", c.Scope, maxName)
		in.text("name", c.Name, maxName)
		in.key("old")
		in.b = appendString(in.b, cut(c.Old, maxMessage))
		in.key("new")
		in.b = appendString(in.b, cut(c.New, maxMessage))
		o.b = append(in.b, '}')
	}
	o.b = append(o.b, ']')
	if len(list) > maxList {
		o.number(name+"_count", uint64(len(list)))
	}
}

// cut is the beginning of a text, to the end of a character.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for i := most; i > most-utf8.UTFMax && i > 0; i-- {
		if utf8.RuneStart(s[i]) {
			return s[:i]
		}
	}
	return s[:most]
}

const hex = "0123456789abcdef"

// appendString appends a JSON string of printable characters: all others, which might
// change a terminal or the order of a text, are escaped, and bytes that are no UTF-8
// are U+FFFD.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, '\\', 'n')
		case r == '\t':
			b = append(b, '\\', 't')
		case unicode.IsPrint(r):
			b = utf8.AppendRune(b, r)
		case r > 0xffff:
			r -= 0x10000
			b = appendEscape(appendEscape(b, 0xd800+r>>10), 0xdc00+r&0x3ff)
		default:
			b = appendEscape(b, r)
		}
	}
	return append(b, '"')
}

func appendEscape(b []byte, r rune) []byte {
	return append(b, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
}
