package expr

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

func miscDefs() []entry {
	set := fn("set_last_insert_id", "i", retUint, rowLastInsertID, volatile|loose|ofSession)
	set.d.custom = unboundUnit
	return []entry{
		set,
		fn("uuid", "", retUTF8(36), rowUUID, volatile|notNull),
		fn("uuid_short", "", retUint, rowUUIDShort, volatile|notNull),
		fn("uuid_to_bin", "s?i", retBinary(16), rowUUIDToBin, 0),
		fn("bin_to_uuid", "s?i", retUTF8(36), rowBinToUUID, loose),
		fn("is_uuid", "s", retBool, rowIsUUID, 0),
		fn("inet_aton", "s", retUint, rowInetAton, nullable),
		fn("inet_ntoa", "i", retASCII(15), rowInetNtoa, nullable),
		fn("inet6_aton", "s", retBinary(16), rowInet6Aton, nullable),
		fn("inet6_ntoa", "s", retASCII(39), rowInet6Ntoa, nullable),
		isIP("is_ipv4", func(a netip.Addr) bool { return a.Is4() }),
		isIP("is_ipv6", func(a netip.Addr) bool { return a.Is6() }),
		fn("is_ipv4_compat", "s", retBool, rowV4In6(false), 0),
		fn("is_ipv4_mapped", "s", retBool, rowV4In6(true), 0),
		fn("any_value", "x", retFirst, rowSame, loose),
		fn("grouping", "x+", retInt(21), rowGrouping, notNull|loose),
		fn("random_bytes", "i", retBinary(1024), rowRandomBytes, volatile),
		special("name_const", bindNameConst, def{b: Builtin{Row: rowFirst}}),
	}
}

func retFirst(b *binding) (schema.Type, error) { return b.args[0].Type(), nil }

func freshSeed() uint32 {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint32(b[:])
}

func rowUUID(*Ctx, *Func, []value.Datum) (value.Datum, error) {
	u, err := uuid.NewUUID()
	if err != nil {
		u = uuid.New()
	}
	return value.String(u.String()), nil
}

// rowUUIDShort is unique in this process and, by its random upper part, very
// likely beyond.
func rowUUIDShort(*Ctx, *Func, []value.Datum) (value.Datum, error) {
	u, err := uuid.NewUUID()
	if err != nil {
		return value.Null, sqlerr.Internal("uuid: %v", err)
	}
	t := uint64(u.Time()) // 100 ns since 1582, unique in the process
	return value.Uint(t &^ (1 << 63)), nil
}

func parseUUID(s []byte) (uuid.UUID, bool) {
	switch len(s) {
	case 32, 36:
	case 38:
		if s[0] != '{' || s[37] != '}' {
			return uuid.UUID{}, false
		}
	default:
		return uuid.UUID{}, false
	}
	u, err := uuid.ParseBytes(s)
	return u, err == nil
}

func rowUUIDToBin(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	u, ok := parseUUID(a[0].Bytes())
	if !ok {
		return value.Null, sqlerr.WrongStringForFunction(a[0].Str(), "uuid_to_bin")
	}
	b := u[:]
	if len(a) > 1 && a[1].Bits() != 0 {
		b = append(append(append(append([]byte{}, b[6:8]...), b[4:6]...), b[0:4]...), b[8:]...)
	}
	return value.Bytes(bytes.Clone(b)), nil
}

func rowBinToUUID(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	if a[0].IsNull() {
		return value.Null, nil
	}
	b := a[0].Bytes()
	if len(b) != 16 {
		return value.Null, sqlerr.WrongStringForFunction(a[0].Str(), "bin_to_uuid")
	}
	if len(a) > 1 && !a[1].IsNull() && a[1].Bits() != 0 {
		b = append(append(append(append([]byte{}, b[4:8]...), b[2:4]...), b[0:2]...), b[8:]...)
	}
	return value.String(uuid.UUID(b).String()), nil
}

func rowIsUUID(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	_, ok := parseUUID(a[0].Bytes())
	return value.Bool(ok), nil
}

// rowInetAton takes short forms: '127.1' is 127.0.0.1.
func rowInetAton(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	parts := strings.Split(a[0].Str(), ".")
	if len(parts) > 4 {
		return wrongAddress(c, f)
	}
	v := uint64(0)
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 8)
		if err != nil || len(p) > 3 {
			return wrongAddress(c, f)
		}
		if i == len(parts)-1 && i > 0 {
			v <<= 8 * uint(4-len(parts))
		}
		v = v<<8 | n
	}
	return value.Uint(v), nil
}

func rowInetNtoa(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	n := a[0].Bits()
	if n > 1<<32-1 {
		return value.Null, nil
	}
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], uint32(n))
	return value.String(netip.AddrFrom4(b).String()), nil
}

func rowInet6Aton(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	addr, ok := address(a[0].Str())
	if !ok {
		return wrongAddress(c, f)
	}
	return value.Bytes(addr), nil
}

// address is a text's address of 4 or 16 bytes.
func address(text string) ([]byte, bool) {
	addr, err := netip.ParseAddr(text)
	return addr.AsSlice(), err == nil && addr.Zone() == ""
}

func rowInet6Ntoa(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	addr, ok := netip.AddrFromSlice(a[0].Bytes())
	if !ok || !f.Args[0].Type().IsBinary() {
		return wrongAddress(c, f)
	}
	if b := addr.AsSlice(); len(b) == 16 && isV4Compat(b) {
		return value.String("::" + netip.AddrFrom4([4]byte(b[12:])).String()), nil
	}
	return value.String(addr.String()), nil
}

// wrongAddress warns that an argument is no address: 1411, with the text of the
// argument.
func wrongAddress(c *Ctx, f *Func) (value.Datum, error) {
	text := f.Args[0].String()
	if k, ok := f.Args[0].(*Const); ok && k.D.Kind() == value.KindBytes {
		if text = k.Text; text == "" {
			text = "'" + k.D.Str() + "'"
		}
	}
	c.Warning(sqlerr.WrongStringForFunction(text, f.Name))
	return value.Null, nil
}

func isIP(name string, is func(netip.Addr) bool) entry {
	return fn(name, "s", retBool, func(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
		if a[0].IsNull() {
			return value.Int(0), nil
		}
		addr, err := netip.ParseAddr(a[0].Str())
		return value.Bool(err == nil && addr.Zone() == "" && is(addr)), nil
	}, loose|notNull)
}

func isV4Compat(b []byte) bool {
	zero := make([]byte, 12)
	return bytes.Equal(b[:12], zero) && binary.BigEndian.Uint32(b[12:]) > 0xffff
}

func rowV4In6(mapped bool) rowFunc {
	return func(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
		b := a[0].Bytes()
		if len(b) != 16 {
			return value.Int(0), nil
		}
		if mapped {
			prefix, _ := hex.DecodeString("00000000000000000000ffff")
			return value.Bool(bytes.Equal(b[:12], prefix)), nil
		}
		zero := make([]byte, 12)
		return value.Bool(bytes.Equal(b[:12], zero) && binary.BigEndian.Uint32(b[12:]) > 1), nil
	}
}

func rowRandomBytes(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	n := asInt(a[0])
	if n < 1 || n > 1024 {
		return value.Null, sqlerr.ValueOutOfRange("length", "random_bytes")
	}
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return value.Bytes(b), nil
}

// bindNameConst is NAME_CONST(name, value): the value, under a name.
func bindNameConst(d *def, _ *BindEnv, name string, args []Expr) (Expr, error) {
	if len(args) != 2 {
		return nil, wrongCount(name)
	}
	n, ok1 := args[0].(*Const)
	v, ok2 := args[1].(*Const)
	if !ok1 || !ok2 || n.D.IsNull() {
		return nil, sqlerr.WrongArguments("NAME_CONST")
	}
	return &Const{D: v.D, T: v.T, Text: n.D.Str()}, nil
}
