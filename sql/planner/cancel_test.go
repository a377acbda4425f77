package planner_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner"
)

var errKilled = errors.New("killed")

// killer is an estimator at whose call with number at a statement is killed.
type killer struct {
	*testCatalog
	kill      context.CancelCauseFunc
	calls, at int
}

func (k *killer) TableRows(ctx context.Context, t *schema.Table) float64 {
	if k.calls++; k.calls == k.at {
		k.kill(errKilled)
	}
	return k.testCatalog.TableRows(ctx, t)
}

// TestPlanEndsWithItsContext: wherever a planning is ended, Plan returns the
// cause, and requests no more estimates than those of the table that it was
// about.
func TestPlanEndsWithItsContext(t *testing.T) {
	c := newTestCatalog()
	for i := range 6 {
		if msg := c.ddl(fmt.Sprintf("CREATE TABLE t%d (id INT PRIMARY KEY, a INT, b INT, KEY a (a), KEY b (b, a))", i)); msg != "" {
			t.Fatal(msg)
		}
	}
	for _, sql := range []string{
		"SELECT * FROM t0 JOIN t1 ON t0.a = t1.id JOIN t2 ON t1.a = t2.id JOIN t3 ON t2.a = t3.b WHERE t0.b > 5 ORDER BY t0.id LIMIT 3",
		"SELECT a, (SELECT MAX(b) FROM t1 WHERE t1.a = t0.a) FROM t0 WHERE EXISTS (SELECT 1 FROM t2 WHERE t2.a = t0.b) AND b = 3",
		"SELECT a FROM t0 WHERE b > 1 UNION SELECT a FROM t1 WHERE b > 1",
		"UPDATE t0 SET a = 1 WHERE b BETWEEN 2 AND 9",
	} {
		for at, done := 1, false; !done; at++ {
			st, err := c.bind(sql) // rules change subqueries in place
			if err != nil {
				t.Fatal(err)
			}
			ctx, kill := context.WithCancelCause(t.Context())
			k := &killer{testCatalog: c, kill: kill, at: at}
			be := &expr.BindEnv{Collation: schema.CollationUTF8MB40900AICI}
			plan, err := planner.Plan(ctx, st, planner.Options{Est: k, Ctx: &expr.Ctx{Context: ctx}, Bind: be, Parallelism: 2})
			done = k.calls < at
			switch {
			case done && (err != nil || at < 3):
				t.Errorf("%s: %v after %d estimates", sql, err, k.calls)
			case !done && (!errors.Is(err, errKilled) || plan != nil):
				t.Fatalf("%s: killed at estimate %d: %v", sql, at, err)
			case !done && k.calls > at+25:
				t.Errorf("%s: killed at estimate %d, and %d more were made", sql, at, k.calls-at)
			}
			kill(nil)
		}
	}
}
