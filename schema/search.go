package schema

import (
	"slices"
	"strconv"
	"strings"
)

// SearchIndex is an index over many columns of a table, any combination of
// which a query may use. It has files of its own, which follow the table's
// change log.
type SearchIndex struct {
	// ID is unique among all indexes of the table.
	ID   IndexID `json:"id"`
	Name string  `json:"name"`
	// Form is how the index was declared.
	Form   SearchForm    `json:"form,omitempty"`
	Fields []SearchField `json:"fields"`
	// All: the fields of a columnar index are all columns of the table.
	All bool `json:"all,omitempty"`
	// NextField is the field id that is free.
	NextField uint16 `json:"next_field"`
	Invisible bool   `json:"invisible,omitempty"`
	Comment   string `json:"comment,omitempty"`
	// Files, unless nil, are those that the index had before an ALTER TABLE which
	// left its documents unchanged, except for fields that it dropped.
	Files *SearchFiles `json:"files,omitempty"`
	// Next is what the index becomes when the files of that are built: until then
	// this one serves.
	Next *SearchIndex `json:"next,omitempty"`
}

// SearchFiles name the files of an index of one table.
type SearchFiles struct {
	Name  string  `json:"name"`
	Table TableID `json:"table"`
}

// KeptFiles is the name in Files, if they are of the table; else "".
func (x *SearchIndex) KeptFiles(t *Table) string {
	if x.Files == nil || x.Files.Table != t.ID {
		return ""
	}
	return x.Files.Name
}

// Generations are the index as it serves and, if there is one, its next form.
func (x *SearchIndex) Generations() []*SearchIndex {
	if x.Next == nil {
		return []*SearchIndex{x}
	}
	return []*SearchIndex{x, x.Next}
}

// Clone is a copy.
func (x *SearchIndex) Clone() SearchIndex {
	c := *x
	c.Fields = append([]SearchField(nil), x.Fields...)
	if x.Next != nil {
		next := x.Next.Clone()
		c.Next = &next
	}
	return c
}

// SearchForm is the syntax of a search index.
type SearchForm uint8

// Forms of search indexes.
const (
	FormSearch SearchForm = iota
	FormFulltext
	FormSpatial
	// FormColumnar: the values of columns, without words and without what finds few
	// of them fast.
	FormColumnar
)

// Clause is the form as it begins a declaration.
func (f SearchForm) Clause() string {
	switch f {
	case FormFulltext:
		return "FULLTEXT KEY"
	case FormSpatial:
		return "SPATIAL KEY"
	case FormColumnar:
		return "COLUMNAR INDEX"
	}
	return "SEARCH INDEX"
}

// IsOwn reports a form that MySQL does not know.
func (f SearchForm) IsOwn() bool { return f == FormSearch || f == FormColumnar }

// SearchKind says what a field of a search index holds of its column.
type SearchKind uint8

// Kinds of fields.
const (
	// SearchValue: the values, as the column's type compares them.
	SearchValue SearchKind = iota
	// SearchText: the words that an analyzer finds in a text.
	SearchText
	// SearchGeo: the place of a point.
	SearchGeo
	// SearchPath: the scalars of a JSON column, as values of Elem.
	SearchPath
	// SearchNested: the objects of an array in a JSON column, or in a text, at Path,
	// as documents of their own that have Sub.
	SearchNested
	// SearchBytes: the values of a text, a JSON document or a geometry, which can be
	// read and are not searched.
	SearchBytes
)

// String is the kind in the form of its declaration; values have no word.
func (k SearchKind) String() string {
	switch k {
	case SearchText:
		return "TEXT"
	case SearchGeo:
		return "GEO_POINT"
	case SearchNested:
		return "NESTED"
	}
	return ""
}

// SearchField is a field of a search index.
type SearchField struct {
	// ID is unique for ever within the index.
	ID     uint16     `json:"id"`
	Column ColumnID   `json:"column"`
	Kind   SearchKind `json:"kind,omitempty"`
	// Plain: the field has no list or order by which few values are found without
	// reading all of them.
	Plain bool `json:"plain,omitempty"`
	// Late: the index had documents before the field, in whose place Missing is read,
	// nil for NULL.
	Late    bool     `json:"late,omitempty"`
	Missing *Default `json:"missing,omitempty"`
	// Analyzer is that of a text, with its options in the order of their names.
	Analyzer string         `json:"analyzer,omitempty"`
	Options  []SearchOption `json:"options,omitempty"`
	// As is the form in which values are read, "" for the values themselves. Where
	// Source is set, Column is a hidden column, NULL where the value of Source has
	// another form; Source is hidden too where it is a part of a JSON column.
	As      SearchAs `json:"as,omitempty"`
	Source  ColumnID `json:"source,omitempty"`
	Formats []string `json:"formats,omitempty"`
	// Elem is the type of the values of a SearchPath, or of a text in Sub. Many: the
	// column has arrays of them, or single ones.
	Elem Type `json:"elem,omitzero"`
	Many bool `json:"many,omitempty"`
	// Attribute: the column is an attribute of rows with dynamic columns; a text
	// is the only thing that KEYWORD takes.
	Attribute bool `json:"attribute,omitempty"`
	// Value is the hidden column whose values a SearchPath has, 0 for none. Marked:
	// documents say where these are not exactly those of the JSON.
	Value  ColumnID `json:"value,omitempty"`
	Marked bool     `json:"marked,omitempty"`
	// Path is that of a SearchNested in the column, "" for the column itself.
	Path string `json:"path,omitempty"`
	// Name is the member of the objects that a field in Sub holds; Sub are SearchPath,
	// SearchText and SearchNested. A text may have the name of a string.
	Name string        `json:"name,omitempty"`
	Sub  []SearchField `json:"sub,omitempty"`
}

// ValueColumn is the column whose values the field has; 0 for words, places and
// arrays.
func (f *SearchField) ValueColumn() ColumnID {
	switch f.Kind {
	case SearchValue:
		return f.Column
	case SearchPath:
		return f.Value
	}
	return 0
}

// SearchAs is the form of values that a field reads.
type SearchAs string

// Forms of values.
const (
	AsIP       SearchAs = "IP"        // texts that are addresses
	AsDate     SearchAs = "DATE"      // texts and numbers that are times, in one of the Formats
	AsGeoPoint SearchAs = "GEO_POINT" // texts 'latitude,longitude'
)

// SearchOption is a named option of an analyzer.
type SearchOption struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Number gives a field and those in it numbers from *next on.
func (f *SearchField) Number(next *uint16) {
	f.ID = *next
	*next++
	f.Sub = slices.Clone(f.Sub)
	for i := range f.Sub {
		f.Sub[i].Number(next)
	}
}

// Fields counts a field and those in it.
func (f *SearchField) Fields() int {
	n := 1
	for i := range f.Sub {
		n += f.Sub[i].Fields()
	}
	return n
}

// Field is the field of a kind that holds a column; nil if it does not exist. The
// values of a column may be those of a SearchPath.
func (x *SearchIndex) Field(column ColumnID, kind SearchKind) *SearchField {
	for i := range x.Fields {
		if f := &x.Fields[i]; f.Column == column && f.Kind == kind || kind == SearchValue && f.Value == column && column != 0 {
			return f
		}
	}
	return nil
}

// Values is the field that holds the values of a column; nil if it does not exist.
func (x *SearchIndex) Values(column ColumnID) *SearchField {
	if f := x.Field(column, SearchValue); f != nil {
		return f
	}
	if f := x.Field(column, SearchGeo); f != nil {
		return f
	}
	return x.Field(column, SearchBytes)
}

// IsSearchForm reports a hidden column that only search indexes read: of values in
// a form, or of a part of a JSON column.
func (t *Table) IsSearchForm(id ColumnID) bool {
	if c := t.Column(id); c == nil || !c.Hidden {
		return false
	}
	for i := range t.Search {
		for _, x := range t.Search[i].Generations() {
			if slices.ContainsFunc(x.Fields, func(f SearchField) bool {
				return f.Column == id && (f.Source != 0 || f.Kind == SearchPath) || f.Source == id || f.Value == id
			}) {
				return true
			}
		}
	}
	return false
}

// TextName is the type of a SearchText in the form of its declaration: TEXT ANALYZER
// 'x' OPTIONS (o = 'v').
func (f *SearchField) TextName() string {
	text := f.Kind.String()
	if f.Analyzer != "" {
		text += " ANALYZER " + QuoteText(f.Analyzer)
	}
	if len(f.Options) == 0 {
		return text
	}
	list := make([]string, len(f.Options))
	for i, o := range f.Options {
		list[i] = QuoteName(o.Name) + " = " + QuoteText(o.Value)
	}
	return text + " OPTIONS (" + strings.Join(list, ", ") + ")"
}

// AsName is the form that a field reads, in the syntax of its declaration: DATE FORMAT
// ('f', 'g').
func (f *SearchField) AsName() string {
	text := string(f.As)
	if len(f.Formats) == 0 {
		return text
	}
	list := make([]string, len(f.Formats))
	for i := range list {
		list[i] = QuoteText(f.Formats[i])
	}
	if text += " FORMAT "; len(list) == 1 {
		return text + list[0]
	}
	return text + "(" + strings.Join(list, ", ") + ")"
}

// ElemName is the type of a SearchPath, a SearchNested or a field in its Sub, in the
// syntax of its declaration.
func (f *SearchField) ElemName() string {
	t := &f.Elem
	switch {
	case f.Kind == SearchNested:
		list := make([]string, len(f.Sub))
		for i := range f.Sub {
			list[i] = QuoteName(f.Sub[i].Name) + " " + f.Sub[i].ElemName()
		}
		return "NESTED (" + strings.Join(list, ", ") + ")"
	case f.Kind == SearchText:
		return f.TextName()
	case f.As != "":
		return f.AsName()
	case f.Many && t.IsCharacter():
		return "CHAR(" + strconv.Itoa(t.Len) + ")"
	case f.Many && t.ID == TypeBigInt && t.Unsigned:
		return "UNSIGNED"
	case f.Many && t.ID == TypeBigInt:
		return "SIGNED"
	case t.IsString():
		return "KEYWORD"
	case t.ID == TypeTinyInt:
		return "BOOL"
	}
	return strings.ToUpper(t.String())
}

// SearchByName finds a search index, ignoring case; nil if it does not exist.
func (t *Table) SearchByName(name string) *SearchIndex {
	for i := range t.Search {
		if strings.EqualFold(t.Search[i].Name, name) {
			return &t.Search[i]
		}
	}
	return nil
}

// HasIndexNamed reports whether a secondary or a search index has the name,
// ignoring case.
func (t *Table) HasIndexNamed(name string) bool {
	return t.IndexByName(name) != nil || t.SearchByName(name) != nil
}
