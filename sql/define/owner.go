package define

import "github.com/sqlots/sqlots/sql/sqlerr"

// OwnerKind says what an expression of a descriptor is for.
type OwnerKind uint8

// Kinds of owners.
const (
	OfCheck OwnerKind = iota
	OfGenerated
	OfDefault
	OfIndex
	OfPartition
)

// Owner is what an expression of a descriptor belongs to, by its name: a CHECK
// constraint, a generated column, a column with a default, an index, or the partitions
// of a table, which have no name. MySQL has errors of its own for each.
type Owner struct {
	Kind OwnerKind
	Name string
}

// Banned is the error of a variable, or of a function or another construct ("")
// that must not be in the expression.
func (o Owner) Banned(variable bool, function string) error {
	switch {
	case o.Kind == OfIndex:
		return sqlerr.FunctionalIndexFunction(o.Name)
	case o.Kind == OfPartition && variable:
		return sqlerr.PartitionExpression()
	case o.Kind == OfPartition:
		return sqlerr.PartitionFunctionNotAllowed()
	}
	named := map[OwnerKind]func(owner, function string) *sqlerr.Error{
		OfCheck: sqlerr.CheckNamedFunction, OfGenerated: sqlerr.GeneratedNamedFunction, OfDefault: sqlerr.WrongSchemaOfDefault,
	}
	variables := map[OwnerKind]func(owner string) *sqlerr.Error{
		OfCheck: sqlerr.CheckVariables, OfGenerated: sqlerr.GeneratedVariables, OfDefault: sqlerr.DefaultVariables,
	}
	other := map[OwnerKind]func(owner string) *sqlerr.Error{
		OfCheck: sqlerr.CheckFunction, OfGenerated: sqlerr.GeneratedFunction, OfDefault: sqlerr.DefaultFunction,
	}
	switch {
	case variable:
		return variables[o.Kind](o.Name)
	case function != "":
		return named[o.Kind](o.Name, function)
	}
	return other[o.Kind](o.Name)
}

func (o Owner) rowValue() error {
	switch o.Kind {
	case OfGenerated:
		return sqlerr.GeneratedRowValue(o.Name)
	case OfDefault:
		return sqlerr.DefaultRowValue(o.Name)
	case OfIndex:
		return sqlerr.FunctionalIndexRowValue(o.Name)
	case OfPartition:
		return sqlerr.OperandColumns(1)
	}
	return sqlerr.CheckRowValue(o.Name)
}

func (o Owner) unknownColumn(name string) error {
	switch o.Kind {
	case OfGenerated:
		return sqlerr.UnknownColumn(name, "generated column function")
	case OfDefault:
		return sqlerr.UnknownColumn(name, "default value expression")
	case OfIndex:
		return sqlerr.UnknownColumn(name, "functional index")
	case OfPartition:
		return sqlerr.UnknownColumn(name, "partition function")
	}
	return sqlerr.CheckUnknownColumn(o.Name, name)
}

func (o Owner) autoIncrement() error {
	switch o.Kind {
	case OfGenerated:
		return sqlerr.GeneratedReadsAutoIncrement(o.Name)
	case OfDefault:
		return sqlerr.DefaultReadsAutoIncrement(o.Name)
	case OfIndex:
		return sqlerr.FunctionalIndexAutoIncrement(o.Name)
	}
	return sqlerr.CheckReadsAutoIncrement(o.Name)
}
