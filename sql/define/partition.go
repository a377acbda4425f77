package define

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// Limits of partitioning, MySQL's.
const (
	MaxPartitions       = 8192
	maxPartitionColumns = 16
	maxPartitionName    = 64
	maxPartitionComment = 1024
)

// partitionStep is the distance of the numbers of partitions: others fit between them.
const partitionStep = 1 << 32

// PartitionBy is PARTITION BY as it was written.
type PartitionBy struct {
	Kind      schema.PartitionKind
	ByColumns bool
	Linear    bool
	Columns   []string
	Expr      string // the text of an expression
	// Count is the number of partitions where they are not listed.
	Count       uint64
	Definitions []PartitionDefinition
}

// PartitionDefinition is a partition as it was written.
type PartitionDefinition struct {
	Name, Comment    string
	MaxRows, MinRows uint64
	Less             []PartitionLiteral   // VALUES LESS THAN
	In               [][]PartitionLiteral // VALUES IN
}

// PartitionLiteral is a constant expression in the definition of a partition, nil for
// MAXVALUE.
type PartitionLiteral struct{ Expr expr.Expr }

// SetPartitions partitions t, whose keys are complete and do not have the partition yet:
// see KeyPartitions. Constants are evaluated in ec. Errors: 1479 to 1697.
func SetPartitions(b Binder, t *schema.Table, by *PartitionBy, ec *expr.Ctx) error {
	p := &schema.Partitioning{Kind: by.Kind, ByColumns: by.ByColumns, Linear: by.Linear, Expr: by.Expr}
	if err := setPartitionColumns(t, p, by.Columns); err != nil {
		return err
	}
	t.Partitioning = p
	of, x, err := resolvePartitioning(b, t)
	if err != nil {
		return err
	}
	if x != nil {
		p.Expr, p.Reads = x.text, x.reads
	}
	defs, err := by.definitions()
	if err != nil {
		return err
	}
	p.Named = len(by.Definitions) > 0
	if p.Partitions, err = NewPartitions(t, of, defs, ec); err != nil {
		return err
	}
	NumberPartitions(p, p.Partitions, 0, len(p.Partitions))
	return CheckPartitions(b, t)
}

// setPartitionColumns sets the columns of KEY and of COLUMNS: 1488, 1655, 1659.
func setPartitionColumns(t *schema.Table, p *schema.Partitioning, names []string) error {
	if !p.ByColumns {
		return nil
	}
	if p.Kind == schema.PartitionKey && len(names) == 0 {
		p.OfKey = true
		return SetKeyColumns(t, p)
	}
	if len(names) > maxPartitionColumns {
		return sqlerr.PartitionManyColumns()
	}
	for _, name := range names {
		i := t.ColumnByName(name)
		if i < 0 || t.Columns[i].Hidden {
			return sqlerr.PartitionUnknownColumn()
		}
		if slices.Contains(p.Reads, t.Columns[i].ID) {
			return sqlerr.DuplicateColumn(t.Columns[i].Name)
		}
		if err := checkPartitionColumn(&t.Columns[i], p.Kind); err != nil {
			return err
		}
		p.Reads = append(p.Reads, t.Columns[i].ID)
	}
	return nil
}

// SetKeyColumns sets the columns of KEY (): those of the primary key, or of the first
// unique key without NULL.
func SetKeyColumns(t *schema.Table, p *schema.Partitioning) error {
	parts := t.DeclaredKey()
	if t.HasHiddenKey() {
		parts = nil
		for i := range t.Indexes {
			if x := &t.Indexes[i]; parts == nil && x.Unique && t.IndexClass(x) == 0 {
				parts = x.Parts
			}
		}
	}
	if len(parts) == 0 {
		return sqlerr.PartitionUnknownColumn()
	}
	p.Reads = nil
	for _, k := range parts {
		if err := checkPartitionColumn(t.Column(k.Column), p.Kind); err != nil {
			return err
		}
		p.Reads = append(p.Reads, k.Column)
	}
	return nil
}

// checkPartitionColumn is 1659 for a column of a type that cannot spread rows.
func checkPartitionColumn(c *schema.Column, kind schema.PartitionKind) error {
	t := c.Type
	switch {
	case t.IsBlobOrText() || t.ID == schema.TypeJSON || t.ID == schema.TypeGeometry:
		if kind == schema.PartitionKey {
			return sqlerr.PartitionBlob()
		}
		return sqlerr.PartitionFieldType(c.Name)
	case c.IsVirtual():
		return sqlerr.NotSupported("partitioning by a virtual generated column")
	case kind == schema.PartitionKey && t.ID == schema.TypeTimestamp:
		return sqlerr.NotSupported("PARTITION BY KEY of a TIMESTAMP column")
	case kind == schema.PartitionKey:
		return nil
	}
	switch t.ID {
	case schema.TypeDate, schema.TypeDatetime, schema.TypeTime, schema.TypeChar, schema.TypeVarchar, schema.TypeBinary, schema.TypeVarbinary:
		return nil
	}
	if t.IsInteger() {
		return nil
	}
	return sqlerr.PartitionFieldType(c.Name)
}

// resolvePartitioning gives the partitioner, without partitions, and the expression
// unless columns are taken.
func resolvePartitioning(b Binder, t *schema.Table) (*expr.Partitioner, *expression, error) {
	p := t.Partitioning
	of, reads := &expr.Partitioner{Kind: p.Kind, Linear: p.Linear}, p.Reads
	var x *expression
	if !p.ByColumns {
		var err error
		if x, err = (Owner{Kind: OfPartition}).bind(b, t, p.Expr); err != nil {
			return nil, nil, err
		}
		if err := checkPartitionExpr(t, x); err != nil {
			return nil, nil, err
		}
		of.Value, reads = x.e, x.reads
	}
	for _, id := range reads {
		i := t.ColumnIndex(id)
		of.Reads, of.Types = append(of.Reads, i), append(of.Types, t.Columns[i].Type)
	}
	return of, x, nil
}

// partitionFunctions are those that MySQL allows.
// (https://dev.mysql.com/doc/refman/8.4/en/partitioning-limitations-functions.html)
var partitionFunctions = map[string]bool{
	"abs": true, "ceiling": true, "ceil": true, "datediff": true, "day": true, "dayofmonth": true, "dayofweek": true, "dayofyear": true, "extract": true,
	"floor": true, "hour": true, "microsecond": true, "minute": true, "mod": true, "month": true, "quarter": true, "second": true, "time_to_sec": true,
	"to_days": true, "to_seconds": true, "unix_timestamp": true, "weekday": true, "year": true, "yearweek": true,
	"+": true, "-": true, "*": true, "div": true, "%": true, "neg": true,
	"cast": true, "full_date": true, "full_datetime": true, "full_year": true,
}

// checkPartitionExpr: 1486, 1491, 1502, 1564, 1659.
func checkPartitionExpr(t *schema.Table, x *expression) error {
	if len(x.reads) == 0 {
		return sqlerr.PartitionExpression()
	}
	allowed, unix := true, false
	expr.Walk(x.e, func(e expr.Expr) bool {
		if f, ok := e.(*expr.Func); ok {
			allowed = allowed && partitionFunctions[f.Name]
			unix = unix || f.Op == expr.OpUnixTimestamp
		}
		return true
	})
	if !allowed {
		return sqlerr.PartitionFunctionNotAllowed()
	}
	for _, id := range x.reads {
		c := t.Column(id)
		switch {
		case c.Type.IsBlobOrText():
			return sqlerr.PartitionBlob()
		case c.IsVirtual():
			return sqlerr.NotSupported("partitioning by a virtual generated column")
		case (c.Type.ID == schema.TypeTimestamp) != unix:
			return sqlerr.PartitionExpression() // depends on the time zone
		}
	}
	if c, ok := x.e.(*expr.Col); ok && !c.T.IsInteger() {
		return sqlerr.PartitionFieldType(c.Name)
	}
	if !x.e.Type().IsInteger() {
		return sqlerr.PartitionFunctionType()
	}
	return nil
}

// definitions are the partitions as they were listed, or by their number.
func (by *PartitionBy) definitions() ([]PartitionDefinition, error) {
	if len(by.Definitions) > 0 {
		return by.Definitions, nil
	}
	return numbered(nil, by.Count), nil
}

// numbered are partitions of HASH and KEY with the next n free names.
func numbered(taken []schema.Partition, n uint64) []PartitionDefinition {
	var out []PartitionDefinition
	for i := uint64(len(taken)); uint64(len(out)) < min(n, MaxPartitions+1); i++ {
		name := "p" + strconv.FormatUint(i, 10)
		if !slices.ContainsFunc(taken, func(p schema.Partition) bool { return strings.EqualFold(p.Name, name) }) {
			out = append(out, PartitionDefinition{Name: name})
		}
	}
	return out
}

// MorePartitions are n partitions of HASH and KEY to be added to those of t.
func MorePartitions(t *schema.Table, n uint64) []PartitionDefinition {
	return numbered(t.Partitioning.Partitions, n)
}

// NewPartitions makes the partitions of definitions, with constants as MySQL stores
// them, without numbers. Errors: 1479, 1480, 1563, 1566, 1567, 1653 to 1657, 1697.
func NewPartitions(t *schema.Table, of *expr.Partitioner, defs []PartitionDefinition, ec *expr.Ctx) ([]schema.Partition, error) {
	out := make([]schema.Partition, len(defs))
	for i := range defs {
		d := &defs[i]
		if err := checkPartitionName(d); err != nil {
			return nil, err
		}
		out[i] = schema.Partition{Name: d.Name, Comment: d.Comment, MaxRows: d.MaxRows, MinRows: d.MinRows}
		v := partitionValues{t: t, of: of, def: d, ec: ec}
		var err error
		switch t.Partitioning.Kind {
		case schema.PartitionRange:
			if len(d.Less) == 0 {
				if len(d.In) > 0 {
					return nil, sqlerr.PartitionWrongValues("LIST", "IN")
				}
				return nil, sqlerr.PartitionRequiresValues("RANGE", "LESS THAN")
			}
			out[i].Less, err = v.list(d.Less)
		case schema.PartitionList:
			if len(d.In) == 0 {
				if len(d.Less) > 0 {
					return nil, sqlerr.PartitionWrongValues("RANGE", "LESS THAN")
				}
				return nil, sqlerr.PartitionRequiresValues("LIST", "IN")
			}
			for _, in := range d.In {
				var vals []schema.PartitionValue
				if vals, err = v.list(in); err != nil {
					break
				}
				out[i].In = append(out[i].In, vals)
			}
		default:
			if len(d.Less) > 0 {
				return nil, sqlerr.PartitionWrongValues("RANGE", "LESS THAN")
			}
			if len(d.In) > 0 {
				return nil, sqlerr.PartitionWrongValues("LIST", "IN")
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func checkPartitionName(d *PartitionDefinition) error {
	if d.Name == "" || strings.HasSuffix(d.Name, " ") {
		return sqlerr.WrongPartitionName()
	}
	if utf8.RuneCountInString(d.Name) > maxPartitionName {
		return sqlerr.IdentifierTooLong(d.Name)
	}
	if utf8.RuneCountInString(d.Comment) > maxPartitionComment {
		return sqlerr.PartitionCommentTooLong(d.Name, maxPartitionComment)
	}
	return nil
}

// partitionValues stores the constants of one partition.
type partitionValues struct {
	t   *schema.Table
	of  *expr.Partitioner
	def *PartitionDefinition
	ec  *expr.Ctx
}

func (v *partitionValues) list(in []PartitionLiteral) ([]schema.PartitionValue, error) {
	p := v.t.Partitioning
	n := 1
	if p.ByColumns {
		n = len(p.Reads)
	}
	if len(in) != n {
		switch {
		case p.ByColumns:
			return nil, sqlerr.PartitionColumnList()
		case p.Kind == schema.PartitionRange:
			return nil, sqlerr.PartitionManyValues("RANGE")
		}
		return nil, sqlerr.PartitionRowValues()
	}
	out := make([]schema.PartitionValue, n)
	for i, l := range in {
		if l.Expr == nil {
			if p.Kind != schema.PartitionRange {
				return nil, sqlerr.MaxValueInList()
			}
			out[i].Max = true
			continue
		}
		d, err := expr.EvalRow(v.ec, l.Expr, nil)
		if err != nil {
			return nil, err
		}
		if d.IsNull() {
			if p.Kind == schema.PartitionRange {
				return nil, sqlerr.NullInLessThan()
			}
			out[i].Null = true
			continue
		}
		if p.ByColumns {
			out[i].Text, err = v.column(v.t.Column(p.Reads[i]), d, l.Expr.Type())
		} else {
			out[i].Text, err = v.integer(d)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// integer is a constant for an expression.
func (v *partitionValues) integer(d value.Datum) ([]byte, error) {
	switch {
	case d.Kind() == value.KindInt && v.of.Value.Type().Unsigned && d.Int() < 0, d.Kind() == value.KindUint && !v.of.Value.Type().Unsigned && d.Uint() > 1<<63-1:
		return nil, sqlerr.PartitionConstantDomain()
	case d.Kind() == value.KindInt:
		return strconv.AppendInt(nil, d.Int(), 10), nil
	case d.Kind() == value.KindUint:
		return strconv.AppendUint(nil, d.Uint(), 10), nil
	}
	return nil, sqlerr.PartitionValueNotInt(v.def.Name)
}

// column is a constant for a column: 1654 for one of another kind.
func (v *partitionValues) column(c *schema.Column, d value.Datum, from schema.Type) ([]byte, error) {
	switch {
	case c.Type.IsInteger():
		if !from.IsInteger() {
			return nil, sqlerr.PartitionColumnType()
		}
	case !from.IsString() && (c.Type.IsString() || !from.HasDate() && from.ID != schema.TypeTime):
		return nil, sqlerr.PartitionColumnType()
	}
	env := v.ec.Env
	env.Write, env.Warn, env.Mode = true, nil, env.Mode|types.ModeStrictAllTables|types.ModeStrictTransTables
	stored, err := types.Store(&env, d, from, c, 1)
	if err != nil {
		return nil, sqlerr.PartitionColumnType()
	}
	return types.AppendText(nil, c.Type, stored), nil
}

// NumberPartitions numbers partitions that come into the place of those from from up to
// to; false when there is no room for the numbers.
func NumberPartitions(p *schema.Partitioning, list []schema.Partition, from, to int) bool {
	if len(list) == 0 {
		return true
	}
	used := append(p.Numbers(), p.Removed...)
	if p.Kind != schema.PartitionRange || to == len(p.Partitions) {
		return number(list, slices.Max(append(used, 0)), partitionStep, math.MaxInt64)
	}
	low, high := int64(0), p.Partitions[to].Number
	if from > 0 {
		low = p.Partitions[from-1].Number
	}
	for _, n := range used {
		if n < high {
			low = max(low, n)
		}
	}
	// What is emptied again and again takes the next number each time: only splits
	// halve the room.
	step := int64(1)
	if len(list) > to-from {
		step = max((high-low)/int64(len(list)+1), 1)
	}
	return number(list, low, step, high)
}

// number gives a list numbers above low and below high.
func number(list []schema.Partition, low, step, high int64) bool {
	if (high-low)/step <= int64(len(list)) {
		return false
	}
	for i := range list {
		list[i].Number = low + step*int64(i+1)
	}
	return true
}

// RenumberPartitions gives all partitions of a table that is copied new numbers.
func RenumberPartitions(p *schema.Partitioning) {
	for i := range p.Partitions {
		p.Partitions[i].Number = int64(i+1) * partitionStep
	}
}

// SameBound reports whether two partitions of RANGE end at the same value, or the second
// at a greater one where that may be.
func SameBound(b Binder, t *schema.Table, old, now schema.Partition, mayGrow bool) (bool, error) {
	pair := t.Clone()
	pair.Partitioning.Partitions = []schema.Partition{old, now}
	of, err := Partitioner(b, pair)
	if err != nil {
		return false, err
	}
	if of.SameBounds() {
		return true, nil
	}
	return mayGrow && of.Ascends(), nil
}

// Partitioner is what finds the partitions of the rows of t, which is partitioned.
func Partitioner(b Binder, t *schema.Table) (*expr.Partitioner, error) {
	of, _, err := resolvePartitioning(b, t)
	if err != nil {
		return nil, err
	}
	p := t.Partitioning
	of.Numbers = p.Numbers()
	for i := range p.Partitions {
		x := &p.Partitions[i]
		if p.Kind == schema.PartitionRange {
			bound, err := partitionDatums(t, of, x.Less)
			if err != nil {
				return nil, err
			}
			of.Bounds = append(of.Bounds, bound)
		}
		for _, in := range x.In {
			vals, err := partitionDatums(t, of, in)
			if err != nil {
				return nil, err
			}
			of.List = append(of.List, expr.PartitionEntry{Values: vals, At: i})
		}
	}
	of.SortList()
	return of, nil
}

// partitionDatums are stored constants as values, up to a MAXVALUE.
func partitionDatums(t *schema.Table, of *expr.Partitioner, list []schema.PartitionValue) ([]value.Datum, error) {
	var out []value.Datum
	for i, v := range list {
		switch {
		case v.Max:
			return out, nil
		case v.Null:
			out = append(out, value.Null)
			continue
		}
		c := schema.Column{Name: schema.PartitionColumn}
		if of.Value != nil {
			c.Type = of.Value.Type()
		} else {
			c = *t.Column(t.Partitioning.Reads[i])
		}
		env := types.Env{Mode: storedLiteralMode, Write: true}
		from := types.Text(schema.CollationUTF8MB4Bin)
		if c.Type.IsBinary() {
			from = types.VarbinaryOf(len(v.Text))
		} else if c.Type.IsString() {
			from = types.Text(c.Type.Collation)
		}
		d, err := types.Store(&env, value.Bytes(v.Text), from, &c, 1)
		if err != nil {
			return nil, err
		}
		out = append(out, d.Clone())
	}
	return out, nil
}

// storedLiteralMode is the sql_mode by which stored constants are read: that of the
// statement judged them.
const storedLiteralMode = types.ModeAllowInvalidDates

// CheckPartitions checks the partitions of t as a whole: 1481, 1492, 1493, 1495, 1499,
// 1503, 1517.
func CheckPartitions(b Binder, t *schema.Table) error {
	p := t.Partitioning
	switch n := len(p.Partitions); {
	case n > MaxPartitions:
		return sqlerr.TooManyPartitions()
	case n == 0 && p.Kind.Listed():
		return sqlerr.PartitionsMustBeDefined(p.Kind.String())
	case n == 0:
		return sqlerr.NoPartitions()
	}
	names := map[string]bool{}
	for i := range p.Partitions {
		x := &p.Partitions[i]
		name := strings.ToLower(x.Name)
		if names[name] {
			return sqlerr.SamePartitionName(x.Name)
		}
		names[name] = true
		if i < len(p.Partitions)-1 && len(x.Less) > 0 && !p.ByColumns && x.Less[0].Max {
			return sqlerr.PartitionMaxValue()
		}
	}
	of, err := Partitioner(b, t)
	if err != nil {
		return err
	}
	if !of.Ascends() {
		return sqlerr.PartitionNotIncreasing()
	}
	if of.HasSame() {
		return sqlerr.PartitionSameConstant()
	}
	return checkPartitionKeys(t)
}

// checkPartitionKeys is 1503 for a unique key that lacks a column by which rows are
// spread.
func checkPartitionKeys(t *schema.Table) error {
	has := func(parts []schema.KeyPart) bool {
		for _, id := range t.Partitioning.Reads {
			if !slices.ContainsFunc(parts, func(k schema.KeyPart) bool { return k.Column == id && k.Prefix == 0 }) {
				return false
			}
		}
		return true
	}
	if !t.HasHiddenKey() && !has(t.DeclaredKey()) {
		return sqlerr.PartitionUniqueKey("PRIMARY KEY")
	}
	for i := range t.Indexes {
		if x := &t.Indexes[i]; x.Unique && !has(x.Parts) {
			return sqlerr.PartitionUniqueKey("UNIQUE INDEX")
		}
	}
	return nil
}

// KeyPartitions makes the partition the first part of the primary key of t, which is
// partitioned.
func KeyPartitions(t *schema.Table) {
	p := t.Partitioning
	if t.Column(p.Column) == nil || p.Column == 0 {
		p.Column = t.NextColumnID
		t.NextColumnID++
		t.Columns = append(t.Columns, schema.Column{ID: p.Column, Name: schema.PartitionColumn, Type: types.BigInt, Hidden: true})
	}
	c := t.Column(p.Column)
	c.Generated = &schema.Generated{Reads: slices.Clone(p.Reads), Stored: true}
	if len(t.DeclaredKey()) == len(t.PrimaryKey) {
		t.PrimaryKey = append([]schema.KeyPart{{Column: p.Column}}, t.PrimaryKey...)
	}
}

// UnkeyPartitions takes the partition out of the primary key of t.
func UnkeyPartitions(t *schema.Table) { t.PrimaryKey = slices.Clone(t.DeclaredKey()) }

// DropPartitioning makes t a table without partitions. The partition is not in its key.
func DropPartitioning(t *schema.Table) {
	id := t.Partitioning.Column
	t.Partitioning = nil
	t.Columns = slices.DeleteFunc(t.Columns, func(c schema.Column) bool { return c.ID == id && c.Hidden })
}
