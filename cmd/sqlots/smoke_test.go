package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql" // the client

	"github.com/sqlots/sqlots/internal/servertest"
	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/errkv"
	"github.com/sqlots/sqlots/tool/smoke"
)

var bg = context.Background()

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func bankServer(t *testing.T, cfg server.Config) *server.Server {
	t.Helper()
	cfg.InMemory, cfg.Listen, cfg.Memory = true, "127.0.0.1:0", 128<<20
	s := servertest.Open(t, cfg)
	t.Cleanup(func() { must(t, s.Stop(time.Second)) })
	return s
}

// moved is a bank on a server after some transfers.
func moved(t *testing.T) (*smoke.Bank, *sql.DB) {
	t.Helper()
	db, err := sql.Open("mysql", "root@tcp("+bankServer(t, server.Config{}).Addr()+")/")
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	b := &smoke.Bank{Database: "d"}
	must(t, b.Create(bg, db))
	ctx, stop := context.WithTimeout(bg, 100*time.Millisecond)
	defer stop()
	b.Run(ctx, db, 4)
	return b, db
}

// TestSmokeFindings damages a bank, and looks for the finding.
func TestSmokeFindings(t *testing.T) {
	b, db := moved(t)
	if s := b.Stats(); s.Acknowledged == 0 || s.Acknowledged+s.Refused+s.Unknown < s.Acknowledged {
		t.Fatalf("%+v", s)
	}
	findings, err := b.Check(bg, db)
	must(t, err)
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	for _, x := range []struct{ damage, want string }{
		{"INSERT INTO d.transfer VALUES (1000000, 1, 1, 0, 'transfer')", "transfer 1000000 was not made here"},
		{"UPDATE d.account SET n = n + 1 WHERE id = 1", "money: 50001, not 50000"},
		{"UPDATE d.account SET n = n + IF(id = 1, -1, 1) WHERE id < 3", "accounts that differ from their transfers: "},
		{"UPDATE d.transfer SET note = 'x' WHERE id = 1", "words in the search index: "},
		{"DELETE FROM d.transfer WHERE id = 1", "transfer 1 was acknowledged, and is lost"},
		{"DELETE FROM d.transfer", "records of the change log: "},
	} {
		_, err := db.Exec(x.damage)
		must(t, err)
		findings, err := b.Check(bg, db)
		must(t, err)
		if !strings.Contains(strings.Join(findings, "\n"), x.want) {
			t.Errorf("%s: %q, without %q", x.damage, findings, x.want)
		}
	}
	findings, err = b.CheckSum(bg, db)
	must(t, err)
	if len(findings) != 1 {
		t.Fatal(findings)
	}
}

// smokeTest runs on servers that share a store, on which damage works between two turns.
func smokeTest(t *testing.T, damage func(addr string)) (string, error) {
	t.Helper()
	addr := bankServer(t, server.Config{MemoryStore: func() storage.Store { return errkv.NewFar(errkv.FarOptions{}) }}).Addr()
	var out bytes.Buffer
	refused := false
	err := smoke.Run(bg, smoke.Options{
		For: 1200 * time.Millisecond, Turn: 600 * time.Millisecond, Workers: 2, Patience: 5 * time.Second, Out: &out,
		Start: func(context.Context) (string, func(), error) {
			if !refused {
				refused = true
				return "", nil, errors.New("no store yet")
			}
			return addr, func() { damage(addr) }, nil
		},
	})
	return out.String(), err
}

func TestSmoke(t *testing.T) {
	testflag.Normal(t)
	t.Parallel()
	out, err := smokeTest(t, func(string) {})
	must(t, err)
	for _, want := range []string{"no store yet; trying again", "refused, 0 unknown", "a new server has all of", "nothing was lost"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestSmokeFinds(t *testing.T) {
	testflag.Normal(t)
	t.Parallel()
	out, err := smokeTest(t, func(addr string) {
		db, err := sql.Open("mysql", "root@tcp("+addr+")/")
		must(t, err)
		defer db.Close()
		_, err = db.Exec("DELETE FROM sqlots_smoke.transfer WHERE id = 1")
		must(t, err)
	})
	if !errors.Is(err, smoke.ErrLost) || !strings.Contains(out, "FOUND: transfer 1 was acknowledged, and is lost") {
		t.Fatalf("%v\n%s", err, out)
	}
}
