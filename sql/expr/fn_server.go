package expr

import (
	"io"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// icuVersion is what ICU_VERSION() says: the ICU of MySQL 8.4, whose syntax of
// regular expressions is ours.
const icuVersion = "73.1"

// serverDefs are functions about the server and for performance_schema
// (MySQL manual 14.15, 14.20 and 14.8).
func serverDefs() []entry {
	return []entry{
		fn("load_file", "s", retBinary(longText), rowLoadFile, nullable|volatile|ofSession),
		fn("icu_version", "", retUTF8(len(icuVersion)), func(*Ctx, *Func, []value.Datum) (value.Datum, error) { return value.String(icuVersion), nil }, notNull),
		fn("roles_graphml", "", retUTF8(longText), rowRolesGraph, notNull|ofSession),
		fn("format_bytes", "f", retUTF8(11), rowFormatBytes, 0),
		fn("format_pico_time", "f", retUTF8(11), rowFormatPicoTime, 0),
		fn("ps_current_thread_id", "", retUint, rowCurrentThread, notNull|ofSession),
		fn("ps_thread_id", "i", retUint, rowThreadOf, nullable|ofSession),
		fn("statement_digest", "s", retUTF8(64), rowDigest(func(d, _ string) string { return d }), ofSession),
		fn("statement_digest_text", "s", retUTF8(longText), rowDigest(func(_, t string) string { return t }), ofSession),
	}
}

// ServerInfo is what functions about the server need of a session; a Session may
// implement it.
type ServerInfo interface {
	// Connected reports whether there is a connection of this id.
	Connected(id uint64) bool
	// MayReadFiles reports the privilege to read files of the server.
	MayReadFiles() bool
	// CurrentRole are the active roles as CURRENT_ROLE() shows them, NONE without any.
	CurrentRole() string
	// RolesGraph is the graph of roles as ROLES_GRAPHML() shows it to the account.
	RolesGraph() string
	// OpenServerFile opens a file of the server that statements may read.
	OpenServerFile(path string) (*os.File, fs.FileInfo, error)
	// StatementDigest normalises a statement, with literals as ?, and gives
	// the SHA-256 of that in hexadecimal. Errors: those of the parser.
	StatementDigest(sql string) (digest, text string, err error)
}

// ability finds T in a session, or in what it wraps.
func ability[T any](c *Ctx) (T, bool) {
	session := c.Session
	for session != nil {
		if x, ok := session.(T); ok {
			return x, true
		}
		w, ok := session.(interface{ Unwrap() Session })
		if !ok {
			break
		}
		session = w.Unwrap()
	}
	var none T
	return none, false
}

// rowLoadFile reads a file within secure_file_priv; NULL for others, for what
// cannot be read and beyond max_allowed_packet.
func rowLoadFile(c *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	info, ok := ability[ServerInfo](c)
	if !ok || !info.MayReadFiles() {
		return value.Null, nil
	}
	f, st, err := info.OpenServerFile(a[0].Str())
	if err != nil {
		return value.Null, nil
	}
	defer f.Close()
	if st.Mode().Perm()&0o004 == 0 {
		return value.Null, nil
	}
	if ok, err := c.room("load_file", st.Size()); !ok || err != nil {
		return value.Null, err
	}
	text := make([]byte, st.Size())
	if _, err := io.ReadFull(f, text); err != nil {
		return value.Null, nil
	}
	return value.Bytes(text), nil
}

// rowRolesGraph is the accounts and the roles that they were granted, which accounts
// without ROLE_ADMIN do not see.
func rowRolesGraph(c *Ctx, f *Func, _ []value.Datum) (value.Datum, error) {
	info, ok := ability[ServerInfo](c)
	if !ok {
		return value.Null, sqlerr.Internal("%s() without a session", f.Name)
	}
	return value.String(info.RolesGraph()), nil
}

// scaled writes a quantity in the greatest unit of which it is at least one;
// without a unit it is whole.
func scaled(v float64, base string, units []string, sizes []float64) string {
	for i := len(units) - 1; i >= 0; i-- {
		if math.Abs(v) >= sizes[i] {
			q := v / sizes[i]
			if math.Abs(q) >= 100000 {
				return strconv.FormatFloat(q, 'e', 2, 64) + " " + units[i]
			}
			return strconv.FormatFloat(q, 'f', 2, 64) + " " + units[i]
		}
	}
	width := 4
	if base == "ps" {
		width = 3
	}
	text := strconv.FormatFloat(math.RoundToEven(v), 'f', 0, 64)
	return strings.Repeat(" ", max(width-len(text), 0)) + text + " " + base
}

func rowFormatBytes(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	return value.String(FormatBytes(a[0].Float())), nil
}

// FormatBytes is FORMAT_BYTES().
func FormatBytes(n float64) string {
	return scaled(n, "bytes", []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}, []float64{1 << 10, 1 << 20, 1 << 30, 1 << 40, 1 << 50, 1 << 60})
}

// FormatPicoTime is FORMAT_PICO_TIME().
func FormatPicoTime(ps float64) string {
	return scaled(ps, "ps", []string{"ns", "us", "ms", "s", "min", "h", "d"}, []float64{1e3, 1e6, 1e9, 1e12, 60e12, 3600e12, 86400e12})
}

func rowFormatPicoTime(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	return value.String(FormatPicoTime(a[0].Float())), nil
}

// Threads have the numbers of their connections.
func rowCurrentThread(c *Ctx, f *Func, _ []value.Datum) (value.Datum, error) {
	if c.Session == nil {
		return value.Null, sqlerr.Internal("%s() without a session", f.Name)
	}
	return value.Uint(c.Session.ConnectionID()), nil
}

func rowThreadOf(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	info, ok := ability[ServerInfo](c)
	if !ok || !info.Connected(a[0].Bits()) {
		return value.Null, nil
	}
	return value.Uint(a[0].Bits()), nil
}

func rowDigest(pick func(digest, text string) string) rowFunc {
	return func(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
		info, ok := ability[ServerInfo](c)
		if !ok {
			return value.Null, sqlerr.Internal("%s() without a session", f.Name)
		}
		digest, text, err := info.StatementDigest(a[0].Str())
		if err != nil {
			return value.Null, err
		}
		return value.String(pick(digest, text)), nil
	}
}

// rowCurrentRole is CURRENT_ROLE().
func rowCurrentRole(c *Ctx, _ *Func, _ []value.Datum) (value.Datum, error) {
	if info, ok := ability[ServerInfo](c); ok {
		return value.String(info.CurrentRole()), nil
	}
	return value.String("NONE"), nil
}
