package stress

import (
	"database/sql"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/sqlots/sqlots/internal/childserver"
	"github.com/sqlots/sqlots/server"
)

func TestMain(m *testing.M) {
	childserver.Main(func(arg string) server.Config {
		n := runtime.GOMAXPROCS(0)
		runtime.GOMAXPROCS(n + (n+1)/2) // as the command does
		memory, dir, _ := strings.Cut(arg, " ")
		bytes, err := strconv.ParseInt(memory, 10, 64)
		if err != nil {
			panic(err)
		}
		return server.Config{DataDir: dir, Memory: bytes}
	})
	os.Exit(m.Run())
}

func startChild(t *testing.T, dir string, memory int64) *childserver.Child {
	t.Helper()
	return childserver.Start(t, strconv.FormatInt(memory, 10)+" "+dir)
}

func connect(t *testing.T, addr, database string) *sql.DB {
	t.Helper()
	cfg := mysql.NewConfig()
	cfg.User, cfg.Net, cfg.Addr, cfg.DBName, cfg.Logger = "root", "tcp", addr, database, &mysql.NopLogger{}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { db.Close() })
	return db
}
