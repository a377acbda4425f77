package bench

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// pristine reports whether the table is as it was loaded: the same number of rows and
// the same sums.
func pristine(ctx context.Context, t *target, d *dataset) (bool, error) {
	got, err := fetch(ctx, t.db, "SELECT COUNT(*), SUM(start), SUM(duration), SUM(station) FROM calls")
	if err != nil {
		return false, err
	}
	var starts, durations, stations int64
	for i := range d.Rows {
		c := d.row(i)
		starts += c.start - firstStart // the plain sum could overflow
		durations += c.duration
		stations += c.station
	}
	if len(got) != 1 || got[0][0] != strconv.FormatInt(d.Rows, 10) {
		return false, nil
	}
	var sum int64
	if _, err := fmt.Sscan(got[0][1], &sum); err != nil {
		return false, fmt.Errorf("SUM(start) is %q: %w", got[0][1], err)
	}
	return sum == starts+firstStart*d.Rows && slices.Equal(got[0][2:], text(durations, stations)), nil
}

// fetch returns all rows as text, NULL as "NULL".
func fetch(ctx context.Context, db *sql.DB, query string) ([][]string, error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", query, err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", query, err)
	}
	var out [][]string
	cells := make([]sql.NullString, len(columns))
	dest := make([]any, len(columns))
	for i := range cells {
		dest[i] = &cells[i]
	}
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return nil, fmt.Errorf("%s: %w", query, err)
		}
		row := make([]string, len(cells))
		for i, c := range cells {
			row[i] = "NULL"
			if c.Valid {
				row[i] = c.String
			}
		}
		out = append(out, row)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", query, err)
	}
	return out, nil
}

// fill puts the arguments into the statement's question marks.
func fill(dst []byte, query string, args []int64) []byte {
	for _, v := range args {
		before, after, ok := strings.Cut(query, "?")
		if !ok {
			break
		}
		dst = strconv.AppendInt(append(dst, before...), v, 10)
		query = after
	}
	return append(dst, query...)
}

// queriesOf draws n operations of a workload, always the same.
func queriesOf(w *world, wl *workload, n int) [][]int64 {
	r := newRandom(w.Seed, wl.name, 1_000_000)
	if wl.draw(w, r, nil) == nil {
		n = 1 // without parameters there is one query only
	}
	r = newRandom(w.Seed, wl.name, 1_000_000)
	out := make([][]int64, n)
	for i := range out {
		out[i] = wl.draw(w, r, nil)
	}
	return out
}

// verifyTruth compares a few answers with the data set. The table must be
// pristine.
func verifyTruth(ctx context.Context, t *target, w *world, wl *workload) error {
	const queries = 3
	for _, args := range queriesOf(w, wl, queries) {
		query := string(fill(nil, wl.sql, args))
		got, err := fetch(ctx, t.db, query)
		if err != nil {
			return fmt.Errorf("%s of %s: %w", wl.name, t.name, err)
		}
		if err := sameRows(wl.truth(w.dataset, args), got); err != nil {
			return fmt.Errorf("%s: wrong answer of %s to %q: %w", wl.name, t.name, query, err)
		}
	}
	return nil
}

// verifyPair compares the answers of two targets to n operations.
func verifyPair(ctx context.Context, a, b *target, w *world, wl *workload, n int) error {
	for _, args := range queriesOf(w, wl, n) {
		query := string(fill(nil, wl.sql, args))
		fromA, err := fetch(ctx, a.db, query)
		if err != nil {
			return fmt.Errorf("%s of %s: %w", wl.name, a.name, err)
		}
		fromB, err := fetch(ctx, b.db, query)
		if err != nil {
			return fmt.Errorf("%s of %s: %w", wl.name, b.name, err)
		}
		if err := sameRows(fromB, fromA); err != nil {
			return fmt.Errorf("%s: %s and %s disagree on %q: %w", wl.name, b.name, a.name, query, err)
		}
	}
	return nil
}

func sameRows(want, got [][]string) error {
	for i := range max(len(want), len(got)) {
		switch {
		case i >= len(want):
			return fmt.Errorf("row %d: expected the end, got %v", i+1, got[i])
		case i >= len(got):
			return fmt.Errorf("row %d: expected %v, got the end", i+1, want[i])
		case !slices.Equal(want[i], got[i]):
			return fmt.Errorf("row %d: expected %v, got %v", i+1, want[i], got[i])
		}
	}
	return nil
}
