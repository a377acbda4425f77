package sysvar_test

import (
	"strings"
	"testing"

	gms "github.com/dolthub/go-mysql-server/sql"
	gmstypes "github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/go-mysql-server/sql/variables"

	"github.com/sqlots/sqlots/sql/sysvar"
)

// Where go-mysql-server, whose list has variables of MySQL 5.7, 8.0 and MariaDB,
// knows a variable of MySQL 8.4, it is of the same kind here.
func TestVariablesOfLibrary(t *testing.T) {
	variables.InitSystemVariables()
	compared := 0
	for name := range gms.SystemVariables.GetAllGlobalVariables() {
		v, _, ok := gms.SystemVariables.GetGlobal(name)
		mv, isMySQL := v.(*gms.MysqlSystemVariable)
		if !ok || !isMySQL || strings.HasPrefix(name, "dolt") || strings.HasPrefix(name, "gms_") {
			continue
		}
		d := sysvar.Definitions().Lookup(name)
		if d == nil {
			continue // not MySQL 8.4's
		}
		compared++
		if _, isBool := mv.Type.(gmstypes.SystemBoolType); isBool && !d.Bool && !otherKind[name] {
			t.Errorf("%s is a boolean there, %v here", name, d.Type)
		}
	}
	if compared < 250 {
		t.Errorf("%d variables compared", compared)
	}
}

// otherKind are those whose kind in MySQL 8.4 is not the library's.
var otherKind = map[string]bool{"have_statement_timeout": true, "updatable_views_with_limit": true}
