package bind

import (
	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// onlyAlive hides the expired rows of a scan.
func (b *binder) onlyAlive(s *logical.Scan) (logical.Node, error) {
	if !s.Table.Expires() || b.env.ShowExpired {
		return s, nil
	}
	text, i, err := define.AliveText(s.Table)
	if err != nil {
		return nil, err
	}
	n, err := parseStored(b.parser(), text)
	if err != nil {
		return nil, err
	}
	sc := b.scope(nil, nil, clauseField)
	sc.column = func(string, string, string) (expr.Expr, error) { return colExpr(&s.Cols[i]), nil }
	e, err := b.condition(sc, n)
	if err != nil {
		return nil, err
	}
	return &logical.Filter{Input: s, Conds: []expr.Expr{e}}, nil
}

// ttlChange collects the options of TTL; nil if none exists.
func ttlChange(list []*ast.TableOption) (*define.TTLChange, error) {
	var c *define.TTLChange
	for _, o := range list {
		switch o.Tp {
		case ast.TableOptionTTL, ast.TableOptionTTLEnable, ast.TableOptionTTLJobInterval:
			if c == nil {
				c = &define.TTLChange{}
			}
		}
		switch o.Tp {
		case ast.TableOptionTTL:
			text, err := restore(o.Value)
			if err != nil {
				return nil, err
			}
			c.Column, c.Value, c.Unit = o.ColumnName.Name.O, text, o.TimeUnitValue.Unit.String()
		case ast.TableOptionTTLEnable:
			c.Enable = &o.BoolValue
		case ast.TableOptionTTLJobInterval:
			seconds, ok := define.Duration(o.StrValue)
			if !ok {
				return nil, sqlerr.TTLJobInterval(o.StrValue)
			}
			c.JobInterval = seconds
		}
	}
	return c, nil
}
