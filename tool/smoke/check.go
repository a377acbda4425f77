package smoke

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Check compares what the server has with what it acknowledged, while no transfer is under
// way. Each finding is a sentence. The error is that of a check that could not be made.
func (b *Bank) Check(ctx context.Context, db *sql.DB) (findings []string, err error) {
	there, findings, err := b.transfers(ctx, db)
	if err != nil {
		return nil, err
	}
	for _, c := range b.counts(there) {
		n, err := number(ctx, db, c.sql)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.sql, err)
		}
		if n != c.want {
			findings = append(findings, fmt.Sprintf("%s: %d, not %d (%s)", c.what, n, c.want, c.sql))
		}
	}
	for _, table := range []string{"account", "transfer"} {
		q := fmt.Sprintf("CHECK TABLE %s.%s", b.Database, table)
		text, err := checkTable(ctx, db, q)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", q, err)
		}
		if text != "OK" {
			findings = append(findings, q+": "+text)
		}
	}
	return findings, nil
}

// indexPatience is how long a search index may take to be ready on a new server.
const indexPatience = time.Minute

// checkTable is the message of CHECK TABLE, once search indexes are ready.
func checkTable(ctx context.Context, db *sql.DB, q string) (string, error) {
	for until := time.Now().Add(indexPatience); ; {
		var name, op, kind, text string
		if err := db.QueryRowContext(ctx, q).Scan(&name, &op, &kind, &text); err != nil {
			return "", err
		}
		if !strings.Contains(text, "is not ready") || time.Now().After(until) {
			return text, nil
		}
		pause(ctx, 100*time.Millisecond)
	}
}

// CheckSum compares the money with what there was, in a snapshot: also while transfers are
// under way.
func (b *Bank) CheckSum(ctx context.Context, db *sql.DB) (findings []string, err error) {
	n, err := number(ctx, db, b.sum())
	if err != nil || n == accounts*initial {
		return nil, err
	}
	return []string{fmt.Sprintf("money in a snapshot: %d, not %d", n, accounts*initial)}, nil
}

func (b *Bank) sum() string { return fmt.Sprintf("SELECT SUM(n) FROM %s.account", b.Database) }

// transfers compares the transfers in the table with those that were acknowledged or
// refused. there is their count.
func (b *Bank) transfers(ctx context.Context, db *sql.DB) (there int, findings []string, err error) {
	rows, err := db.QueryContext(ctx, fmt.Sprintf("SELECT id FROM %s.transfer ORDER BY id", b.Database))
	if err != nil {
		return 0, nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	missing := func(from, to int) {
		for id := from; id < to; id++ {
			if b.ended[id-1] == acknowledged {
				findings = append(findings, fmt.Sprintf("transfer %d was acknowledged, and is lost", id))
			}
		}
	}
	next := 1 // after the last one
	for rows.Next() {
		var id int
		if err := rows.Scan(&id); err != nil {
			return 0, nil, err
		}
		there++
		switch {
		case id < 1 || id > len(b.ended):
			findings = append(findings, fmt.Sprintf("transfer %d was not made here", id))
			continue
		case b.ended[id-1] == refused:
			findings = append(findings, fmt.Sprintf("transfer %d was refused, and is there", id))
		}
		missing(next, id)
		next = id + 1
	}
	missing(next, len(b.ended)+1)
	return there, findings, rows.Err()
}

// count is a question with a number as its answer.
type count struct {
	what string
	sql  string
	want int
}

// counts are the questions where there are so many transfers.
func (b *Bank) counts(there int) []count {
	return []count{
		{"money", b.sum(), accounts * initial},
		{"accounts that differ from their transfers", fmt.Sprintf(`SELECT COUNT(*) FROM %[1]s.account LEFT JOIN
			(SELECT id, SUM(n) AS n FROM (SELECT a AS id, -n AS n FROM %[1]s.transfer UNION ALL SELECT b, n FROM %[1]s.transfer) m GROUP BY id) m
			USING (id) WHERE account.n <> %[2]d + COALESCE(m.n, 0)`, b.Database, initial), 0},
		{"entries of an index", fmt.Sprintf("SELECT COUNT(*) FROM %s.transfer FORCE INDEX (a)", b.Database), there},
		{"entries of a unique index", fmt.Sprintf("SELECT COUNT(*) FROM %s.transfer FORCE INDEX (b)", b.Database), there},
		{"values in the search index", fmt.Sprintf("SELECT COUNT(*) FROM %s.transfer FORCE INDEX (s) WHERE a > 0", b.Database), there},
		{"words in the search index", fmt.Sprintf("SELECT COUNT(*) FROM %s.transfer FORCE INDEX (s) WHERE MATCH (note) AGAINST ('transfer')", b.Database), there},
		{"records of the change log", fmt.Sprintf("SELECT COUNT(*) FROM stream('%s.transfer') WHERE kind = 'insert'", b.Database), there},
		{"transfers in the change log", fmt.Sprintf("SELECT COUNT(DISTINCT pk) FROM stream('%s.transfer') WHERE kind = 'insert'", b.Database), there},
	}
}

// number is the answer to a question.
func number(ctx context.Context, db *sql.DB, q string) (n int, err error) {
	err = db.QueryRowContext(ctx, q).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
