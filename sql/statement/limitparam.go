package statement

import (
	"strconv"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// limitParam makes the parameter of a LIMIT an unsigned integer: clients send
// it as DOUBLE, as DECIMAL or as text too. 1210 when it is no such number.
func limitParam(p *mysqlwire.Param) error {
	var n uint64
	ok := false
	switch p.D.Kind() {
	case value.KindInt:
		n, ok = uint64(p.D.Int()), p.D.Int() >= 0
	case value.KindUint:
		n, ok = p.D.Uint(), true
	case value.KindFloat:
		f := p.D.Float()
		ok = f >= 0 && f < 1<<63
		n = uint64(max(min(f, 1<<62), 0))
		ok = ok && float64(n) == f
	case value.KindDecimal:
		d := p.D.Decimal()
		if n, ok = d.Uint64(); ok {
			ok = value.DecimalFromUint(n).Cmp(d) == 0
		}
	case value.KindBytes:
		var err error
		n, err = strconv.ParseUint(p.D.Str(), 10, 64)
		ok = err == nil
	}
	if !ok {
		return sqlerr.WrongArguments("mysqld_stmt_execute")
	}
	p.D, p.Type = value.Uint(n), types.UBigInt
	return nil
}
