package infoschema

import (
	"strings"

	"github.com/sqlots/sqlots/collate"
)

// charsetTables list character sets and collations.
func charsetTables() []*table {
	return []*table{
		newTable(infoDB, "CHARACTER_SETS", "CHARACTER_SET_NAME s64, DEFAULT_COLLATE_NAME s64, DESCRIPTION s2048, MAXLEN u", func(q *query) error {
			for _, c := range collate.Charsets() {
				if err := q.emit(c.Name, c.DefaultCollation, c.Description, uint64(c.MaxLen)); err != nil {
					return err
				}
			}
			return nil
		}),
		newTable(infoDB, "COLLATIONS", "COLLATION_NAME s64, CHARACTER_SET_NAME s64, ID u, IS_DEFAULT s3, IS_COMPILED s3, SORTLEN u, PAD_ATTRIBUTE e:PAD SPACE|NO PAD", func(q *query) error {
			return eachCollation(func(c *collate.Collation, def, pad string) error {
				return q.emit(c.Name, c.Charset, uint64(c.ID), def, "Yes", uint64(sortLen(c)), pad)
			})
		}),
		newTable(infoDB, "COLLATION_CHARACTER_SET_APPLICABILITY", "COLLATION_NAME s64, CHARACTER_SET_NAME s64", func(q *query) error {
			return eachCollation(func(c *collate.Collation, _, _ string) error { return q.emit(c.Name, c.Charset) })
		}),
	}
}

func eachCollation(fn func(c *collate.Collation, def, pad string) error) error {
	for _, c := range collate.List() {
		def, pad := "", "NO PAD"
		if c.IsDefault() {
			def = "Yes"
		}
		if c.PadSpace() {
			pad = "PAD SPACE"
		}
		if err := fn(c, def, pad); err != nil {
			return err
		}
	}
	return nil
}

// sortLen is the memory factor of a sort key: 0 for MySQL's UCA 9 collations,
// 8 for the older UCA ones, 1 for the others.
func sortLen(c *collate.Collation) int {
	switch {
	case c.IsBinary():
		return 1
	case !c.PadSpace():
		return 0
	case strings.Contains(c.Name, "_unicode") || strings.Contains(c.Name, "_520"):
		return 8
	}
	return 1
}
