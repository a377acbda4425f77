package define

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

// Limits of keys, MySQL's.
const (
	MaxKeys         = 64
	MaxKeyParts     = 16
	maxKeyBytes     = 3072
	maxIndexComment = 1024
)

// IndexColumn is a key part as written.
type IndexColumn struct {
	Name   string
	Desc   bool
	Prefix int
	// Expr is the text of a key part that is an expression; Name is the hidden
	// column that has its values, "" before it is made.
	Expr string
	// Search is set in a search index: what the field is, except for its ID and
	// Column.
	Search *schema.SearchField
}

// Key is a key definition in terms of names.
type Key struct {
	Primary bool
	Index   schema.Index // Name, Unique, Sparse, Invisible, Comment
	Columns []IndexColumn
	Include []string
	Where   string // the condition of a partial index
	// Search is set for a search index; it has no fields yet, Columns name them.
	Search *schema.SearchIndex
}

// SetComment sets the comment of the key: 1688.
func (k *Key) SetComment(text string) error {
	k.Index.Comment = text
	if utf8.RuneCountInString(text) > maxIndexComment {
		return sqlerr.IndexCommentTooLong(k.Index.Name, maxIndexComment)
	}
	return nil
}

// SetAttribute reads SECONDARY_ENGINE_ATTRIBUTE of an index:
// {"include": [column, …]}. Errors: 3981, 1221, 1235.
func (k *Key) SetAttribute(text string) error {
	if text == "" {
		return nil
	}
	if k.Search != nil {
		return sqlerr.InvalidJSONAttribute(text)
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
	if k.Primary && len(a.Include) > 0 {
		return sqlerr.WrongUsage("PRIMARY KEY", "INCLUDE")
	}
	k.Include = a.Include
	return nil
}

// CheckIndexName checks the name of an index: 1280, 1059.
func CheckIndexName(name string) error {
	if strings.EqualFold(name, "PRIMARY") || strings.HasSuffix(name, " ") {
		return sqlerr.WrongNameForIndex(name)
	}
	return CheckName(name)
}

// SetKeys gives a new table its keys; a table without a primary key gets a
// hidden one. null reports the columns, by position, that are written as NULL.
// Names that were given come first: a generated one must not take them. cut is for
// CutKey, nil in strict mode.
func SetKeys(b Binder, t *schema.Table, keys []*Key, null func(i int) bool, cut func(*sqlerr.Error)) error {
	if err := setPrimaryKey(t, keys, null); err != nil {
		return err
	}
	t.NextIndexID = schema.PrimaryIndexID + 1
	if err := checkKeyNames(keys); err != nil {
		return err
	}
	taken := func(name string) bool {
		for _, k := range keys {
			if strings.EqualFold(k.Index.Name, name) {
				return true
			}
		}
		return strings.EqualFold(name, "PRIMARY")
	}
	for _, k := range keys {
		if k.Primary {
			continue
		}
		if k.Index.Name == "" && k.Search != nil && k.Search.All {
			k.Index.Name = freeName(ColumnarName, taken)
		}
		if k.Index.Name == "" && k.Columns[0].Expr != "" {
			k.Index.Name = freeName(FunctionalIndex, taken)
		}
		add := addIndex
		if k.Search != nil {
			add = addSearchIndex
		}
		if cut != nil && k.Search == nil && !k.Index.Unique {
			k.Columns = CutKey(t, k.Columns, cut)
		}
		if err := add(b, t, k, taken); err != nil {
			return err
		}
	}
	return nil
}

// CutKey shortens the parts of a key that are longer than a key may be, each with
// warning 1071. MySQL does so without strict mode, unless the key is unique.
func CutKey(t *schema.Table, cols []IndexColumn, warn func(*sqlerr.Error)) []IndexColumn {
	cols = slices.Clone(cols)
	for i := range cols {
		c := &cols[i]
		at := t.ColumnByName(c.Name)
		if at < 0 || c.Expr != "" {
			continue
		}
		kind := t.Columns[at].KeyType()
		if !kind.IsString() || kind.IsBlobOrText() && c.Prefix == 0 || partBytes(kind, c.Prefix) <= maxKeyBytes {
			continue
		}
		c.Prefix = maxKeyBytes / maxBytes(kind.Collation)
		warn(sqlerr.KeyTooLong(maxKeyBytes))
	}
	return cols
}

// setPrimaryKey sets t.PrimaryKey: of the definition, or the hidden column.
func setPrimaryKey(t *schema.Table, keys []*Key, null func(i int) bool) error {
	var pk *Key
	for _, k := range keys {
		if !k.Primary {
			continue
		}
		if pk != nil {
			return sqlerr.MultiplePrimaryKeys()
		}
		pk = k
	}
	if pk == nil {
		t.Columns = append(t.Columns, schema.Column{ID: t.NextColumnID, Name: schema.HiddenKeyColumn, Type: types.BigInt, Hidden: true})
		t.PrimaryKey = []schema.KeyPart{{Column: t.NextColumnID}}
		t.NextColumnID++
		return nil
	}
	parts, err := ResolveKey(t, pk.Columns)
	if err != nil {
		return err
	}
	for _, p := range parts {
		i := t.ColumnIndex(p.Column)
		if null(i) {
			return sqlerr.PrimaryCantHaveNull()
		}
		if d := t.Columns[i].Default; d != nil && d.Null {
			return sqlerr.InvalidDefault(t.Columns[i].Name)
		}
		t.Columns[i].Nullable = false
	}
	t.PrimaryKey = parts
	return nil
}

// checkKeyNames checks the names that were given to keys: 1280, 1059, 1061.
func checkKeyNames(keys []*Key) error {
	for _, k := range keys {
		if k.Primary || k.Index.Name == "" {
			continue
		}
		if err := CheckIndexName(k.Index.Name); err != nil {
			return err
		}
		for _, o := range keys {
			if o != k && strings.EqualFold(o.Index.Name, k.Index.Name) {
				return sqlerr.DuplicateKeyName(k.Index.Name)
			}
		}
	}
	return nil
}

// addIndex adds an index to a new table.
func addIndex(b Binder, t *schema.Table, k *Key, taken func(string) bool) error {
	cols, err := KeyExpressions(b, t, k.Index.Name, k.Columns)
	if err != nil {
		return err
	}
	parts, err := ResolveKey(t, cols)
	if err != nil {
		return err
	}
	x := k.Index
	x.ID, x.Parts = t.NextIndexID, parts
	t.NextIndexID++
	if x.Name == "" {
		x.Name = freeName(t.Column(parts[0].Column).Name, taken)
		k.Index.Name = x.Name
	}
	if x.Include, err = ResolveInclude(t, &x, k.Include); err != nil {
		return err
	}
	if err := ResolveWhere(b, t, &x, k.Where); err != nil {
		return err
	}
	t.Indexes = append(t.Indexes, x)
	return nil
}

// addSearchIndex adds a search index to a new table.
func addSearchIndex(b Binder, t *schema.Table, k *Key, taken func(string) bool) error {
	if k.Index.Name == "" {
		k.Index.Name = freeName(k.Columns[0].Name, taken)
	}
	x := k.Search
	x.Name, x.ID, x.Invisible, x.Comment = k.Index.Name, t.NextIndexID, k.Index.Invisible, k.Index.Comment
	t.NextIndexID++
	if err := ResolveSearch(b, t, x, k.Columns); err != nil {
		return err
	}
	t.Search = append(t.Search, *x)
	return nil
}

// freeName is name, with _2, _3, … if it is taken.
func freeName(name string, taken func(string) bool) string {
	out := name
	for i := 2; taken(out); i++ {
		out = name + "_" + strconv.Itoa(i)
	}
	return out
}

// ResolveKey makes key parts of names over the columns of t, with MySQL's
// checks: 1072, 1170, 1089, 3152, 1071. Whole columns have no prefix.
func ResolveKey(t *schema.Table, cols []IndexColumn) ([]schema.KeyPart, error) {
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
	return freeName(first, func(name string) bool { return t.HasIndexNamed(name) || strings.EqualFold(name, "PRIMARY") })
}

// maxBytes is the longest character of a collation.
func maxBytes(c schema.CollationID) int { return collate.Must(c).MaxLen() }
