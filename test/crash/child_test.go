package crash

import (
	"os"
	"testing"

	"github.com/sqlots/sqlots/internal/childserver"
	"github.com/sqlots/sqlots/server"
)

func TestMain(m *testing.M) {
	childserver.Main(func(dir string) server.Config { return server.Config{DataDir: dir, Memory: 256 << 20} })
	os.Exit(m.Run())
}
