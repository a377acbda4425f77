package bench

import (
	"context"
	"fmt"
	"strconv"
)

// The queue workloads read pages of a table of messages, which is made when
// they run for the first time. Messages are a pure function of their key.

const (
	queues     = 1000 // ids count from 1
	pageRows   = 30
	queueSQL   = "SELECT seq, sender, body FROM messages WHERE id = ? AND seq > ? ORDER BY seq LIMIT 30"
	freshSQL   = "SELECT seq, sender, body FROM fresh WHERE id = ? AND seq > ? ORDER BY seq LIMIT 30"
	freshPoint = "SELECT seq, sender, body FROM fresh WHERE id = ? AND seq = ?"
	messageDDL = " (id BIGINT NOT NULL, seq BIGINT NOT NULL, sender BIGINT NOT NULL, body VARCHAR(100) NOT NULL, PRIMARY KEY (id, seq))"
)

// queueLen is the number of messages of each queue: half as many in all as
// there are calls, but a page in each.
func (s Sizes) queueLen() int64 { return max(pageRows, s.Rows/2/queues) }

// message computes the message (id, seq).
func (d *dataset) message(id, seq int64) (sender int64, body string) {
	sender = d.cellAt(int64(mix(d.Seed^uint64(id)<<32^uint64(seq)) % uint64(d.Cells)))
	return sender, fmt.Sprintf("message %d to %d from %d", seq, id, sender)
}

// writeMessages makes the table unless it is there whole.
func writeMessages(ctx context.Context, t *target, d *dataset) error {
	n := strconv.FormatInt(queues*d.queueLen(), 10)
	count := func() bool {
		rows, err := fetch(ctx, t.db, "SELECT COUNT(*), MAX(seq) FROM messages")
		return err == nil && rows[0][0] == n && rows[0][1] == strconv.FormatInt(d.queueLen(), 10)
	}
	if count() {
		return nil
	}
	if err := fillMessages(ctx, t, d, "messages", d.queueLen()); err != nil {
		return err
	}
	if !count() {
		return fmt.Errorf("the table of messages of %s has not %s rows", t.name, n)
	}
	return nil
}

// freshLen is the number of messages of each queue in the table fresh.
const freshLen = 100

// writeFresh makes the small table fresh again, so that its rows have just been
// written.
func writeFresh(ctx context.Context, t *target, d *dataset) error {
	return fillMessages(ctx, t, d, "fresh", freshLen)
}

// fillMessages makes a table of messages, each queue of length n.
func fillMessages(ctx context.Context, t *target, d *dataset, table string, n int64) error {
	for _, s := range []string{"DROP TABLE IF EXISTS " + table, "CREATE TABLE " + table + messageDDL} {
		if _, err := t.db.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	const perStatement = 10
	var text []byte
	for from := int64(1); from <= queues; from += perStatement {
		text = append(text[:0], "INSERT INTO "+table+" VALUES "...)
		for id := from; id < from+perStatement; id++ {
			for seq := int64(1); seq <= n; seq++ {
				sender, body := d.message(id, seq)
				text = fmt.Appendf(text, "(%d,%d,%d,'%s'),", id, seq, sender, body)
			}
		}
		if _, err := t.db.ExecContext(ctx, string(text[:len(text)-1])); err != nil {
			return fmt.Errorf("filling %s: %w", table, err)
		}
	}
	return nil
}

// drawPage draws a queue and a checkpoint with a page after it.
func drawPage(w *world, r *random, args []int64) []int64 {
	return append(args, 1+r.below(queues), r.below(w.queueLen()-pageRows+1))
}

func truthPage(d *dataset, args []int64) (out [][]string) {
	for seq := args[1] + 1; seq <= args[1]+pageRows; seq++ {
		sender, body := d.message(args[0], seq)
		out = append(out, append(text(seq, sender), body))
	}
	return out
}

func queueWorkloads() []workload {
	page := workload{
		about: "a page of 30 messages behind a checkpoint", sql: queueSQL, setup: writeMessages, draw: drawPage,
		rows: func(*world, []int64) int64 { return pageRows }, truth: truthPage,
	}
	asText, prepared := page, page
	asText.name, prepared.name, prepared.prepared = "queue_text", "queue_prepared", true
	asText.about += ", text protocol"
	prepared.about += ", prepared statement"
	fresh := prepared
	fresh.name, fresh.about, fresh.sql, fresh.setup = "queue_fresh", "the same on a small table that has just been written", freshSQL, writeFresh
	fresh.draw = func(_ *world, r *random, args []int64) []int64 {
		return append(args, 1+r.below(queues), r.below(freshLen-pageRows+1))
	}
	point := workload{
		name: "point_fresh", about: "one row of such a table by its primary key", sql: freshPoint, prepared: true,
		setup: writeFresh, rows: oneRow,
		draw: func(_ *world, r *random, args []int64) []int64 {
			return append(args, 1+r.below(queues), 1+r.below(freshLen))
		},
		truth: func(d *dataset, args []int64) [][]string {
			sender, body := d.message(args[0], args[1])
			return [][]string{append(text(args[1], sender), body)}
		},
	}
	return []workload{asText, prepared, point, fresh}
}
