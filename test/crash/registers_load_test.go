package crash

import (
	"database/sql"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

const registers = 8

// registerLoad reads, writes, and compares and sets single rows, each operation
// a transaction of its own. Each row is linearizable, across crashes too.
type registerLoad struct {
	r      *isoRun
	mu     sync.Mutex
	ops    [registers][]porcupine.Operation
	before [registers]int64
	// maybe are the values of writes that were not answered, and when they began.
	maybe [registers]map[int64]time.Duration
}

type registerOp struct {
	kind     byte // 'r'ead, 'w'rite, 'c'ompare and set
	old, new int64
}

type registerOut struct {
	value   int64 // of a read
	done    bool  // of compare and set
	unknown bool
}

func newRegisterLoad(r *isoRun) *registerLoad { return &registerLoad{r: r} }

func (g *registerLoad) share() int { return 4 }

func (g *registerLoad) create(db *sql.DB) {
	g.r.must(db, "CREATE TABLE iso.reg (id INT PRIMARY KEY, other INT NOT NULL, v BIGINT NOT NULL, UNIQUE KEY by_other (other), KEY by_v (v))")
	for i := range registers {
		g.r.must(db, fmt.Sprintf("INSERT INTO iso.reg VALUES (%d, %d, 0)", i, i+100))
	}
}

func (g *registerLoad) state(db *sql.DB) (out [registers]int64) {
	n := 0
	g.r.all(db, func(rows *sql.Rows) error {
		var id int
		var v int64
		err := rows.Scan(&id, &v)
		out[id] = v
		n++
		return err
	}, "SELECT id, v FROM iso.reg")
	if n != registers {
		g.r.t.Errorf("epoch %d: registers: %d rows instead of %d", g.r.epoch, n, registers)
	}
	return out
}

func (g *registerLoad) begin(db *sql.DB) {
	g.before = g.state(db)
	for i := range registers {
		g.ops[i], g.maybe[i] = nil, map[int64]time.Duration{}
	}
}

func (g *registerLoad) end(db *sql.DB) {
	now := g.state(db)
	for key := range registers {
		var ops []porcupine.Operation
		for _, op := range g.ops[key] {
			if !g.sawUnknown(key, op) {
				ops = append(ops, op)
			}
		}
		last := int64(g.r.now())
		ops = append(ops, porcupine.Operation{ClientId: 0, Input: registerOp{kind: 'r'}, Output: registerOut{value: now[key]}, Call: last, Return: last + 1})
		g.r.reads.Add(int64(len(ops)))
		if porcupine.CheckOperationsTimeout(registerModel(g.before[key]), ops, time.Minute) == porcupine.Illegal {
			g.r.t.Errorf("epoch %d: register %d is not linearizable: it was %d and is %d after %d operations", g.r.epoch, key, g.before[key], now[key], len(ops))
			for _, op := range ops {
				g.r.t.Logf("client %d, %v to %v: %+v %+v", op.ClientId, time.Duration(op.Call), time.Duration(op.Return), op.Input, op.Output)
			}
		}
	}
}

// sawUnknown reports whether an operation may have seen a write that the crash
// took: a commit is visible a moment before it is on disk.
func (g *registerLoad) sawUnknown(key int, op porcupine.Operation) bool {
	in, out := op.Input.(registerOp), op.Output.(registerOut)
	switch {
	case in.kind == 'r':
		_, maybe := g.maybe[key][out.value]
		return maybe
	case in.kind == 'c' && !out.done && !out.unknown:
		for _, began := range g.maybe[key] {
			if int64(began) < op.Return {
				return true
			}
		}
	}
	return false
}

func registerModel(initial int64) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return initial },
		Step: func(state, input, output any) (bool, any) {
			v, in, out := state.(int64), input.(registerOp), output.(registerOut)
			switch {
			case in.kind == 'r':
				return out.value == v, v
			case in.kind == 'w' || in.old == v && (out.done || out.unknown):
				return true, in.new
			}
			return in.old != v && !out.done || out.unknown, v
		},
	}
}

func (g *registerLoad) work(c *isoConn) error {
	key := c.rng.IntN(registers)
	in, out := registerOp{kind: "rrwc"[c.rng.IntN(4)]}, registerOut{}
	client := int(c.fresh())
	if in.kind == 'c' {
		var err error
		if in.old, _, err = c.number("SELECT v FROM iso.reg WHERE id = ?", key); err != nil {
			return err
		}
	}
	in.new = c.fresh()
	call := c.now()
	err := g.do(c, key, in, &out)
	back := int64(c.now())
	if err != nil && in.kind == 'r' {
		return err
	}
	if err != nil {
		// Also of a statement that KILL QUERY ended: it has no trace, which is
		// one of the two outcomes.
		out.unknown, back = true, math.MaxInt64
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if out.unknown {
		g.maybe[key][in.new] = call
	}
	g.ops[key] = append(g.ops[key], porcupine.Operation{ClientId: client, Input: in, Output: out, Call: int64(call), Return: back})
	return err
}

func (g *registerLoad) do(c *isoConn, key int, in registerOp, out *registerOut) error {
	switch in.kind {
	case 'r':
		var err error
		found := false
		switch c.rng.IntN(5) {
		case 0:
			out.value, found, err = c.number("SELECT v FROM iso.reg WHERE other = ?", key+100)
		case 1:
			out.value, found, err = c.number("SELECT v FROM iso.reg FORCE INDEX (by_v) WHERE v >= 0 AND id = ?", key)
		case 2:
			out.value, found, err = c.number("SELECT v FROM iso.reg WHERE id = ? FOR SHARE", key)
		default:
			out.value, found, err = c.number("SELECT v FROM iso.reg WHERE id = ?", key)
		}
		if err == nil && !found {
			g.r.t.Errorf("epoch %d: register %d has no row", g.r.epoch, key)
		}
		return err
	case 'w':
		var err error
		switch c.rng.IntN(4) {
		case 0:
			_, err = c.exec("REPLACE INTO iso.reg VALUES (?, ?, ?)", key, key+100, in.new)
		case 1:
			_, err = c.exec("INSERT INTO iso.reg VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE v = VALUES(v)", key, key+100, in.new)
		case 2:
			_, err = c.exec("UPDATE iso.reg SET v = ? WHERE other = ?", in.new, key+100)
		default:
			_, err = c.exec("UPDATE iso.reg SET v = ? WHERE id = ?", in.new, key)
		}
		return err
	}
	where := "id = ? AND v = ?"
	if c.rng.IntN(2) == 0 {
		where = "? = id AND v IN (?, -1)"
	}
	res, err := c.exec("UPDATE iso.reg SET v = ? WHERE "+where, in.new, key, in.old)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	out.done = n == 1
	return err
}
