package bench

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// ddlForm selects how the covering index is declared.
type ddlForm string

const (
	ddlAuto     ddlForm = "auto"     // by the server's version
	ddlSqlots   ddlForm = "sqlots"   // KEY (station, start) INCLUDE (duration)
	ddlPortable ddlForm = "portable" // KEY (station, start, duration)
)

func parseDDL(s string) (ddlForm, error) {
	switch f := ddlForm(s); f {
	case ddlAuto, ddlSqlots, ddlPortable:
		return f, nil
	}
	return "", fmt.Errorf("unknown -ddl %q (auto, sqlots or portable)", s)
}

// callsDDL is the table of the data set.
func callsDDL(form ddlForm) string {
	station := "KEY by_station (station, start, duration)"
	if form == ddlSqlots {
		station = "KEY by_station (station, start) INCLUDE (duration)"
	}
	return `CREATE TABLE calls (
  cell BIGINT NOT NULL, start BIGINT NOT NULL, called BIGINT, duration BIGINT, station BIGINT, created_at DATETIME,
  PRIMARY KEY (cell, start),
  KEY by_called (called),
  ` + station + ")"
}

const (
	stationsDDL = "CREATE TABLE stations (id BIGINT NOT NULL PRIMARY KEY, name VARCHAR(40) NOT NULL, region INT NOT NULL)"
	infoDDL     = "CREATE TABLE bench_info (name VARCHAR(20) NOT NULL PRIMARY KEY, value BIGINT UNSIGNED NOT NULL)"
)

// createTables drops and creates the three tables.
func createTables(ctx context.Context, db *sql.DB, form ddlForm) error {
	for _, stmt := range []string{
		"DROP TABLE IF EXISTS calls", "DROP TABLE IF EXISTS stations", "DROP TABLE IF EXISTS bench_info",
		callsDDL(form), stationsDDL, infoDDL,
	} {
		if _, err := db.ExecContext(ctx, stmt); err != nil {
			return fmt.Errorf("%s: %w", firstLine(stmt), err)
		}
	}
	return nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// writeStations fills the dimension table.
func writeStations(ctx context.Context, db *sql.DB, d *dataset) error {
	const batch = 500
	for from := int64(1); from <= d.Stations; from += batch {
		var b strings.Builder
		b.WriteString("INSERT INTO stations VALUES ")
		for id := from; id < from+batch && id <= d.Stations; id++ {
			if id > from {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "(%d,'%s',%d)", id, stationName(id), regionOf(id))
		}
		if _, err := db.ExecContext(ctx, b.String()); err != nil {
			return fmt.Errorf("filling stations: %w", err)
		}
	}
	return nil
}

// writeInfo records the sizes, as the last step of a load.
func writeInfo(ctx context.Context, db *sql.DB, s Sizes) error {
	_, err := db.ExecContext(ctx, fmt.Sprintf(
		"INSERT INTO bench_info VALUES ('rows',%d),('cells',%d),('stations',%d),('seed',%d)",
		s.Rows, s.Cells, s.Stations, s.Seed))
	if err != nil {
		return fmt.Errorf("recording the sizes: %w", err)
	}
	return nil
}

// readInfo returns the sizes of what has been loaded.
func readInfo(ctx context.Context, db *sql.DB) (Sizes, error) {
	rows, err := db.QueryContext(ctx, "SELECT name, value FROM bench_info")
	if err != nil {
		return Sizes{}, fmt.Errorf("reading the sizes (run `sqlots bench load` first): %w", err)
	}
	defer func() { _ = rows.Close() }()
	var s Sizes
	for rows.Next() {
		var name string
		var value uint64
		if err := rows.Scan(&name, &value); err != nil {
			return Sizes{}, fmt.Errorf("reading the sizes: %w", err)
		}
		switch name {
		case "rows":
			s.Rows = int64(value)
		case "cells":
			s.Cells = int64(value)
		case "stations":
			s.Stations = int64(value)
		case "seed":
			s.Seed = value
		}
	}
	if err := rows.Err(); err != nil {
		return Sizes{}, fmt.Errorf("reading the sizes: %w", err)
	}
	if err := s.Validate(); err != nil {
		return Sizes{}, fmt.Errorf("the load is not complete (run `sqlots bench load` again): %w", err)
	}
	return s, nil
}
