package sqlerr

// PartitionRequiresValues: 1479.
func PartitionRequiresValues(kind, values string) *Error {
	return newError(1479, "HY000", "Syntax error: %s PARTITIONING requires definition of VALUES %s for each partition", kind, values)
}

// PartitionWrongValues: 1480.
func PartitionWrongValues(kind, values string) *Error {
	return newError(1480, "HY000", "Only %s PARTITIONING can use VALUES %s in partition definition", kind, values)
}

// PartitionMaxValue: 1481.
func PartitionMaxValue() *Error {
	return newError(1481, "HY000", "MAXVALUE can only be used in last partition definition")
}

// PartitionExpression: 1486.
func PartitionExpression() *Error {
	return newError(1486, "HY000", "Constant, random or timezone-dependent expressions in (sub)partitioning function are not allowed")
}

// PartitionUnknownColumn: 1488.
func PartitionUnknownColumn() *Error {
	return newError(1488, "HY000", "Field in list of fields for partition function not found in table")
}

// PartitionFunctionType: 1491.
func PartitionFunctionType() *Error {
	return newError(1491, "HY000", "The PARTITION function returns the wrong type")
}

// PartitionsMustBeDefined: 1492.
func PartitionsMustBeDefined(kind string) *Error {
	return newError(1492, "HY000", "For %s partitions each partition must be defined", kind)
}

// PartitionNotIncreasing: 1493.
func PartitionNotIncreasing() *Error {
	return newError(1493, "HY000", "VALUES LESS THAN value must be strictly increasing for each partition")
}

// PartitionSameConstant: 1495.
func PartitionSameConstant() *Error {
	return newError(1495, "HY000", "Multiple definition of same constant in list partitioning")
}

// TooManyPartitions: 1499.
func TooManyPartitions() *Error {
	return newError(1499, "HY000", "Too many partitions (including subpartitions) were defined")
}

// PartitionBlob: 1502.
func PartitionBlob() *Error {
	return newError(1502, "HY000", "A BLOB field is not allowed in partition function")
}

// PartitionUniqueKey: 1503; key is PRIMARY KEY or UNIQUE INDEX.
func PartitionUniqueKey(key string) *Error {
	return newError(1503, "HY000", "A %s must include all columns in the table's partitioning function (prefixed columns are not considered).", key)
}

// NoPartitions: 1504, of PARTITIONS 0.
func NoPartitions() *Error {
	return newError(1504, "HY000", "Number of partitions = 0 is not an allowed value")
}

// NotPartitioned: 1505.
func NotPartitioned() *Error {
	return newError(1505, "HY000", "Partition management on a not partitioned table is not possible")
}

// PartitionForeignKey: 1506.
func PartitionForeignKey() *Error {
	return newError(1506, "HY000", "Foreign keys are not yet supported in conjunction with partitioning")
}

// PartitionListError: 1507; what is DROP or the like.
func PartitionListError(what string) *Error {
	return newError(1507, "HY000", "Error in list of partitions to %s", what)
}

// DropAllPartitions: 1508.
func DropAllPartitions() *Error {
	return newError(1508, "HY000", "Cannot remove all partitions, use DROP TABLE instead")
}

// CoalesceOnlyHash: 1509.
func CoalesceOnlyHash() *Error {
	return newError(1509, "HY000", "COALESCE PARTITION can only be used on HASH/KEY partitions")
}

// ReorganizeHashCount: 1510.
func ReorganizeHashCount() *Error {
	return newError(1510, "HY000", "REORGANIZE PARTITION can only be used to reorganize partitions not to change their numbers")
}

// ReorganizeNoNames: 1511.
func ReorganizeNoNames() *Error {
	return newError(1511, "HY000", "REORGANIZE PARTITION without parameters can only be used on auto-partitioned tables using HASH PARTITIONs")
}

// OnlyRangeOrList: 1512; what is DROP or the like.
func OnlyRangeOrList(what string) *Error {
	return newError(1512, "HY000", "%s PARTITION can only be used on RANGE/LIST partitions", what)
}

// AddNoPartition: 1514.
func AddNoPartition() *Error {
	return newError(1514, "HY000", "At least one partition must be added")
}

// CoalesceNoPartition: 1515.
func CoalesceNoPartition() *Error {
	return newError(1515, "HY000", "At least one partition must be coalesced")
}

// ReorganizeTooMany: 1516.
func ReorganizeTooMany() *Error {
	return newError(1516, "HY000", "More partitions to reorganize than there are partitions")
}

// SamePartitionName: 1517.
func SamePartitionName(name string) *Error {
	return newError(1517, "HY000", "Duplicate partition name %s", name)
}

// ReorganizeNotConsecutive: 1519.
func ReorganizeNotConsecutive() *Error {
	return newError(1519, "HY000", "When reorganizing a set of partitions they must be in consecutive order")
}

// ReorganizeOutsideRange: 1520.
func ReorganizeOutsideRange() *Error {
	return newError(1520, "HY000", "Reorganize of range partitions cannot change total ranges except for last partition where it can extend the range")
}

// NoPartitionForValue: 1526.
func NoPartitionForValue(value string) *Error {
	return newError(1526, "HY000", "Table has no partition for value %s", value)
}

// TemporaryPartitions: 1562.
func TemporaryPartitions() *Error {
	return newError(1562, "HY000", "Cannot create temporary table with partitions")
}

// PartitionConstantDomain: 1563.
func PartitionConstantDomain() *Error {
	return newError(1563, "HY000", "Partition constant is out of partition function domain")
}

// PartitionFunctionNotAllowed: 1564.
func PartitionFunctionNotAllowed() *Error {
	return newError(1564, "HY000", "This partition function is not allowed")
}

// NullInLessThan: 1566.
func NullInLessThan() *Error {
	return newError(1566, "HY000", "Not allowed to use NULL value in VALUES LESS THAN")
}

// WrongPartitionName: 1567.
func WrongPartitionName() *Error {
	return newError(1567, "HY000", "Incorrect partition name")
}

// PartitionColumnList: 1653.
func PartitionColumnList() *Error {
	return newError(1653, "HY000", "Inconsistency in usage of column lists for partitioning")
}

// PartitionColumnType: 1654.
func PartitionColumnType() *Error {
	return newError(1654, "HY000", "Partition column values of incorrect type")
}

// PartitionManyColumns: 1655.
func PartitionManyColumns() *Error {
	return newError(1655, "HY000", "Too many fields in 'list of partition fields'")
}

// MaxValueInList: 1656.
func MaxValueInList() *Error {
	return newError(1656, "HY000", "Cannot use MAXVALUE as value in VALUES IN")
}

// PartitionManyValues: 1657.
func PartitionManyValues(kind string) *Error {
	return newError(1657, "HY000", "Cannot have more than one value for this type of %s partitioning", kind)
}

// PartitionRowValues: 1658.
func PartitionRowValues() *Error {
	return newError(1658, "HY000", "Row expressions in VALUES IN only allowed for multi-field column partitioning")
}

// PartitionFieldType: 1659.
func PartitionFieldType(column string) *Error {
	return newError(1659, "HY000", "Field '%s' is of a not allowed type for this type of partitioning", column)
}

// PartitionValueNotInt: 1697.
func PartitionValueNotInt(partition string) *Error {
	return newError(1697, "HY000", "VALUES value for partition '%s' must have type INT", partition)
}

// UnknownPartition: 1735.
func UnknownPartition(partition, table string) *Error {
	return newError(1735, "HY000", "Unknown partition '%s' in table '%s'", partition, table)
}

// PartitionOfNotPartitioned: 1747.
func PartitionOfNotPartitioned() *Error {
	return newError(1747, "HY000", "PARTITION () clause on non partitioned table")
}

// RowOutsidePartitions: 1748.
func RowOutsidePartitions() *Error {
	return newError(1748, "HY000", "Found a row not matching the given partition set")
}

// DependentByPartitioning: 3855.
func DependentByPartitioning(column string) *Error {
	return newError(3855, "HY000", "Column '%s' has a partitioning function dependency and cannot be dropped or renamed.", column)
}

// PartitionCommentTooLong: 1793.
func PartitionCommentTooLong(partition string, limit int) *Error {
	return newError(1793, "HY000", "Comment for table partition '%s' is too long (max = %d)", partition, limit)
}
