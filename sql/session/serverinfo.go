package session

import (
	"github.com/sqlots/sqlots/sql/expr"
)

var _ expr.ServerInfo = (*functions)(nil)
