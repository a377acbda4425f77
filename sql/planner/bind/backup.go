package bind

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// backup is BACKUP DATABASE * TO, with the options RATE_LIMIT, CHECKSUM, which
// cannot be switched off, and LAST_BACKUP, here the place of the backup before.
func backup(n *ast.BRIEStmt) (logical.Statement, error) {
	if n.Kind != ast.BRIEKindBackup {
		return nil, sqlerr.NotSupported(n.Kind.String())
	}
	if len(n.Schemas) > 0 || len(n.Tables) > 0 {
		return nil, sqlerr.NotSupported("BACKUP of single databases or tables")
	}
	to, err := localPlace(n.Storage)
	if err != nil {
		return nil, err
	}
	out := &logical.Backup{To: to}
	for _, o := range n.Options {
		switch o.Tp {
		case ast.BRIEOptionRateLimit:
			out.BytesPerSecond = int64(o.UintValue)
		case ast.BRIEOptionChecksum:
			if o.UintValue == uint64(ast.BRIEOptionLevelOff) {
				return nil, sqlerr.NotSupported("BACKUP with CHECKSUM = FALSE")
			}
		case ast.BRIEOptionLastBackupTS:
			if out.Previous, err = localPlace(o.StrValue); err != nil {
				return nil, err
			}
		default:
			return nil, sqlerr.NotSupported("BACKUP with " + o.Tp.String())
		}
	}
	return out, nil
}

// localPlace is the path of a place for backups, which is a path with or without
// local:// or file:// before it.
func localPlace(place string) (string, error) {
	scheme, rest, ok := strings.Cut(place, "://")
	switch {
	case !ok:
		rest = place
	case !strings.EqualFold(scheme, "local") && !strings.EqualFold(scheme, "file"):
		return "", sqlerr.NotSupported("BACKUP in " + scheme + "://")
	}
	if rest == "" {
		return "", sqlerr.WrongArguments("BACKUP")
	}
	return rest, nil
}
