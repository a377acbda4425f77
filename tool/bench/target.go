package bench

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/go-sql-driver/mysql"
)

const defaultDatabase = "sqlots_bench"

// target is one server. Safe for concurrent use.
type target struct {
	name    string // A or B
	cfg     *mysql.Config
	db      *sql.DB // for everything that is not measured
	version string
	durable string // what a commit waits for, as far as the server reports it
	pid     int    // 0 when unknown
}

// openTarget connects, creates the database if needed, and identifies the server.
func openTarget(ctx context.Context, name, dsn string, pid int) (*target, error) {
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, fmt.Errorf("parsing the data source name: %w", err)
	}
	if cfg.TLSConfig != "" || cfg.TLS != nil {
		return nil, errors.New("the bench does not measure over TLS; leave tls out of the data source name")
	}
	cfg.ParseTime, cfg.InterpolateParams = false, true
	database := cfg.DBName
	if database == "" {
		database = defaultDatabase
	}
	cfg.DBName = ""
	if err := createDatabase(ctx, cfg, database); err != nil {
		return nil, fmt.Errorf("target %s (%s): %w", name, cfg.Addr, err)
	}
	cfg.DBName = database
	t := &target{name: name, cfg: cfg, pid: pid}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("target %s: %w", name, err)
	}
	t.db = sql.OpenDB(connector)
	if err := t.identify(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("target %s (%s): %w", name, cfg.Addr, err), t.db.Close())
	}
	if t.pid == 0 {
		t.pid = findServer(cfg.Net, cfg.Addr)
	}
	return t, nil
}

func createDatabase(ctx context.Context, cfg *mysql.Config, database string) (err error) {
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(ctx, "CREATE DATABASE IF NOT EXISTS `"+strings.ReplaceAll(database, "`", "``")+"`")
	return err
}

func (t *target) identify(ctx context.Context) error {
	var version, comment string
	if err := t.db.QueryRowContext(ctx, "SELECT VERSION(), @@version_comment").Scan(&version, &comment); err != nil {
		return fmt.Errorf("asking for the version: %w", err)
	}
	t.version = version
	if !strings.Contains(strings.ToLower(version), strings.ToLower(comment)) {
		t.version += " (" + comment + ")"
	}
	var flush string
	err := t.db.QueryRowContext(ctx, "SELECT @@global.innodb_flush_log_at_trx_commit").Scan(&flush)
	switch {
	case err != nil:
		t.durable = "durability unknown"
	case flush == "1":
		t.durable = "durable commits"
	default:
		t.durable = "innodb_flush_log_at_trx_commit=" + flush
	}
	return nil
}

// form resolves auto by the server's version.
func (t *target) form(f ddlForm) ddlForm {
	if f != ddlAuto {
		return f
	}
	if strings.Contains(strings.ToLower(t.version), "sqlots") {
		return ddlSqlots
	}
	return ddlPortable
}

func (t *target) String() string {
	s := fmt.Sprintf("%s: %s, %s, %s", t.name, t.cfg.Addr, t.version, t.durable)
	if t.pid != 0 {
		s += fmt.Sprintf(", process %d", t.pid)
	}
	return s
}

func (t *target) close() error { return t.db.Close() }
