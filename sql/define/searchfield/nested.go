package searchfield

import (
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// Limits of fields of nested objects.
const (
	MaxNestedLevels  = 5
	MaxNestedMembers = 100
	// maxNestedKinds is the most fields of nested objects in an index, those in
	// others included.
	maxNestedKinds = 255
)

// IsTextOf reports whether f has the words of the strings in of.
func IsTextOf(f, of *schema.SearchField) bool {
	return f.Kind == schema.SearchText && of.Kind == schema.SearchPath && of.As == "" && of.Elem.IsString() && f.Name == of.Name
}

// checkNested checks a field of nested objects of x: 1070, 1060, 1235.
func checkNested(x *schema.SearchIndex, c *schema.Column, f *schema.SearchField) error {
	switch {
	case x.Form != schema.FormSearch || c.Type.ID != schema.TypeJSON && !c.Type.IsCharacter():
		return sqlerr.NotSupported("NESTED over anything but a JSON document or a text")
	case len(f.Sub) == 0:
		return sqlerr.NotSupported("NESTED without members")
	}
	fields, kinds := 0, 0
	for i := range x.Fields {
		if x.Fields[i].ID != f.ID || f.ID == 0 {
			fields, kinds = fields+x.Fields[i].Fields(), kinds+nestedKinds(&x.Fields[i])
		}
	}
	if fields+f.Fields() > MaxFields {
		return sqlerr.TooManySearchFields(MaxFields)
	}
	if kinds+nestedKinds(f) > maxNestedKinds {
		return sqlerr.TooManyNestedFields(maxNestedKinds)
	}
	return nil
}

func nestedKinds(f *schema.SearchField) int {
	if f.Kind != schema.SearchNested {
		return 0
	}
	n := 1
	for i := range f.Sub {
		n += nestedKinds(&f.Sub[i])
	}
	return n
}

// NestedPath is the path of a field of nested objects in its column.
func NestedPath(f *schema.SearchField) *value.JSONPath {
	text := f.Path
	if text == "" {
		text = "$"
	}
	p, err := value.CompileJSONPath(text)
	if err != nil { // it was checked when the field was made
		return nil
	}
	return p
}

// MemberOf is the member that a name begins with: the words of a text where it has
// nothing else.
func MemberOf(subs []schema.SearchField, name string) (found *schema.SearchField) {
	first, _, more := strings.Cut(name, ".")
	for i := range subs {
		f := &subs[i]
		switch {
		case !strings.EqualFold(f.Name, first) || more && f.Kind != schema.SearchNested:
		case f.Kind != schema.SearchText:
			return f
		case found == nil:
			found = f
		}
	}
	return found
}

// MergeMembers are the members of a, and those of b that a lacks.
func MergeMembers(a, b []schema.SearchField) []schema.SearchField {
	out := append([]schema.SearchField(nil), a...)
	for _, f := range b {
		if o := MemberOf(out, f.Name); o == nil || IsTextOf(o, &f) {
			out = append(out, f)
		} else if o.Kind == schema.SearchNested && f.Kind == schema.SearchNested {
			o.Sub = MergeMembers(o.Sub, f.Sub)
		}
	}
	return out
}
