package expr

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// endsAfter is a context that ends when it has been looked at left times.
type endsAfter struct {
	context.Context
	left int
}

func (c *endsAfter) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestLongTextsEnd: a statement ends between the parts of a long text that is compared
// or weighed, by rows, by vectors and as a filter, and has an error then.
func TestLongTextsEnd(t *testing.T) {
	testflag.Normal(t)
	row := make([]value.Datum, 3)
	cols := make([]Expr, len(row))
	in := &vec.Batch{N: 1}
	for i, s := range []string{"ä", "Ä", "b"} {
		row[i] = value.String(strings.Repeat(s, 200_000))
		cols[i] = &Col{ID: ColID(i + 1), Index: i, T: textType(400_000, schema.CollationUTF8MB40900AICI)}
		in.Cols = append(in.Cols, vec.New(value.KindBytes))
		in.Cols[i].Init(value.KindBytes, 1)
		in.Cols[i].SetDatum(0, row[i])
	}
	a, b, x := cols[0], cols[1], cols[2]
	call := func(name string, args ...Expr) Expr { return must(NewFunc(nil, name, args...)) }
	constant := &Const{D: row[1], T: b.Type()}
	for _, e := range []Expr{
		call("=", a, b), call("<=>", a, b), call("<", a, b), call("=", a, constant), call("strcmp", a, b), call("greatest", a, b), call("field", a, x, b),
		call("in", a, x, b), call("in", a, constant, constant, constant, constant), call("nullif", a, b), call("upper", a), call("weight_string", a), call("find_in_set", a, b),
		call("or", call("=", a, b), call("=", x, b)), call("if", call("=", a, b), x, a),
	} {
		for way, eval := range map[string]func(c *Ctx) error{
			"row":    func(c *Ctx) error { _, err := EvalRow(c, e, row); return err },
			"vector": func(c *Ctx) error { _, err := Eval(c, e, in); return err },
			"filter": func(c *Ctx) error {
				return EvalFilter(c, e, in)
			},
		} {
			looks := 0
			for {
				c := testCtx(nil)
				c.Context = &endsAfter{context.Background(), looks}
				in.HasSel = false
				err := eval(c)
				if err == nil {
					break
				}
				if killed := new(sqlerr.Error); !errors.As(err, &killed) || killed.Number != 1317 {
					t.Fatalf("%s %s: %v", e, way, err)
				}
				looks++
			}
			if looks < 2 {
				t.Errorf("%.60s by %s looks at the statement %d times while it reads", e, way, looks)
			}
		}
	}
}
