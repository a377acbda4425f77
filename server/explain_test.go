package server_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestExplainForConnection shows the plan of a statement that runs.
func TestExplainForConnection(t *testing.T) {
	_, dsn := startServer(t)
	c, other := dial(t, dsn), dial(t, dsn)
	c.exec("CREATE TABLE a (id INT PRIMARY KEY, v INT)")
	c.exec("INSERT INTO a VALUES (1, 1), (2, 2)")
	c.fails(1094, "EXPLAIN FOR CONNECTION 999999")
	c.fails(3012, fmt.Sprintf("EXPLAIN FOR CONNECTION %d", other.id))
	done := make(chan error, 1)
	go func() {
		_, err := other.c.ExecContext(context.Background(), "SELECT SLEEP(20) FROM a WHERE v = ? OR id = 77", 1)
		done <- err
	}()
	ask := fmt.Sprintf("EXPLAIN FORMAT=TREE FOR CONNECTION %d", other.id)
	got := ""
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if text, err := c.query(ask); err == nil {
			got = text
			break
		}
	}
	if !strings.Contains(got, "full scan on a@PRIMARY") {
		t.Errorf("plan %q", got)
	}
	if got, err := c.query(fmt.Sprintf("EXPLAIN FOR CONNECTION %d", other.id)); err != nil || !strings.Contains(got, "SIMPLE,a") {
		t.Errorf("rows %q, %v", got, err)
	}
	if got, err := c.query(fmt.Sprintf("EXPLAIN FORMAT=JSON FOR CONNECTION %d", other.id)); err != nil || !strings.Contains(got, "{") {
		t.Errorf("JSON %q, %v", got, err)
	}
	c.exec(fmt.Sprintf("KILL QUERY %d", other.id))
	if err := <-done; errorNumber(err) != 1317 && err != nil {
		t.Error(err)
	}
	c.fails(3012, ask)
}
