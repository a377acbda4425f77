package sqlerr

// NoReferencedRowHidden: 1216, NoReferencedRow for who may not know of the parent.
func NoReferencedRowHidden() *Error {
	return newError(1216, "23000", "Cannot add or update a child row: a foreign key constraint fails")
}

// RowIsReferencedHidden: 1217, RowIsReferenced for who may not know of the child.
func RowIsReferencedHidden() *Error {
	return newError(1217, "23000", "Cannot delete or update a parent row: a foreign key constraint fails")
}

// RowIsReferenced: 1451; constraint is the foreign key with its table.
func RowIsReferenced(constraint string) *Error {
	return newError(1451, "23000", "Cannot delete or update a parent row: a foreign key constraint fails (%s)", constraint)
}

// NoReferencedRow: 1452; constraint is the foreign key with its table.
func NoReferencedRow(constraint string) *Error {
	return newError(1452, "23000", "Cannot add or update a child row: a foreign key constraint fails (%s)", constraint)
}

// ForeignKeyDuplicate: 1761.
func ForeignKeyDuplicate(table, record, child, key string) *Error {
	return newError(1761, "23000", "Foreign key constraint for table '%s', record '%s' would lead to a duplicate entry in table '%s', key '%s'", table, record, child, key)
}

// ForeignKeyDuplicateHidden: 1762, ForeignKeyDuplicate for who may not know of the child.
func ForeignKeyDuplicateHidden(table, record string) *Error {
	return newError(1762, "23000", "Foreign key constraint for table '%s', record '%s' would lead to a duplicate entry in a child table", table, record)
}

// ForeignKeyDepth: 3008.
func ForeignKeyDepth(limit int) *Error {
	return newError(3008, "HY000", "Foreign key cascade delete/update exceeds max depth of %d.", limit)
}

// ForeignKeyDefinition: 1239; reason is why the clause makes no sense.
func ForeignKeyDefinition(name, reason string) *Error {
	return newError(1239, "42000", "Incorrect foreign key definition for '%s': %s", name, reason)
}

// CannotAddForeignKey: 1215.
func CannotAddForeignKey() *Error {
	return newError(1215, "HY000", "Cannot add foreign key constraint")
}

// ForeignKeyNoParentIndex: 1822.
func ForeignKeyNoParentIndex(name, parent string) *Error {
	return newError(1822, "HY000", "Failed to add the foreign key constraint. Missing index for constraint '%s' in the referenced table '%s'", name, parent)
}

// ForeignKeyLooseParent: 6124.
func ForeignKeyLooseParent(name string) *Error {
	return newError(6124, "HY000", "Foreign key '%s' refers to non-unique key or partial key. This is deprecated and will be removed in a future release.", name)
}

// ForeignKeyNoUniqueParent: 6125.
func ForeignKeyNoUniqueParent(name, parent string) *Error {
	return newError(6125, "HY000", "Failed to add the foreign key constraint. Missing unique key for constraint '%s' in the referenced table '%s'", name, parent)
}

// ForeignKeyNoParent: 1824.
func ForeignKeyNoParent(parent string) *Error {
	return newError(1824, "HY000", "Failed to open the referenced table '%s'", parent)
}

// ForeignKeyNoParentColumn: 3734.
func ForeignKeyNoParentColumn(column, name, parent string) *Error {
	return newError(3734, "HY000", "Failed to add the foreign key constraint. Missing column '%s' for constraint '%s' in the referenced table '%s'", column, name, parent)
}

// ForeignKeyIncompatible: 3780.
func ForeignKeyIncompatible(column, parent, name string) *Error {
	return newError(3780, "HY000", "Referencing column '%s' and referenced column '%s' in foreign key constraint '%s' are incompatible.", column, parent, name)
}

// ForeignKeyDuplicateName: 1826.
func ForeignKeyDuplicateName(name string) *Error {
	return newError(1826, "HY000", "Duplicate foreign key constraint name '%s'", name)
}

// ForeignKeyNotNull: 1830.
func ForeignKeyNotNull(column, name string) *Error {
	return newError(1830, "HY000", "Column '%s' cannot be NOT NULL: needed in a foreign key constraint '%s' SET NULL", column, name)
}

// ForeignKeyDropColumn: 1828, or 1829 where the key is another table's.
func ForeignKeyDropColumn(column, name, child string) *Error {
	if child == "" {
		return newError(1828, "HY000", "Cannot drop column '%s': needed in a foreign key constraint '%s'", column, name)
	}
	return newError(1829, "HY000", "Cannot drop column '%s': needed in a foreign key constraint '%s' of table '%s'", column, name, child)
}

// ForeignKeyChangeColumn: 1832, or 1833 where the key is another table's.
func ForeignKeyChangeColumn(column, name, child string) *Error {
	if child == "" {
		return newError(1832, "HY000", "Cannot change column '%s': used in a foreign key constraint '%s'", column, name)
	}
	return newError(1833, "HY000", "Cannot change column '%s': used in a foreign key constraint '%s' of table '%s'", column, name, child)
}

// ForeignKeyNeedsIndex: 1553.
func ForeignKeyNeedsIndex(index string) *Error {
	return newError(1553, "HY000", "Cannot drop index '%s': needed in a foreign key constraint", index)
}

// CannotDropParent: 3730.
func CannotDropParent(parent, name, child string) *Error {
	return newError(3730, "HY000", "Cannot drop table '%s' referenced by a foreign key constraint '%s' on table '%s'.", parent, name, child)
}

// CannotTruncateParent: 1701; constraint is its table and name.
func CannotTruncateParent(constraint string) *Error {
	return newError(1701, "42000", "Cannot truncate a table referenced in a foreign key constraint (%s)", constraint)
}

// ForeignKeyVirtualColumn: 3733.
func ForeignKeyVirtualColumn(name, column string) *Error {
	return newError(3733, "HY000", "Foreign key '%s' uses virtual column '%s' which is not supported.", name, column)
}

// ForeignKeyOnGenerated: 3104.
func ForeignKeyOnGenerated(clause string) *Error {
	return newError(3104, "HY000", "Cannot define foreign key with %s clause on a generated column.", clause)
}

// CheckOnForeignKey: 3823.
func CheckOnForeignKey(column, check, name string) *Error {
	return newError(3823, "HY000", "Column '%s' cannot be used in a check constraint '%s': needed in a foreign key constraint '%s' referential action.", column, check, name)
}
