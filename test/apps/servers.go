package main

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	_ "github.com/go-sql-driver/mysql" // the driver
)

// sqlMode is that of both servers.
const sqlMode = "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"

// srv is a running server.
type srv struct {
	name string
	port string
	db   *sql.DB
	cmd  *exec.Cmd
}

func startSqlots(dir string) (*srv, error) {
	binary := filepath.Join(dir, "sqlots")
	if out, err := exec.Command("go", "build", "-o", binary, "./cmd/sqlots").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w: %s", err, out)
	}
	data := filepath.Join(dir, "ours")
	if err := os.Mkdir(data, 0o755); err != nil {
		return nil, err
	}
	return start("sqlots", func(port string) *exec.Cmd {
		return exec.Command(binary, "serve", "--data", data, "--listen", "127.0.0.1:"+port)
	})
}

func startMariaDB(dir string) (*srv, error) {
	data := filepath.Join(dir, "maria")
	install := exec.Command("mariadb-install-db", "--no-defaults", "--user=root", "--datadir="+data, "--auth-root-authentication-method=normal", "--skip-test-db")
	if out, err := install.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("mariadb-install-db: %w: %s", err, out)
	}
	return start("MariaDB", func(port string) *exec.Cmd {
		return exec.Command("mariadbd", "--no-defaults", "--user=root", "--datadir="+data, "--port="+port, "--bind-address=127.0.0.1",
			"--socket="+filepath.Join(data, "s"), "--character-set-server=utf8mb4", "--collation-server=utf8mb4_general_ci", "--explicit-defaults-for-timestamp=1")
	})
}

// start runs a server on a free port, and waits until it answers.
func start(name string, command func(port string) *exec.Cmd) (*srv, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	var log bytes.Buffer
	s := &srv{name: name, port: port, cmd: command(port)}
	s.cmd.Stdout, s.cmd.Stderr = &log, &log
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	if s.db, err = sql.Open("mysql", "root@tcp(127.0.0.1:"+port+")/"); err != nil {
		return nil, err
	}
	for range 300 {
		if s.db.Ping() == nil {
			return s, s.prepare()
		}
		time.Sleep(100 * time.Millisecond)
	}
	s.stop()
	return nil, fmt.Errorf("%s does not answer: %s", name, log.String())
}

// prepare has the settings of both servers be the same.
func (s *srv) prepare() error {
	list := []string{"SET GLOBAL sql_mode = '" + sqlMode + "'", "CREATE USER IF NOT EXISTS root@'%'", "GRANT ALL ON *.* TO root@'%' WITH GRANT OPTION"}
	if s.name == "sqlots" {
		list = append(list, "SET GLOBAL restrict_fk_on_non_standard_key = OFF")
	}
	for _, text := range list {
		if _, err := s.db.Exec(text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

func (s *srv) stop() {
	_ = s.db.Close()                                                           // no statement runs
	_ = s.cmd.Process.Signal(os.Interrupt)                                     // MariaDB ignores it
	kill := time.AfterFunc(2*time.Second, func() { _ = s.cmd.Process.Kill() }) // it may have ended
	_ = s.cmd.Wait()                                                           // the data are thrown away
	kill.Stop()
}

// create makes an empty database.
func (s *srv) create(db string) error {
	_, err := s.db.Exec("DROP DATABASE IF EXISTS " + db)
	if err == nil {
		_, err = s.db.Exec("CREATE DATABASE " + db + " CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci")
	}
	return err
}

// load runs a file in the shell, to its end, and returns its errors.
func (s *srv) load(db string, text []byte) ([]string, error) {
	cmd := exec.Command("mysql", "--no-defaults", "-h127.0.0.1", "-P"+s.port, "-uroot", "--default-character-set=utf8mb4", "-f", db)
	var out bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(text), &out
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	var failures []string
	for line := range strings.Lines(out.String()) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "ERROR ") {
			failures = append(failures, line)
		}
	}
	return failures, nil
}

// dump is what mysqldump makes of a database.
func (s *srv) dump(db string) ([]byte, error) {
	cmd := exec.Command("mysqldump", "--no-defaults", "-h127.0.0.1", "-P"+s.port, "-uroot", "--default-character-set=utf8mb4", "--hex-blob", db)
	var failed bytes.Buffer
	cmd.Stderr = &failed
	b, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("mysqldump of %s: %w: %s", s.name, err, failed.String())
	}
	return b, nil
}
