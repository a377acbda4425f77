package parser

import (
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
)

func TestMain(m *testing.M) { testflag.Main(m) }
