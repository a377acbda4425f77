package infoschema

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
)

// defaultEngine is printed for tables that were made without ENGINE, so that
// a dump loads into other MySQL servers.
const defaultEngine = "InnoDB"

// engineName is the ENGINE of a table.
func engineName(t *schema.Table) string {
	if t.Engine == "" {
		return defaultEngine
	}
	return t.Engine
}

// CreateTable is the statement that makes a table like t, as SHOW CREATE TABLE
// prints it. Running it gives the same definition.
func CreateTable(t *schema.Table) string { return createTable(t, t.AutoIncrement) }

// createTable is CreateTable with the table's next AUTO_INCREMENT value.
func createTable(t *schema.Table, next uint64) string {
	var b strings.Builder
	b.WriteString("CREATE TABLE " + quoteName(t.Name) + " (\n")
	first := true
	line := func(s string) {
		if !first {
			b.WriteString(",\n")
		}
		first = false
		b.WriteString("  " + s)
	}
	auto := false
	for i := range t.Columns {
		if c := &t.Columns[i]; !isInternal(c) {
			auto = auto || c.AutoIncrement
			line(columnDefinition(t, c))
		}
	}
	if hasPrimaryKey(t) {
		line("PRIMARY KEY (" + keyParts(t, t.DeclaredKey()) + ")")
	}
	for _, x := range publicIndexes(t) {
		line(indexDefinition(t, x))
	}
	for i := range t.Search {
		x := &t.Search[i]
		if text := searchDefinition(t, x); !x.Form.IsOwn() {
			line(text)
		} else {
			b.WriteString(ownCode(", " + strings.ReplaceAll(text, "*/", `*\/`)))
		}
	}
	for _, k := range foreignKeys(t) {
		line(t.ForeignKeyClause(k))
	}
	for i := range t.Checks {
		line(checkDefinition(&t.Checks[i]))
	}
	b.WriteString("\n) ENGINE=" + engineName(t))
	if auto && next > 1 {
		b.WriteString(" AUTO_INCREMENT=" + strconv.FormatUint(next, 10))
	}
	if c, ok := collate.Lookup(t.Collation); ok {
		b.WriteString(" DEFAULT CHARSET=" + c.Charset)
		if !c.IsDefault() || c.ID == schema.CollationUTF8MB40900AICI {
			b.WriteString(" COLLATE=" + c.Name)
		}
	}
	if t.Comment != "" {
		b.WriteString(" COMMENT=" + quote(t.Comment))
	}
	if t.Attributes != "" {
		b.WriteString(ownCode("SECONDARY_ENGINE_ATTRIBUTE=" + quoteComment(t.Attributes)))
	}
	if ttl := t.TTL; ttl != nil {
		b.WriteString(" /*" + schema.OwnCode + "TTL=" + quoteName(t.Column(ttl.Column).Name) + " + INTERVAL " + ttl.Value + " " + ttl.Unit)
		if ttl.Off {
			b.WriteString(" TTL_ENABLE='OFF'")
		}
		if ttl.JobInterval != 0 {
			b.WriteString(" TTL_JOB_INTERVAL='" + minutes(ttl.JobInterval) + "'")
		}
		b.WriteString(" */")
	}
	b.WriteString(partitionClause(t))
	return b.String()
}

// foreignKeys are those of a table by name, the order in which MySQL lists them.
func foreignKeys(t *schema.Table) []*schema.ForeignKey {
	list := make([]*schema.ForeignKey, len(t.ForeignKeys))
	for i := range list {
		list[i] = &t.ForeignKeys[i]
	}
	slices.SortFunc(list, func(a, b *schema.ForeignKey) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// ownCode is text for this server alone.
func ownCode(text string) string { return " /*" + schema.OwnCode + text + " */" }

// minutes is a time in seconds as TTL_JOB_INTERVAL has it.
func minutes(seconds int64) string {
	if seconds%3600 == 0 {
		return strconv.FormatInt(seconds/3600, 10) + "h"
	}
	return strconv.FormatInt(max(seconds/60, 1), 10) + "m"
}

func columnDefinition(t *schema.Table, c *schema.Column) string {
	var b strings.Builder
	b.WriteString(quoteName(c.Name) + " " + columnType(c.Type))
	if coll, ok := collate.Lookup(c.Type.Collation); ok && hasCharset(c.Type) {
		if c.Type.Collation != t.Collation {
			b.WriteString(" CHARACTER SET " + coll.Charset)
		}
		utf8mb4 := schema.CollationUTF8MB40900AICI
		if !coll.IsDefault() || coll.ID == utf8mb4 && t.Collation != utf8mb4 {
			b.WriteString(" COLLATE " + coll.Name)
		}
	}
	if g := c.Generated; g != nil {
		b.WriteString(" GENERATED ALWAYS AS (" + g.Expr + ")")
		if g.Stored {
			b.WriteString(" STORED")
		} else {
			b.WriteString(" VIRTUAL")
		}
	}
	switch {
	case !c.Nullable:
		b.WriteString(" NOT NULL")
	case c.Type.ID == schema.TypeTimestamp:
		b.WriteString(" NULL")
	}
	if c.Type.HasSRID {
		b.WriteString(" /*!80003 SRID " + strconv.FormatUint(uint64(c.Type.SRID), 10) + " */")
	}
	b.WriteString(defaultClause(c))
	if c.OnUpdateNow {
		b.WriteString(" ON UPDATE " + nowText(c.Type))
	}
	if c.AutoIncrement {
		b.WriteString(" AUTO_INCREMENT")
	}
	if c.Invisible {
		b.WriteString(" /*!80023 INVISIBLE */")
	}
	if c.Comment != "" {
		b.WriteString(" COMMENT " + quote(c.Comment))
	}
	return b.String()
}

func defaultClause(c *schema.Column) string {
	d := c.Default
	switch {
	case c.AutoIncrement || c.Generated != nil:
		return ""
	case d == nil || d.Null:
		if c.Nullable && !c.Type.IsBlobOrText() {
			return " DEFAULT NULL"
		}
		return ""
	case d.Expr == "":
		if c.Type.ID == schema.TypeBit {
			return " DEFAULT " + bitLiteral(d.Literal)
		}
		return " DEFAULT " + quote(d.Literal)
	case isNowDefault(d.Expr):
		return " DEFAULT " + nowText(c.Type)
	case !isGenerated(d):
		return " DEFAULT " + d.Expr
	}
	return " DEFAULT " + d.Expr
}

func keyParts(t *schema.Table, parts []schema.KeyPart) string {
	var b strings.Builder
	for i, p := range parts {
		if i > 0 {
			b.WriteByte(',')
		}
		if c := t.Column(p.Column); c != nil {
			if e, ok := keyExpression(c); ok {
				b.WriteString("(" + e + ")")
			} else {
				b.WriteString(quoteName(c.Name))
			}
		}
		if p.Prefix > 0 {
			b.WriteString("(" + strconv.Itoa(p.Prefix) + ")")
		}
		if p.Desc {
			b.WriteString(" DESC")
		}
	}
	return b.String()
}

func indexDefinition(t *schema.Table, x *schema.Index) string {
	var b strings.Builder
	if x.Unique {
		b.WriteString("UNIQUE ")
	}
	b.WriteString("KEY " + quoteName(x.Name) + " (" + keyParts(t, x.Parts) + ")")
	if x.Comment != "" {
		b.WriteString(" COMMENT " + quote(x.Comment))
	}
	if x.Invisible {
		b.WriteString(" /*!80000 INVISIBLE */")
	}
	if w := t.Column(x.Where); w != nil && w.Generated != nil {
		b.WriteString(ownCode("WHERE " + strings.ReplaceAll(w.Generated.Expr, "*/", `*\/`)))
	}
	if attr := indexAttributes(t, x); attr != "" {
		b.WriteString(ownCode("SECONDARY_ENGINE_ATTRIBUTE=" + quoteComment(attr)))
	}
	return b.String()
}

func checkDefinition(c *schema.Check) string {
	text := "CONSTRAINT " + quoteName(c.Name) + " CHECK (" + c.Expr + ")"
	if c.NotEnforced {
		text += " /*!80016 NOT ENFORCED */"
	}
	return text
}

// quoteComment quotes JSON inside a comment, which it must not end.
func quoteComment(text string) string { return quote(strings.ReplaceAll(text, "*/", `*\/`)) }

// indexAttributes is the canonical form of what an index has beyond MySQL.
func indexAttributes(t *schema.Table, x *schema.Index) string {
	if len(x.Include) == 0 && !x.Sparse {
		return ""
	}
	a := struct {
		Include []string `json:"include,omitempty"`
		Sparse  bool     `json:"sparse,omitempty"`
	}{Sparse: x.Sparse}
	for _, id := range x.Include {
		if c := t.Column(id); c != nil {
			a.Include = append(a.Include, c.Name)
		}
	}
	text, err := json.Marshal(a)
	if err != nil {
		return ""
	}
	return string(text)
}

// CreateDatabase is the statement that makes a database like d, as SHOW CREATE
// DATABASE prints it.
func CreateDatabase(d *schema.Database, ifNotExists bool) string {
	var b strings.Builder
	b.WriteString("CREATE DATABASE ")
	if ifNotExists {
		b.WriteString("/*!32312 IF NOT EXISTS*/ ")
	}
	b.WriteString(quoteName(d.Name))
	coll := d.Collation
	if coll == schema.CollationNone {
		coll = schema.CollationUTF8MB40900AICI
	}
	if c, ok := collate.Lookup(coll); ok {
		b.WriteString(" /*!40100 DEFAULT CHARACTER SET " + c.Charset)
		if !c.IsDefault() || c.ID == schema.CollationUTF8MB40900AICI {
			b.WriteString(" COLLATE " + c.Name)
		}
		b.WriteString(" */")
	}
	return b.String() + " /*!80016 DEFAULT ENCRYPTION='N' */"
}

// searchDefinition is a search index in CREATE TABLE.
func searchDefinition(t *schema.Table, x *schema.SearchIndex) string {
	var b strings.Builder
	b.WriteString(x.Form.Clause() + " " + quoteName(x.Name) + " (")
	parser, fields := "", x.Fields
	if x.All {
		b.WriteByte('*')
		fields = nil
	}
	for i := range fields {
		f := &x.Fields[i]
		c := t.Column(f.Column)
		if c == nil {
			continue
		}
		if i > 0 {
			b.WriteByte(',')
		}
		e, isExpr := keyExpression(c)
		if s := t.Column(f.Source); s != nil {
			c = s
		}
		if f.As != "" {
			b.WriteString(fieldText(c) + " " + f.AsName())
			continue
		}
		if f.Kind == schema.SearchPath {
			b.WriteString(searchPath(c, f))
			continue
		}
		if f.Kind == schema.SearchNested {
			b.WriteString(searchNested(c, f))
			continue
		}
		switch plain := f.Analyzer == "" && len(f.Options) == 0; {
		case isExpr && f.Kind == schema.SearchValue:
			b.WriteString("(" + e + ")")
		case f.Kind == schema.SearchValue, f.Kind == schema.SearchBytes, x.Form == schema.FormSpatial, x.Form == schema.FormFulltext && plain:
			b.WriteString(quoteName(c.Name))
		case x.Form == schema.FormFulltext && f.Analyzer == ngramParser && len(f.Options) == 0:
			b.WriteString(quoteName(c.Name))
			parser = " /*!50100 WITH PARSER `ngram` */"
		default:
			b.WriteString(fieldText(c) + " " + f.TextName())
		}
	}
	b.WriteString(")" + parser)
	if x.Comment != "" {
		b.WriteString(" COMMENT " + quote(x.Comment))
	}
	switch {
	case x.Invisible && x.Form.IsOwn():
		b.WriteString(" INVISIBLE") // clients read no comment within a comment
	case x.Invisible:
		b.WriteString(" /*!80000 INVISIBLE */")
	}
	return b.String()
}

// searchPath is a field over a part of a JSON column.
func searchPath(c *schema.Column, f *schema.SearchField) string {
	e := fieldText(c)
	if f.Many {
		return "(cast(" + e + " as " + strings.ToLower(f.ElemName()) + " array))"
	}
	return e + " " + f.ElemName()
}

// fieldText is what a field is over: a column, or a part of a JSON column.
func fieldText(c *schema.Column) string {
	if e, isExpr := keyExpression(c); isExpr {
		return e
	}
	return quoteName(c.Name)
}

// searchNested is a field of nested objects.
func searchNested(c *schema.Column, f *schema.SearchField) string {
	e := quoteName(c.Name)
	if f.Path != "" {
		e += "->" + quote(f.Path)
	}
	return e + " " + f.ElemName()
}

const ngramParser = "ngram"
