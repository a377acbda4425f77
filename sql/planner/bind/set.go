package bind

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

func (b *binder) set(text string, n *ast.SetStmt) (logical.Statement, error) {
	out := &logical.Set{}
	// SET TRANSACTION without a scope means the next one. The grammar
	// distinguishes it from SET SESSION TRANSACTION only for the isolation level.
	words := strings.Fields(strings.ToLower(text))
	next := len(words) > 2 && words[0] == "set" && words[1] == "transaction"
	for _, v := range n.Variables {
		items, err := b.setItems(v)
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			if next {
				item.Scope = logical.SetNextTransaction
			}
			out.Items = append(out.Items, item)
		}
	}
	out.Reads = b.reads()
	return out, nil
}

// reads are the subqueries that the expressions of the statement have.
func (b *binder) reads() logical.Reads {
	return logical.Reads{Deps: logical.Deps{Views: b.views}, Subqueries: b.subqueries, Locks: b.locks, LocksForUpdate: b.locksForUpdate}
}

func (b *binder) setItems(v *ast.VariableAssignment) ([]logical.SetItem, error) {
	switch v.Name {
	case ast.SetNames:
		return b.setNames(v)
	case ast.SetCharset:
		return b.setCharset(v)
	}
	item := logical.SetItem{Scope: logical.SetSession, Name: strings.ToLower(v.Name)}
	switch {
	case !v.IsSystem:
		item.Scope, item.Name = logical.SetUserVar, v.Name
	case v.IsInstance:
		return nil, sqlerr.NotSupported("SET INSTANCE")
	case strings.HasPrefix(item.Name, "persist_only."):
		item.Scope, item.Name = logical.SetPersistOnly, item.Name[len("persist_only."):]
	case strings.HasPrefix(item.Name, "persist."):
		item.Scope, item.Name = logical.SetPersist, item.Name[len("persist."):]
	case v.IsGlobal:
		item.Scope = logical.SetGlobal
	}
	switch item.Name {
	case "tx_isolation_one_shot":
		item.Scope, item.Name = logical.SetNextTransaction, "transaction_isolation"
	case "tx_read_only_one_shot":
		item.Scope, item.Name = logical.SetNextTransaction, "transaction_read_only"
	case "tx_isolation":
		item.Name = "transaction_isolation"
	case "tx_read_only":
		item.Name = "transaction_read_only"
	}
	e, err := b.setValue(v.Value, item.Scope == logical.SetUserVar)
	if err != nil {
		return nil, err
	}
	item.Value = e
	return []logical.SetItem{item}, nil
}

// setValue binds the value of an assignment: nil for DEFAULT, names without
// quotes are text.
func (b *binder) setValue(n ast.ExprNode, user bool) (expr.Expr, error) {
	switch x := n.(type) {
	case *ast.DefaultExpr:
		if x.Name == nil && !user {
			return nil, nil
		}
	case *ast.ColumnNameExpr:
		if !user {
			return b.text(qualified(x.Name.Schema.O, x.Name.Table.O, x.Name.Name.O)), nil
		}
	}
	e, err := b.value(&scope{b: b, clause: clauseField}, n)
	if err != nil {
		return nil, err
	}
	if user {
		e = expr.KeepQuotient(e)
	}
	return expr.VariantText(e), nil
}

func (b *binder) text(s string) expr.Expr {
	return expr.NewConst(value.String(s), types.VarcharOf(len(s), b.collation()))
}

func session(name string, v expr.Expr) logical.SetItem {
	return logical.SetItem{Scope: logical.SetSession, Name: name, Value: v}
}

// setNames is SET NAMES in terms of its four variables.
func (b *binder) setNames(v *ast.VariableAssignment) ([]logical.SetItem, error) {
	var cs, coll expr.Expr
	if l, ok := v.Value.(*parser.Literal); ok {
		name := ""
		if v.ExtendValue != nil {
			name = v.ExtendValue.GetString()
		}
		id, err := define.CharsetCollation(l.GetString(), name)
		if err != nil {
			return nil, err
		}
		c := collate.Must(id)
		cs, coll = b.text(c.Charset), b.text(c.Name)
	}
	return []logical.SetItem{session("character_set_client", cs), session("character_set_results", cs),
		session("character_set_connection", cs), session("collation_connection", coll)}, nil
}

// setCharset is SET CHARACTER SET: the connection gets the database's.
func (b *binder) setCharset(v *ast.VariableAssignment) ([]logical.SetItem, error) {
	var cs expr.Expr
	if l, ok := v.Value.(*parser.Literal); ok {
		id, err := define.CharsetCollation(l.GetString(), "")
		if err != nil {
			return nil, err
		}
		cs = b.text(collate.Must(id).Charset)
	}
	db := expr.NewSysVar("session", "collation_database", types.VarcharOf(64, schema.CollationUTF8GeneralCI))
	return []logical.SetItem{session("character_set_client", cs), session("character_set_results", cs), session("collation_connection", db)}, nil
}
