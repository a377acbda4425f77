package bind

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// constraint binds a key of CREATE or ALTER TABLE.
func (b *binder) constraint(n *ast.Constraint) (*define.Key, error) {
	k := &define.Key{}
	switch n.Tp {
	case ast.ConstraintPrimaryKey:
		k.Primary = true
	case ast.ConstraintKey, ast.ConstraintIndex:
	case ast.ConstraintUniq, ast.ConstraintUniqKey, ast.ConstraintUniqIndex:
		k.Index.Unique = true
	case ast.ConstraintFulltext:
		k.Search = &schema.SearchIndex{Form: schema.FormFulltext}
	case ast.ConstraintColumnar:
		k.Search = &schema.SearchIndex{Form: schema.FormColumnar}
	case ast.ConstraintVector:
		return nil, sqlerr.NotSupported("VECTOR index")
	default:
		return nil, sqlerr.NotSupported("constraint")
	}
	if !k.Primary {
		k.Index.Name = n.Name
	}
	if err := b.parts(k, n.Name, n.Keys, n.Option); err != nil {
		return nil, err
	}
	if k.Primary && define.HasExpr(k.Columns) {
		return nil, sqlerr.FunctionalIndexPrimaryKey()
	}
	return k, b.keyOptions(k, n.Option)
}

// parts binds the parts of a key, which are fields in a search index.
func (b *binder) parts(k *define.Key, name string, list []*ast.IndexPartSpecification, o *ast.IndexOption) (err error) {
	if k.Search != nil && k.Search.Form == schema.FormColumnar {
		k.Columns, k.Search.All, err = columnarColumns(list, o)
		return err
	}
	if o != nil && o.Tp == ast.IndexTypeInverted {
		switch {
		case k.Primary:
			return sqlerr.WrongUsage("PRIMARY KEY", "USING INVERTED")
		case k.Index.Unique:
			return sqlerr.WrongUsage("UNIQUE", "USING INVERTED")
		case k.Search == nil:
			k.Search = &schema.SearchIndex{}
		}
	}
	if k.Search == nil {
		k.Columns, err = b.keyColumns(name, list)
		return err
	}
	if len(list) > 0 && isSpatial(list[0]) {
		k.Search.Form = schema.FormSpatial
	}
	if k.Search.Form == schema.FormSpatial {
		k.Columns, err = spatialColumns(list)
		return err
	}
	if k.Columns, err = b.searchColumns(name, list); err != nil || k.Search.Form != schema.FormFulltext {
		return err
	}
	options := ""
	if o != nil && o.ParserName.O != "" {
		if o.ParserName.L != "ngram" {
			return sqlerr.FunctionNotDefined(o.ParserName.O)
		}
		options = "analyzer=ngram"
	}
	for i := range k.Columns {
		if k.Columns[i].Expr != "" {
			return sqlerr.FulltextFunctionalIndex()
		}
		if k.Columns[i].Search.Kind == schema.SearchValue {
			if k.Columns[i].Search, err = textField(options); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *binder) keyColumns(index string, list []*ast.IndexPartSpecification) ([]define.IndexColumn, error) {
	if len(list) > define.MaxKeyParts {
		return nil, sqlerr.TooManyKeyParts(define.MaxKeyParts)
	}
	out := make([]define.IndexColumn, 0, len(list))
	for _, p := range list {
		if p.Expr != nil || p.Column == nil {
			text, err := b.keyExpr(index, p.Expr)
			if err != nil {
				return nil, err
			}
			out = append(out, define.IndexColumn{Expr: text, Desc: p.Desc})
			continue
		}
		c := define.IndexColumn{Name: p.Column.Name.O, Desc: p.Desc}
		if p.Length != -1 {
			if p.Length == 0 {
				return nil, sqlerr.PrefixZero(c.Name)
			}
			c.Prefix = p.Length
		}
		for _, have := range out {
			if have.Expr == "" && strings.EqualFold(have.Name, c.Name) {
				return nil, sqlerr.DuplicateColumn(c.Name)
			}
		}
		out = append(out, c)
	}
	return out, nil
}

// keyOptions binds the options of a key.
func (b *binder) keyOptions(k *define.Key, o *ast.IndexOption) error {
	if o == nil {
		return nil
	}
	switch {
	case o.Tp != ast.IndexTypeInvalid && o.Tp != ast.IndexTypeBtree && o.Tp != ast.IndexTypeHash && o.Tp != ast.IndexTypeInverted:
		return sqlerr.NotSupported("USING " + o.Tp.String() + " index")
	case o.Condition != nil && k.Search != nil && k.Search.Form == schema.FormColumnar:
		return sqlerr.WrongUsage("COLUMNAR INDEX", "WHERE")
	case o.Condition != nil && k.Search != nil:
		return sqlerr.WrongUsage("SEARCH INDEX", "WHERE")
	case o.ParserName.O != "" && (k.Search == nil || k.Search.Form != schema.FormFulltext):
		return sqlerr.NotSupported("WITH PARSER")
	case o.Condition != nil && k.Primary:
		return sqlerr.WrongUsage("PRIMARY KEY", "WHERE")
	case o.Global:
		return sqlerr.NotSupported("GLOBAL index")
	case o.SplitOpt != nil || o.AddColumnarReplicaOnDemand != 0:
		return sqlerr.NotSupported("index option")
	case o.PrimaryKeyTp == ast.PrimaryKeyTypeNonClustered:
		return sqlerr.NotSupported("NONCLUSTERED primary key")
	}
	if err := k.SetComment(o.Comment); err != nil {
		return err
	}
	k.Index.Invisible = o.Visibility == ast.IndexVisibilityInvisible
	if k.Primary && k.Index.Invisible {
		return sqlerr.InvisiblePrimaryKey()
	}
	if o.Condition != nil {
		var err error
		if k.Where, err = b.storedText(define.Owner{Kind: define.OfIndex, Name: k.Index.Name}, o.Condition); err != nil {
			return err
		}
	}
	return k.SetAttribute(o.SecondaryEngineAttr)
}
