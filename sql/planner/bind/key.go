package bind

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// Limits of keys, MySQL's.
const (
	maxKeys         = 64
	maxKeyParts     = 16
	maxKeyBytes     = 3072
	maxIndexComment = 1024
)

// keyDef is a key definition in terms of names.
type keyDef struct {
	primary bool
	index   schema.Index // Name, Unique, Sparse, Invisible, Comment
	cols    []logical.IndexColumn
	include []string
	where   string // the condition of a partial index
	// search is set for a search index; it has no fields yet, cols name them.
	search *schema.SearchIndex
}

// constraint binds a key of CREATE or ALTER TABLE.
func (b *binder) constraint(n *ast.Constraint) (*keyDef, error) {
	k := &keyDef{}
	switch n.Tp {
	case ast.ConstraintPrimaryKey:
		k.primary = true
	case ast.ConstraintKey, ast.ConstraintIndex:
	case ast.ConstraintUniq, ast.ConstraintUniqKey, ast.ConstraintUniqIndex:
		k.index.Unique = true
	case ast.ConstraintFulltext:
		k.search = &schema.SearchIndex{Form: schema.FormFulltext}
	case ast.ConstraintVector, ast.ConstraintColumnar:
		return nil, sqlerr.NotSupported("VECTOR index")
	default:
		return nil, sqlerr.NotSupported("constraint")
	}
	if !k.primary {
		k.index.Name = n.Name
	}
	if err := b.parts(k, n.Name, n.Keys, n.Option); err != nil {
		return nil, err
	}
	if k.primary && hasExpr(k.cols) {
		return nil, sqlerr.FunctionalIndexPrimaryKey()
	}
	return k, b.keyOptions(k, n.Option)
}

// parts binds the parts of a key, which are fields in a search index.
func (b *binder) parts(k *keyDef, name string, list []*ast.IndexPartSpecification, o *ast.IndexOption) (err error) {
	if o != nil && o.Tp == ast.IndexTypeInverted {
		switch {
		case k.primary:
			return sqlerr.WrongUsage("PRIMARY KEY", "USING INVERTED")
		case k.index.Unique:
			return sqlerr.WrongUsage("UNIQUE", "USING INVERTED")
		case k.search == nil:
			k.search = &schema.SearchIndex{}
		}
	}
	if k.search == nil {
		k.cols, err = b.keyColumns(name, list)
		return err
	}
	if len(list) > 0 && isSpatial(list[0]) {
		k.search.Form = schema.FormSpatial
	}
	if k.search.Form == schema.FormSpatial {
		k.cols, err = spatialColumns(list)
		return err
	}
	if k.cols, err = b.searchColumns(name, list); err != nil || k.search.Form != schema.FormFulltext {
		return err
	}
	options := ""
	if o != nil && o.ParserName.O != "" {
		if o.ParserName.L != "ngram" {
			return sqlerr.New(1128, "HY000", "Function '%s' is not defined", o.ParserName.O)
		}
		options = "analyzer=ngram"
	}
	for i := range k.cols {
		if k.cols[i].Expr != "" {
			return sqlerr.New(3759, "HY000", "Fulltext functional index is not supported.")
		}
		if k.cols[i].Search.Kind == schema.SearchValue {
			if k.cols[i].Search, err = textField(options); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *binder) keyColumns(index string, list []*ast.IndexPartSpecification) ([]logical.IndexColumn, error) {
	if len(list) > maxKeyParts {
		return nil, sqlerr.TooManyKeyParts(maxKeyParts)
	}
	out := make([]logical.IndexColumn, 0, len(list))
	for _, p := range list {
		if p.Expr != nil || p.Column == nil {
			text, err := b.keyExpr(index, p.Expr)
			if err != nil {
				return nil, err
			}
			out = append(out, logical.IndexColumn{Expr: text, Desc: p.Desc})
			continue
		}
		c := logical.IndexColumn{Name: p.Column.Name.O, Desc: p.Desc}
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
func (b *binder) keyOptions(k *keyDef, o *ast.IndexOption) error {
	if o == nil {
		return nil
	}
	switch {
	case o.Tp != ast.IndexTypeInvalid && o.Tp != ast.IndexTypeBtree && o.Tp != ast.IndexTypeHash && o.Tp != ast.IndexTypeInverted:
		return sqlerr.NotSupported("USING " + o.Tp.String() + " index")
	case o.Condition != nil && k.search != nil:
		return sqlerr.WrongUsage("SEARCH INDEX", "WHERE")
	case o.ParserName.O != "" && (k.search == nil || k.search.Form != schema.FormFulltext):
		return sqlerr.NotSupported("WITH PARSER")
	case o.Condition != nil && k.primary:
		return sqlerr.WrongUsage("PRIMARY KEY", "WHERE")
	case o.Global:
		return sqlerr.NotSupported("GLOBAL index")
	case o.SplitOpt != nil || o.AddColumnarReplicaOnDemand != 0:
		return sqlerr.NotSupported("index option")
	case o.PrimaryKeyTp == ast.PrimaryKeyTypeNonClustered:
		return sqlerr.NotSupported("NONCLUSTERED primary key")
	}
	k.index.Comment = o.Comment
	if utf8.RuneCountInString(o.Comment) > maxIndexComment {
		return sqlerr.CommentTooLong(1688, "index", k.index.Name, maxIndexComment)
	}
	k.index.Invisible = o.Visibility == ast.IndexVisibilityInvisible
	if k.primary && k.index.Invisible {
		return sqlerr.New(3522, "HY000", "A primary key index cannot be invisible")
	}
	if o.Condition != nil {
		var err error
		if k.where, err = b.storedText(rule{kind: ruleIndex, owner: k.index.Name}, o.Condition); err != nil {
			return err
		}
	}
	if k.search != nil && o.SecondaryEngineAttr != "" {
		return sqlerr.InvalidJSONAttribute(o.SecondaryEngineAttr)
	}
	return k.attribute(o.SecondaryEngineAttr)
}

// attribute reads SECONDARY_ENGINE_ATTRIBUTE of an index:
// {"include": [column, …], "sparse": true}.
func (k *keyDef) attribute(text string) error {
	if text == "" {
		return nil
	}
	var a struct {
		Include []string `json:"include"`
		Sparse  bool     `json:"sparse"`
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&a); err != nil || dec.More() {
		return sqlerr.InvalidJSONAttribute(text)
	}
	if a.Sparse {
		return sqlerr.NotSupported("SPARSE index")
	}
	if k.primary && len(a.Include) > 0 {
		return sqlerr.WrongUsage("PRIMARY KEY", "INCLUDE")
	}
	k.include = a.Include
	return nil
}

// ResolveKey makes key parts of names over the columns of t, with MySQL's
// checks: 1072, 1170, 1089, 3152, 1071. Whole columns have no prefix.
func ResolveKey(t *schema.Table, cols []logical.IndexColumn) ([]schema.KeyPart, error) {
	parts := make([]schema.KeyPart, 0, len(cols))
	total, hasArray := 0, false
	for _, kc := range cols {
		i := t.ColumnByName(kc.Name)
		if i < 0 || t.Columns[i].Hidden && kc.Expr == "" {
			return nil, sqlerr.KeyColumnMissing(kc.Name)
		}
		c := &t.Columns[i]
		p := schema.KeyPart{Column: c.ID, Desc: kc.Desc, Prefix: kc.Prefix}
		if c.Array != nil {
			if hasArray {
				return nil, sqlerr.NotSupported("more than one multi-valued key part per index")
			}
			if kc.Desc {
				return nil, sqlerr.WrongUsage("multi-valued index", "explicit index order")
			}
			hasArray = true
		}
		if err := checkPart(c, &p); err != nil {
			return nil, err
		}
		total += partBytes(c.KeyType(), p.Prefix)
		if total > maxKeyBytes {
			return nil, sqlerr.KeyTooLong(maxKeyBytes)
		}
		parts = append(parts, p)
	}
	return parts, nil
}

func checkPart(c *schema.Column, p *schema.KeyPart) error {
	t := c.KeyType()
	switch {
	case t.ID == schema.TypeJSON:
		return sqlerr.JSONKey(c.Name)
	case t.ID == schema.TypeGeometry:
		return sqlerr.WrongKeyColumn(c.Name)
	case t.IsBlobOrText() && p.Prefix == 0:
		return sqlerr.BlobKeyNeedsLength(c.Name)
	case p.Prefix == 0:
		if t.IsString() && t.Len == 0 {
			return sqlerr.WrongKeyColumn(c.Name)
		}
		return nil
	case !t.IsString():
		return sqlerr.WrongPrefixKey()
	case !t.IsBlobOrText() && p.Prefix > t.Len:
		return sqlerr.WrongPrefixKey()
	case !t.IsBlobOrText() && p.Prefix == t.Len:
		p.Prefix = 0
	}
	return nil
}

// partBytes is the length of a key part as MySQL counts it.
func partBytes(t schema.Type, prefix int) int {
	switch {
	case t.IsString():
		n := t.Len
		if prefix > 0 {
			n = prefix
		}
		return n * maxBytes(t.Collation)
	case t.ID == schema.TypeDecimal:
		return (t.Len + 8) / 9 * 4
	}
	switch t.ID {
	case schema.TypeTinyInt, schema.TypeYear:
		return 1
	case schema.TypeSmallInt, schema.TypeEnum:
		return 2
	case schema.TypeMediumInt, schema.TypeDate, schema.TypeTime:
		return 3
	case schema.TypeInt, schema.TypeFloat, schema.TypeTimestamp:
		return 4
	}
	return 8
}

// ResolveInclude makes column ids of INCLUDE names; columns that the entry has
// anyway are left out.
func ResolveInclude(t *schema.Table, x *schema.Index, names []string) ([]schema.ColumnID, error) {
	var out []schema.ColumnID
	seen := map[schema.ColumnID]bool{}
	for _, name := range names {
		i := t.ColumnByName(name)
		if i < 0 || t.Columns[i].Hidden {
			return nil, sqlerr.KeyColumnMissing(name)
		}
		id := t.Columns[i].ID
		if seen[id] {
			return nil, sqlerr.DuplicateColumn(name)
		}
		seen[id] = true
		have := t.IsWholeKeyPart(id)
		for _, p := range x.Parts {
			have = have || p.Column == id && p.Prefix == 0
		}
		if !have {
			out = append(out, id)
		}
	}
	return out, nil
}

// IndexName is the name that MySQL gives a key without one: that of its first
// column, with _2, _3, … if it is taken.
func IndexName(t *schema.Table, first string) string {
	name := first
	for i := 2; t.HasIndexNamed(name) || strings.EqualFold(name, "PRIMARY"); i++ {
		name = first + "_" + itoa(i)
	}
	return name
}

func checkIndexName(name string) error {
	if strings.EqualFold(name, "PRIMARY") || strings.HasSuffix(name, " ") {
		return sqlerr.WrongNameForIndex(name)
	}
	return checkName(name)
}
