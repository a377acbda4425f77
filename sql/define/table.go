package define

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// Limits of tables.
const (
	MaxColumns      = 4096
	maxTableComment = 2048
)

// CheckTableName checks the name of a table: 1103, 1059.
func CheckTableName(name string) error {
	if name == "" || strings.HasSuffix(name, " ") {
		return sqlerr.WrongTableName(name)
	}
	return CheckName(name)
}

// CheckTableComment checks the comment of a table: 1628.
func CheckTableComment(table, text string) error {
	if utf8.RuneCountInString(text) > maxTableComment {
		return sqlerr.TableCommentTooLong(table, maxTableComment)
	}
	return nil
}

// CheckTable is what must hold of a table as a whole after CREATE and ALTER:
// 1069, 1075, 1113, 1117. Single keys are checked by ResolveKey.
func CheckTable(t *schema.Table) error {
	n := 0
	for i := range t.Columns {
		if !t.Columns[i].Hidden {
			n++
		}
	}
	if n == 0 {
		return sqlerr.TableMustHaveColumns()
	}
	if n > MaxColumns {
		return sqlerr.TooManyColumns()
	}
	if err := CheckVisible(t); err != nil {
		return err
	}
	if n := len(t.Indexes) + len(t.Search); n >= MaxKeys && !t.HasHiddenKey() || n > MaxKeys {
		return sqlerr.TooManyKeys(MaxKeys)
	}
	return checkAutoIncrement(t)
}

// CheckVisible is 4028 when all columns are invisible.
func CheckVisible(t *schema.Table) error {
	if !slices.ContainsFunc(t.Columns, isVisible) {
		return sqlerr.TableMustHaveVisibleColumn()
	}
	return nil
}

// checkAutoIncrement: one column at most, the first of a key or anywhere in
// the primary key, where it counts within the columns before it.
func checkAutoIncrement(t *schema.Table) error {
	found := false
	for i := range t.Columns {
		c := &t.Columns[i]
		if !c.AutoIncrement {
			continue
		}
		keyed := t.IsPrimaryKeyPart(c.ID)
		for j := range t.Indexes {
			keyed = keyed || t.Indexes[j].Parts[0].Column == c.ID
		}
		if found || !keyed {
			return sqlerr.WrongAutoKey()
		}
		found = true
	}
	return nil
}

// engines are the names that ENGINE takes; all of them mean sqlots.
var engines = map[string]bool{
	"sqlots": true, "innodb": true, "myisam": true, "memory": true, "heap": true, "aria": true, "rocksdb": true,
	"tokudb": true, "tablestore": true,
}

// CheckEngine checks the name of a storage engine: 1286.
func CheckEngine(name string) error {
	if !engines[strings.ToLower(name)] {
		return sqlerr.UnknownStorageEngine(name)
	}
	return nil
}

// isVisible reports a column that is meant where none is named.
func isVisible(c schema.Column) bool { return !c.Hidden && !c.Invisible }
