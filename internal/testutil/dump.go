package testutil

import (
	"fmt"
	"hash/fnv"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Dump writes a value with all that it points to, private fields included, as text that
// is the same in every run: digests of it find changes that no test was written for.
//
// Zero fields are left out, so that a new field changes nothing where it is not set.
// Functions and locks have no text; what is pointed to twice is written once. brief may
// give the text of a value that is not to be written in full.
func Dump(v any, brief func(v reflect.Value) (text string, ok bool)) string {
	d := dumper{brief: brief, seen: map[pointer]int{}}
	d.value(reflect.ValueOf(v))
	return d.out.String()
}

// Digest is a text in 16 bits, as four digits.
func Digest(text string) string {
	h := fnv.New32a()
	h.Write([]byte(text))
	n := h.Sum32()
	return fmt.Sprintf("%04x", n>>16^n&0xffff)
}

// Digests is the digests of texts in one line, two digits for each.
func Digests(texts []string) string {
	var out strings.Builder
	for i, text := range texts {
		if i > 0 && i%10 == 0 {
			out.WriteByte(' ')
		}
		out.WriteString(Digest(text)[2:])
	}
	return out.String()
}

// Differing are the first texts whose digests differ from those of a line of Digests.
func Differing(line string, texts []string) string {
	line = strings.ReplaceAll(line, " ", "")
	var out []string
	for i, text := range texts {
		if len(line) < 2*i+2 || line[2*i:2*i+2] != Digest(text)[2:] {
			out = append(out, text)
		}
	}
	return strings.Join(out[:min(len(out), 3)], "\n")
}

type pointer struct {
	at uintptr
	t  reflect.Type
}

type dumper struct {
	out   strings.Builder
	brief func(reflect.Value) (string, bool)
	seen  map[pointer]int
}

func (d *dumper) value(v reflect.Value) {
	if !v.IsValid() {
		d.out.WriteString("nil")
		return
	}
	if text, ok := d.brief(v); ok {
		d.out.WriteString(text)
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		d.out.WriteString(strconv.FormatBool(v.Bool()))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		d.out.WriteString(strconv.FormatInt(v.Int(), 10))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		d.out.WriteString(strconv.FormatUint(v.Uint(), 10))
	case reflect.Float32, reflect.Float64:
		// The last digits depend on the processor.
		d.out.WriteString(strconv.FormatFloat(v.Float(), 'g', 9, 64))
	case reflect.String:
		d.out.WriteString(strconv.Quote(v.String()))
	case reflect.Interface:
		d.value(v.Elem())
	case reflect.Pointer:
		d.pointed(v)
	case reflect.Struct:
		d.fields(v)
	case reflect.Slice, reflect.Array:
		d.list(v)
	case reflect.Map:
		d.pairs(v)
	default:
		d.out.WriteString(v.Kind().String())
	}
}

func (d *dumper) pointed(v reflect.Value) {
	if v.IsNil() {
		d.out.WriteString("nil")
		return
	}
	at := pointer{v.Pointer(), v.Type()}
	if n, ok := d.seen[at]; ok {
		fmt.Fprintf(&d.out, "^%d", n)
		return
	}
	d.seen[at] = len(d.seen)
	d.out.WriteByte('&')
	d.value(v.Elem())
}

func (d *dumper) fields(v reflect.Value) {
	t := v.Type()
	d.out.WriteString(t.Name() + "{")
	for i := range t.NumField() {
		f := t.Field(i)
		if v.Field(i).IsZero() || strings.HasPrefix(f.Type.PkgPath(), "sync") || f.Type.Kind() == reflect.Func {
			continue
		}
		d.out.WriteString(f.Name + ":")
		d.value(v.Field(i))
		d.out.WriteByte(' ')
	}
	d.out.WriteByte('}')
}

func (d *dumper) list(v reflect.Value) {
	if v.Type().Elem().Kind() == reflect.Uint8 && v.Kind() == reflect.Slice {
		d.out.WriteString(strconv.Quote(string(v.Bytes())))
		return
	}
	d.out.WriteByte('[')
	for i := range v.Len() {
		d.value(v.Index(i))
		d.out.WriteByte(' ')
	}
	d.out.WriteByte(']')
}

// pairs are in the order of their keys' texts.
func (d *dumper) pairs(v reflect.Value) {
	keys := v.MapKeys()
	names := make([]string, len(keys))
	order := make([]int, len(keys))
	for i, k := range keys {
		sub := dumper{brief: d.brief, seen: d.seen}
		sub.value(k)
		names[i], order[i] = sub.out.String(), i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(names[a], names[b]) })
	d.out.WriteString("map[")
	for _, i := range order {
		d.out.WriteString(names[i] + ":")
		d.value(v.MapIndex(keys[i]))
		d.out.WriteByte(' ')
	}
	d.out.WriteByte(']')
}
