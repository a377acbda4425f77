package ddl

import "github.com/sqlots/sqlots/sql/sqlerr"

// ALGORITHM= and LOCK= do not choose how a statement works: they are what it
// promises, and an error where it cannot keep that. MySQL's reasons are given
// where they hold here too.
const (
	reasonType       = "Cannot change column type INPLACE"
	reasonNoKey      = "Dropping a primary key is not allowed without also adding a new primary key"
	reasonForeignKey = "Adding foreign keys needs foreign_key_checks=OFF"
	reasonNumbers    = "Adding an auto-increment column requires a lock"
	reasonCopy       = "COPY algorithm requires a lock"
)

// promises checks what ALGORITHM and LOCK require: 1221, 1845, 1846. online: the
// indexes are built while writers go on.
func (a *alteration) promises(online bool) error {
	algorithm, lock := a.algorithm, a.lock
	if algorithm == "INSTANT" && lock != "" && lock != "DEFAULT" {
		return sqlerr.WrongUsage("ALGORITHM=INSTANT", "LOCK=NONE/SHARED/EXCLUSIVE")
	}
	if algorithm == "COPY" && lock == "NONE" {
		return sqlerr.AlterNotSupportedReason("LOCK=NONE", reasonCopy, "LOCK=SHARED")
	}
	copies := a.rebuild || len(a.notNull) > 0 || a.numbered != 0
	checks := len(a.newForeignKeys) > 0 && a.c.env.ForeignKeyChecks
	data := copies || checks || a.validate
	if a.c.r.temporary || !data && len(a.build) == 0 {
		return nil
	}
	reason, inplace := "", !a.validate
	switch {
	case copies && a.converts():
		reason, inplace = reasonType, false
	case copies && !a.hasPrimaryKey() && len(a.old.PrimaryKey) > 0 && !a.old.HasHiddenKey():
		reason, inplace = reasonNoKey, false
	case checks:
		reason, inplace = reasonForeignKey, false
	case copies && (a.addsStored() || a.repartitions()):
		inplace = false
	}
	refuse := func(what, try string) error {
		if reason == "" {
			return sqlerr.AlterNotSupported(what, try)
		}
		return sqlerr.AlterNotSupportedReason(what, reason, try)
	}
	switch {
	case algorithm == "INSTANT" && inplace:
		return refuse("ALGORITHM=INSTANT", "ALGORITHM=COPY/INPLACE")
	case algorithm == "INSTANT", algorithm == "INPLACE" && !inplace:
		return refuse("ALGORITHM="+algorithm, "ALGORITHM=COPY")
	case lock == "NONE" && (data || !online):
		if a.numbered != 0 && reason == "" {
			reason = reasonNumbers
		}
		return refuse("LOCK=NONE", "LOCK=SHARED")
	}
	return nil
}

// addsStored reports whether a stored generated column is new.
func (a *alteration) addsStored() bool {
	for i := range a.t.Columns {
		if c := &a.t.Columns[i]; a.fresh[c.ID] && c.Generated != nil && c.Generated.Stored {
			return true
		}
	}
	return false
}
