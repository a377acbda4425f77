package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	_ "github.com/duckdb/duckdb-go/v2"
	_ "github.com/go-sql-driver/mysql"

	"github.com/sqlots/sqlots/tool/bench"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "duckdb:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	dsn := flag.String("dsn", "root@tcp(127.0.0.1:4000)/sqlots_bench", "`address` of a server that sqlots bench load has filled")
	rounds := flag.Int("rounds", 15, "answers to each question, of which the fastest counts")
	sizes := bench.Sizes{Rows: 2_000_000, Cells: 1_000_000, Stations: 1000, Seed: 1}
	flag.Int64Var(&sizes.Rows, "rows", sizes.Rows, "number of calls, as loaded")
	flag.Int64Var(&sizes.Cells, "cells", sizes.Cells, "number of cells")
	flag.Int64Var(&sizes.Stations, "stations", sizes.Stations, "number of stations")
	flag.Uint64Var(&sizes.Seed, "seed", sizes.Seed, "seed of the data")
	flag.Parse()
	if err := sizes.Validate(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "duckdb")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	duck, err := sql.Open("duckdb", filepath.Join(dir, "calls.db"))
	if err != nil {
		return err
	}
	defer duck.Close()
	if err := fill(ctx, duck, dir, sizes); err != nil {
		return err
	}
	server, err := sql.Open("mysql", *dsn)
	if err != nil {
		return err
	}
	defer server.Close()
	var version, ours string
	if err := errors.Join(duck.QueryRowContext(ctx, "SELECT version()").Scan(&version), server.QueryRowContext(ctx, "SELECT VERSION()").Scan(&ours)); err != nil {
		return err
	}
	fmt.Printf("server %s, DuckDB %s; the fastest of %d answers, ms\n%-12s %10s %10s %8s\n", ours, version, *rounds, "question", "server", "DuckDB", "ratio")
	names, texts := bench.ColumnQuestions()
	for i, text := range texts {
		took, err := measure(ctx, []*sql.DB{server, duck}, text, *rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", names[i], err)
		}
		fmt.Printf("%-12s %10.2f %10.2f %8.2f\n", names[i], took[0], took[1], took[1]/took[0])
	}
	return nil
}

// fill makes the tables of DuckDB.
func fill(ctx context.Context, duck *sql.DB, dir string, sizes bench.Sizes) error {
	for _, t := range []struct {
		name, columns string
		rows          io.Reader
	}{
		{"calls", "cell BIGINT NOT NULL, start BIGINT NOT NULL, called BIGINT, duration BIGINT, station BIGINT, created_at TIMESTAMP", bench.Calls(sizes)},
		{"stations", "id BIGINT PRIMARY KEY, name VARCHAR NOT NULL, region INTEGER NOT NULL", bench.Stations(sizes)},
	} {
		file := filepath.Join(dir, t.name+".csv")
		out, err := os.Create(file)
		if err != nil {
			return err
		}
		_, err = io.Copy(out, t.rows)
		if err := errors.Join(err, out.Close()); err != nil {
			return err
		}
		for _, text := range []string{"CREATE TABLE " + t.name + " (" + t.columns + ")", "COPY " + t.name + " FROM '" + file + "' (HEADER false)", "CHECKPOINT"} {
			if _, err := duck.ExecContext(ctx, text); err != nil {
				return fmt.Errorf("filling %s: %w", t.name, err)
			}
		}
	}
	return nil
}

// measure gives the least time, in milliseconds, in which each of some databases
// answers, in turns; an error where their answers are different.
func measure(ctx context.Context, dbs []*sql.DB, text string, rounds int) ([]float64, error) {
	least := make([]float64, len(dbs))
	var first []string
	for round := range rounds + 1 {
		for i, db := range dbs {
			start := time.Now()
			rows, err := answer(ctx, db, text, round == 0)
			if err != nil {
				return nil, err
			}
			took := time.Since(start).Seconds() * 1000
			switch {
			case round > 0:
				if least[i] == 0 || took < least[i] {
					least[i] = took
				}
			case i == 0:
				first = rows
			case !slices.Equal(first, rows):
				return nil, fmt.Errorf("%d and %d rows differ, of which the first are %.200q and %.200q", len(first), len(rows), first, rows)
			}
		}
	}
	return least, nil
}

// answer reads all rows of an answer; keep returns them as sorted texts.
func answer(ctx context.Context, db *sql.DB, text string, keep bool) (out []string, err error) {
	rows, err := db.QueryContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	cols, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	vals, at := make([]any, len(cols)), make([]any, len(cols))
	for i := range vals {
		at[i] = &vals[i]
	}
	for rows.Next() {
		if err := rows.Scan(at...); err != nil {
			return nil, err
		}
		if keep {
			var row []string
			for _, v := range vals {
				row = append(row, show(v))
			}
			out = append(out, strings.Join(row, "|"))
		}
	}
	slices.Sort(out)
	return out, rows.Err()
}

// show is a value as text, numbers with four digits after the point: averages have
// as many with the one and all of a double with the other.
func show(v any) string {
	text := fmt.Sprint(v)
	if b, ok := v.([]byte); ok {
		text = string(b)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f == math.Trunc(f) && !strings.Contains(text, ".") {
		return text
	}
	return strings.TrimSuffix(strconv.FormatFloat(f, 'f', 4, 64), ".0000")
}
