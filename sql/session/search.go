package session

import (
	"github.com/sqlots/sqlots/sql/expr"
)

var _ expr.MatchStats = (*functions)(nil)
