package engine

import (
	"bytes"
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// rows is what a statement returned: values as the text protocol sends them.
type rows struct {
	names, types []string
	values       [][]driver.Value
}

// validator is a value of the corpus that checks for itself.
type validator interface {
	Validate(any) (bool, error)
}

// equalRows compares in order if ordered is true, otherwise as sets.
func equalRows(want []sql.Row, got *rows, ordered bool) bool {
	if len(want) != len(got.values) {
		return false
	}
	used := make([]bool, len(want))
	for i, row := range got.values {
		found := false
		for j := range want {
			if ordered {
				j = i
			}
			if found = !used[j] && equalRow(want[j], row, got); found {
				used[j] = true
			}
			if found || ordered {
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}

func equalRow(want sql.Row, got []driver.Value, of *rows) bool {
	if len(want) != len(got) {
		return false
	}
	for i := range want {
		if !equalValue(want[i], got[i], of.types[i]) && !isLeftEmpty(want[i], got[i], of.names[i]) {
			return false
		}
	}
	return true
}

// isLeftEmpty knows the columns that go-mysql-server leaves empty in SHOW FULL
// COLUMNS and SHOW KEYS.
func isLeftEmpty(want any, got driver.Value, column string) bool {
	switch column {
	case "Privileges":
		return want == "" && textOf(got) == "select,insert,update,references"
	case "Collation":
		return want == nil && (textOf(got) == "A" || textOf(got) == "D")
	}
	return false
}

// equalValue compares a value of the corpus, whose Go type is often wider or
// narrower than the column's, with one from the wire.
func equalValue(want any, got driver.Value, typ string) bool {
	if v, ok := want.(validator); ok {
		ok, err := v.Validate(got)
		return ok && err == nil
	}
	if want == nil || got == nil {
		return want == nil && got == nil
	}
	text := textOf(got)
	switch w := want.(type) {
	case bool:
		return w && text == "1" || !w && text == "0"
	case float32:
		return equalFloat(float64(w), text, 1e-5) // FLOAT prints six digits
	case float64:
		return equalFloat(w, text, 1e-9)
	case string:
		return equalText(w, text, typ)
	case []byte:
		return string(w) == text
	case *apd.Decimal:
		return w.Text('f') == text
	case time.Time:
		return equalTime(w, text)
	case time.Duration:
		return fmt.Sprint(w) == text
	case types.Timespan:
		return w.String() == text
	case sql.JSONWrapper:
		doc, err := w.ToInterface(context.Background())
		return err == nil && equalJSON(doc, text)
	case types.GeometryValue:
		return bytes.Equal(w.Serialize(), []byte(text))
	case fmt.Stringer:
		return w.String() == text
	}
	v := reflect.ValueOf(want)
	switch {
	case v.CanInt():
		return equalNumber(strconv.FormatInt(v.Int(), 10), text, typ)
	case v.CanUint():
		return equalNumber(strconv.FormatUint(v.Uint(), 10), text, typ)
	}
	doc, err := json.Marshal(want)
	var plain any
	return err == nil && json.Unmarshal(doc, &plain) == nil && equalJSON(plain, text)
}

func textOf(v driver.Value) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case []byte:
		return string(v)
	case float32:
		return strconv.FormatFloat(float64(v), 'g', -1, 32)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}

func equalFloat(want float64, got string, eps float64) bool {
	g, err := strconv.ParseFloat(got, 64)
	return err == nil && (g == want || math.Abs(g-want) <= eps*math.Max(math.Abs(want), math.Abs(g)))
}

// equalNumber takes 3 and 3.00 as equal in columns that are numbers.
func equalNumber(want, got, typ string) bool {
	if want == got {
		return true
	}
	if typ == "BIT" {
		var n uint64
		for _, b := range []byte(got) {
			n = n<<8 | uint64(b)
		}
		return strconv.FormatUint(n, 10) == want
	}
	w, ok := new(big.Rat).SetString(want)
	g, ok2 := new(big.Rat).SetString(got)
	return ok && ok2 && !isText(typ) && w.Cmp(g) == 0
}

func isText(typ string) bool {
	return strings.Contains(typ, "CHAR") || strings.Contains(typ, "TEXT") || strings.Contains(typ, "BINARY") || strings.Contains(typ, "BLOB")
}

func equalText(want, got, typ string) bool {
	switch {
	case want == got:
		return true
	case typ == "JSON":
		var doc any
		return json.Unmarshal([]byte(want), &doc) == nil && equalJSON(doc, got)
	case typ == "FLOAT" || typ == "DOUBLE":
		f, err := strconv.ParseFloat(want, 64)
		return err == nil && equalFloat(f, got, 1e-6)
	case strings.HasPrefix(want, "CREATE TABLE `"):
		return slices.Equal(tableLines(want), tableLines(got))
	case typ == "DATETIME" || typ == "TIMESTAMP" || typ == "TIME":
		return strings.TrimSuffix(want, ".000000") == strings.TrimSuffix(got, ".000000")
	}
	return false
}

var tableNoise = strings.NewReplacer(" NULL DEFAULT NULL", "", " DEFAULT NULL", "", " COLLATE utf8mb4_0900_bin", "",
	" CHARACTER SET utf8mb4", "")

// tableLines are the lines of SHOW CREATE TABLE without what go-mysql-server
// leaves out; it also lists the keys in another order.
func tableLines(text string) []string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = tableNoise.Replace(strings.TrimSuffix(l, ","))
	}
	slices.Sort(lines)
	return lines
}

func equalTime(want time.Time, got string) bool {
	for _, layout := range []string{"2006-01-02 15:04:05.999999", "2006-01-02", "15:04:05.999999"} {
		if g, err := time.Parse(layout, got); err == nil {
			return g.Equal(want)
		}
	}
	return strings.HasPrefix(got, "0000-00-00") && (want.IsZero() || want.Equal(types.ZeroTime))
}

func equalJSON(want any, got string) bool {
	var g, w any
	text, err := json.Marshal(want)
	if err != nil || json.Unmarshal(text, &w) != nil || json.Unmarshal([]byte(got), &g) != nil {
		return false
	}
	return equalDocuments(w, g)
}

func equalDocuments(a, b any) bool {
	switch x := a.(type) {
	case float64:
		y, ok := b.(float64)
		return ok && (x == y || math.Abs(x-y) <= 1e-9*math.Abs(x))
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !equalDocuments(x[i], y[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for k := range x {
			if v, ok := y[k]; !ok || !equalDocuments(x[k], v) {
				return false
			}
		}
		return true
	}
	return a == b
}

// describe shows rows on one line each.
func (r *rows) describe() string {
	var lines []string
	for _, row := range r.values {
		var fields []string
		for _, v := range row {
			fields = append(fields, strconv.Quote(textOf(v)))
		}
		lines = append(lines, strings.Join(fields, ", "))
	}
	return strings.Join(lines, "\n")
}

func describeExpected(want []sql.Row) string {
	var lines []string
	for _, row := range want {
		var fields []string
		for _, v := range row {
			if d, ok := v.(*apd.Decimal); ok {
				v = d.Text('f')
			}
			fields = append(fields, fmt.Sprintf("%#v", v))
		}
		lines = append(lines, strings.Join(fields, ", "))
	}
	return strings.Join(lines, "\n")
}
