package search

import (
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
)

func TestMain(m *testing.M) { testflag.MainWaits(m, 8) }
