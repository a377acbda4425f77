package mysqlwire

import (
	"fmt"
	"math"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// paramType is the type of a parameter as sent: type (1), flags (1).
type paramType struct {
	code     byte
	unsigned bool
}

// isNull reports whether parameter i is NULL by its bit or by its type.
func (t paramType) isNull(nulls []byte, i int) bool {
	return t.code == mysqlNull || nulls[i>>3]&(1<<(i&7)) != 0
}

// readParamTypes reads a type, and with named a name, for each of types.
func readParamTypes(p *payload, types []paramType, named bool) {
	for i := range types {
		t := p.uint16()
		types[i] = paramType{code: byte(t), unsigned: t&0x8000 != 0}
		if named {
			p.lenEncBytes()
		}
		if p.bad {
			return
		}
	}
}

// readParams decodes the parameters of an execution. named: query attributes were
// negotiated. counted: the packet gives the number of parameters with them; what goes
// beyond the statement's own is skipped. The result is valid until the next call and
// shares the packet's bytes.
func (s *statement) readParams(p *payload, coll schema.CollationID, named, counted bool) ([]Param, error) {
	count := s.params
	if named && counted {
		n := p.lenEnc()
		if p.bad || n > uint64(len(p.b)+s.params) {
			return nil, sqlerr.MalformedPacket()
		}
		count = int(n)
	}
	if count < s.params {
		return nil, sqlerr.WrongArguments("mysqld_stmt_execute")
	}
	if count == 0 {
		return nil, nil
	}
	nulls := p.take(uint64(count+7) / 8)
	newTypes := p.uint8()
	if p.bad {
		return nil, sqlerr.MalformedPacket()
	}
	if newTypes == 1 {
		types := s.types
		if len(types) != count {
			types = make([]paramType, count)
		}
		s.types = nil
		readParamTypes(p, types, named)
		if p.bad {
			return nil, sqlerr.MalformedPacket()
		}
		s.types = types
	}
	if len(s.types) != count {
		return nil, sqlerr.WrongArguments("mysqld_stmt_execute")
	}
	if len(s.args) != s.params {
		s.args = make([]Param, s.params)
	}
	for i, t := range s.types {
		if i >= s.params {
			if !t.isNull(nulls, i) {
				skipParam(p, t)
			}
			continue
		}
		var err error
		if long, ok := s.long[uint16(i)]; ok {
			s.args[i] = longParam(long, t, coll)
		} else if t.isNull(nulls, i) {
			s.args[i] = Param{Type: schema.Type{ID: schema.TypeNull, Len: schema.UnspecifiedLength, Collation: schema.CollationBinary}}
		} else if s.args[i], err = readParam(p, t, coll); err != nil {
			return nil, err
		}
	}
	if p.bad {
		return nil, sqlerr.MalformedPacket()
	}
	return s.args, nil
}

func stringType(coll schema.CollationID) schema.Type {
	return schema.Type{ID: schema.TypeVarchar, Len: schema.UnspecifiedLength, Collation: coll}
}

func blobType() schema.Type {
	return schema.Type{ID: schema.TypeBlob, Len: schema.UnspecifiedLength, Collation: schema.CollationBinary}
}

func longParam(b []byte, t paramType, coll schema.CollationID) Param {
	if isTextCode(t.code) {
		return Param{D: value.Bytes(b), Type: stringType(coll)}
	}
	return Param{D: value.Bytes(b), Type: blobType()}
}

func isTextCode(code byte) bool {
	switch code {
	case mysqlVarchar, mysqlVarString, mysqlString, mysqlEnum, mysqlSet, mysqlJSON:
		return true
	}
	return false
}

// skipParam reads past a value. An unknown type is malformed.
func skipParam(p *payload, t paramType) { _, _ = readParam(p, t, schema.CollationBinary) }

// readParam decodes one value that is not NULL. It sets p.bad when it runs out of
// bytes.
func readParam(p *payload, t paramType, coll schema.CollationID) (Param, error) {
	switch t.code {
	case mysqlTiny, mysqlBool:
		v := p.uint8()
		return integerParam(t, uint64(v), int64(int8(v))), nil
	case mysqlShort, mysqlYear:
		v := p.uint16()
		return integerParam(t, uint64(v), int64(int16(v))), nil
	case mysqlLong, mysqlInt24:
		v := p.uint32()
		return integerParam(t, uint64(v), int64(int32(v))), nil
	case mysqlLongLong:
		v := p.uint64()
		return integerParam(t, v, int64(v)), nil
	case mysqlFloat:
		return doubleParam(float64(math.Float32frombits(p.uint32())), "FLOAT")
	case mysqlDouble:
		return doubleParam(math.Float64frombits(p.uint64()), "DOUBLE")
	case mysqlDecimal, mysqlNewDecimal:
		return decimalParam(p, coll)
	case mysqlDate, mysqlNewDate, mysqlDatetime, mysqlTimestamp:
		return timeParam(p, t.code)
	case mysqlTime:
		return durationParam(p)
	case mysqlTinyBlob, mysqlMediumBlob, mysqlLongBlob, mysqlBlob, mysqlBit, mysqlGeometry:
		return Param{D: value.Bytes(p.lenEncBytes()), Type: blobType()}, nil
	}
	if isTextCode(t.code) {
		return Param{D: value.Bytes(p.lenEncBytes()), Type: stringType(coll)}, nil
	}
	p.bad = true
	return Param{}, sqlerr.MalformedPacket()
}

func integerParam(t paramType, u uint64, i int64) Param {
	typ := schema.Type{ID: schema.TypeBigInt, Len: schema.UnspecifiedLength, Unsigned: t.unsigned, Collation: schema.CollationBinary}
	if t.unsigned {
		return Param{D: value.Uint(u), Type: typ}
	}
	return Param{D: value.Int(i), Type: typ}
}

// doubleParam refuses NaN and infinity, which SQL has not.
func doubleParam(f float64, kind string) (Param, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return Param{}, sqlerr.ValueOutOfRange(kind, "?")
	}
	typ := schema.Type{ID: schema.TypeDouble, Len: schema.UnspecifiedLength, Scale: schema.UnspecifiedLength, Collation: schema.CollationBinary}
	return Param{D: value.Float(f), Type: typ}, nil
}

// decimalParam reads the text of a decimal; what is none stays a string and
// is converted where it is used.
func decimalParam(p *payload, coll schema.CollationID) (Param, error) {
	text := p.lenEncBytes()
	if p.bad {
		return Param{}, sqlerr.MalformedPacket()
	}
	d, err := value.ParseDecimal(string(text))
	if err != nil {
		return Param{D: value.Bytes(text), Type: stringType(coll)}, nil
	}
	typ := schema.Type{ID: schema.TypeDecimal, Len: max(d.Digits(), d.Scale(), 1), Scale: d.Scale(), Collation: schema.CollationBinary}
	return Param{D: value.Dec(d), Type: typ}, nil
}

// timeParam reads the form that appendBinaryTime writes. A form with a time
// zone (13 bytes) is refused.
func timeParam(p *payload, code byte) (Param, error) {
	n := p.uint8()
	b := payload{b: p.take(uint64(n))}
	var year, month, day, hour, minute, second, micro int
	switch n {
	case 0, 4, 7, 11:
	case 13:
		return Param{}, sqlerr.NotSupported("date parameters with a time zone")
	default:
		p.bad = true
	}
	if n >= 4 {
		year, month, day = int(b.uint16()), int(b.uint8()), int(b.uint8())
	}
	if n >= 7 {
		hour, minute, second = int(b.uint8()), int(b.uint8()), int(b.uint8())
	}
	if n >= 11 {
		micro = int(b.uint32())
	}
	if p.bad {
		return Param{}, sqlerr.MalformedPacket()
	}
	if year > 9999 || month > 12 || day > 31 || hour > 23 || minute > 59 || second > 59 || micro > 999999 {
		text := fmt.Sprintf("%04d-%02d-%02d %02d:%02d:%02d.%06d", year, month, day, hour, minute, second, micro)
		return Param{}, sqlerr.IncorrectTemporal("DATETIME", text)
	}
	typ := schema.Type{ID: schema.TypeDatetime, Len: schema.UnspecifiedLength, Collation: schema.CollationBinary}
	if code == mysqlDate || code == mysqlNewDate {
		typ.ID = schema.TypeDate
		return Param{D: value.TimeOf(value.MakeTime(year, month, day, 0, 0, 0, 0)), Type: typ}, nil
	}
	if micro != 0 {
		typ.Scale = 6
	}
	return Param{D: value.TimeOf(value.MakeTime(year, month, day, hour, minute, second, micro)), Type: typ}, nil
}

// durationParam reads the form that appendBinaryDuration writes.
func durationParam(p *payload) (Param, error) {
	n := p.uint8()
	b := payload{b: p.take(uint64(n))}
	var neg, days, hour, minute, second, micro int64
	switch n {
	case 0, 8, 12:
	default:
		p.bad = true
	}
	if n >= 8 {
		neg, days = int64(b.uint8()), int64(b.uint32())
		hour, minute, second = int64(b.uint8()), int64(b.uint8()), int64(b.uint8())
	}
	if n >= 12 {
		micro = int64(b.uint32())
	}
	if p.bad {
		return Param{}, sqlerr.MalformedPacket()
	}
	d := value.Duration((((days*24+hour)*60+minute)*60+second)*1000000 + micro)
	if days > 35 || minute > 59 || second > 59 || micro > 999999 || d > value.MaxDuration {
		text := fmt.Sprintf("%d %02d:%02d:%02d.%06d", days, hour, minute, second, micro)
		return Param{}, sqlerr.IncorrectTemporal("TIME", text)
	}
	if neg != 0 {
		d = -d
	}
	typ := schema.Type{ID: schema.TypeTime, Len: schema.UnspecifiedLength, Collation: schema.CollationBinary}
	if micro != 0 {
		typ.Scale = 6
	}
	return Param{D: value.DurationOf(d), Type: typ}, nil
}
