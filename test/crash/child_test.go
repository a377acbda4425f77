package crash

import (
	"os"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/childserver"
	"github.com/sqlots/sqlots/search"
	"github.com/sqlots/sqlots/server"
)

func TestMain(m *testing.M) {
	childserver.Main(func(dir string) server.Config {
		// Files of search indexes are merged in each short pause of the writers.
		return server.Config{DataDir: dir, Memory: 256 << 20, SearchKnobs: search.Knobs{MergeAfter: 5 * time.Millisecond}}
	})
	os.Exit(m.Run())
}
