package bench

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestRowsAreFixed(t *testing.T) {
	// The data set must be the same on every machine and in every version.
	d := newDataset(Sizes{Rows: 2_000_000, Cells: 1_000_000, Stations: 1_000, Seed: 1})
	var sum call
	for i := range int64(1000) {
		c := d.row(i)
		sum.cell += c.cell - firstCell
		sum.called += c.called - firstCell
		sum.duration += c.duration
		sum.station += c.station
	}
	if want := (call{cell: goldenCell, called: goldenCalled, duration: goldenDuration, station: goldenStation}); sum != want {
		t.Errorf("got %+v, want %+v", sum, want)
	}
}

func TestRowsAreInRangeAndSkewed(t *testing.T) {
	d := newDataset(Sizes{Rows: 200_000, Cells: 1000, Stations: 1000, Seed: 7})
	stations := make([]int, d.Stations+1)
	for i := range d.Rows {
		c := d.row(i)
		if c.cell < firstCell || c.cell >= firstCell+d.Cells || c.called < firstCell || c.called >= firstCell+d.Cells ||
			c.duration < 1 || c.duration > 3600 || c.station < 1 || c.station > d.Stations || c.start != firstStart+i {
			t.Fatalf("row %d: %+v", i, c)
		}
		stations[c.station]++
	}
	for _, rank := range []int64{0, 1, 10} {
		got, want := float64(stations[d.stationAt(rank)]), d.stationRows(rank)
		if got < want*0.85 || got > want*1.15 {
			t.Errorf("station of rank %d has %.0f calls, not about %.0f", rank, got, want)
		}
	}
}

func TestRanksAreABijection(t *testing.T) {
	for _, n := range []int64{1, 2, 617, 618_033, 1000} {
		d := newDataset(Sizes{Rows: 1, Cells: n, Stations: n})
		cells, stations := map[int64]bool{}, map[int64]bool{}
		for rank := range n {
			cells[d.cellAt(rank)] = true
			stations[d.stationAt(rank)] = true
		}
		if int64(len(cells)) != n || int64(len(stations)) != n {
			t.Errorf("%d: %d cells, %d stations", n, len(cells), len(stations))
		}
	}
}

func TestReaderAndInsertGiveTheSameRows(t *testing.T) {
	d := newDataset(Sizes{Rows: 50, Cells: 10, Stations: 5, Seed: 3})
	csv, err := io.ReadAll(iotestOneByte{&rowReader{d: d, next: 10, end: 13}})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(csv)), "\n")
	insert := string(appendInsert(nil, d, 10, 13))
	if len(lines) != 3 || strings.Count(insert, "(") != 4 {
		t.Fatalf("%q %q", lines, insert)
	}
	for _, line := range lines {
		at := strings.LastIndexByte(line, ',')
		if !strings.Contains(insert, "("+line[:at+1]+"'"+line[at+1:]+"')") {
			t.Errorf("%q is not in %q", line, insert)
		}
	}
}

// iotestOneByte reads one byte at a time.
type iotestOneByte struct{ r io.Reader }

func (r iotestOneByte) Read(p []byte) (int, error) { return r.r.Read(p[:min(1, len(p))]) }

func TestTruthsAgree(t *testing.T) {
	d := newDataset(Sizes{Rows: 3000, Cells: 100, Stations: 10, Seed: 5})
	w := newWorld(d)
	for _, wl := range workloads() {
		if wl.writes {
			continue
		}
		for _, args := range queriesOf(w, &wl, 5) {
			if got := strings.Count(wl.sql, "?"); got != len(args) {
				t.Fatalf("%s: %d question marks, %d arguments", wl.name, got, len(args))
			}
			rows := wl.truth(d, args)
			if wl.rows != nil && wl.rows(w, args) != int64(len(rows)) {
				t.Errorf("%s %v: %d rows, truth has %d", wl.name, args, wl.rows(w, args), len(rows))
			}
		}
	}
	top := truthTop(d, nil)
	all := filtered(d, func(call) bool { return true })
	slices.SortStableFunc(all, func(a, b call) int { return int(b.duration - a.duration) })
	for i, row := range top {
		if !slices.Equal(row, text(all[i].cell, all[i].start, all[i].duration)) {
			t.Errorf("top %d: %v", i, row)
		}
	}
	if average(-1, 3) != "-0.3333" || average(2, 3) != "0.6667" || average(1, 32) != "0.0313" {
		t.Error("averages")
	}
}

// pipeClient is a client whose server is the given script of packets; what
// the client sends is dropped.
func pipeClient(t *testing.T, packets ...[]byte) *client {
	t.Helper()
	here, there := net.Pipe()
	t.Cleanup(func() { _ = here.Close() })
	go func() { _, _ = io.Copy(io.Discard, there) }()
	go func() {
		for i, p := range packets {
			head := []byte{byte(len(p)), byte(len(p) >> 8), byte(len(p) >> 16), byte(i + 1)}
			if _, err := there.Write(append(head, p...)); err != nil {
				return
			}
		}
		_ = there.Close()
	}()
	return &client{conn: here, in: make([]byte, 16), out: make([]byte, 4), deprecateEOF: true}
}

func TestClientAnswers(t *testing.T) {
	end := []byte{0xFE, 0, 0, 2, 0, 0, 0}
	row := bytes.Repeat([]byte("x"), 100)
	c := pipeClient(t, []byte{1}, []byte("def"), row, []byte("y"), end, []byte{0, 1, 0, 2, 0, 0, 0},
		append([]byte{0xFF, 0x26, 0x04}, "#23000dup"...), []byte{0xFE}, nil)
	c.begin(comQuery)
	a, err := c.query()
	if err != nil || a.rows != 2 || !bytes.Equal(a.first, row) {
		t.Errorf("%+v %v", a, err)
	}
	if a, err := c.answer(); err != nil || a.rows != 0 {
		t.Errorf("OK: %+v %v", a, err)
	}
	var se *serverError
	if _, err := c.answer(); !errors.As(err, &se) || se.number != 1062 || se.message != "dup" {
		t.Errorf("error: %v", err)
	}
	if _, err := c.answer(); err == nil {
		t.Error("254 columns must fail")
	}
	if _, err := c.answer(); err == nil {
		t.Error("a closed connection must fail")
	}
}

func TestClientOldProtocolAndPrepare(t *testing.T) {
	eof := []byte{0xFE, 0, 0, 2, 0}
	prepared := make([]byte, 12)
	binary.LittleEndian.PutUint32(prepared[1:], 77)
	prepared[5], prepared[7] = 1, 2
	c := pipeClient(t, prepared, []byte("p"), []byte("p"), eof, []byte("c"), eof, []byte{1}, []byte("c"), eof, []byte{0, 0, 1}, eof)
	c.deprecateEOF = false
	st, err := c.prepare("SELECT ?, ?")
	if err != nil || st.id != 77 || st.params != 2 {
		t.Fatalf("%+v %v", st, err)
	}
	if _, err := c.execute(st, []int64{1}); err == nil {
		t.Error("a wrong number of arguments must fail")
	}
	if a, err := c.execute(st, []int64{1, -1}); err != nil || a.rows != 1 {
		t.Errorf("%+v %v", a, err)
	}
}

func TestAppendRow(t *testing.T) {
	if got := appendRow(nil, false, 7, -10); string(got) != "\x017\x03-10" {
		t.Errorf("%q", got)
	}
	if got := appendRow(nil, true, 1); !bytes.Equal(got, []byte{0, 0, 1, 0, 0, 0, 0, 0, 0, 0}) {
		t.Errorf("%v", got)
	}
}

func TestParseStat(t *testing.T) {
	stat := "12 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 150 50 0 0 20"
	if got, ok := parseStat([]byte(stat)); !ok || got != 2*time.Second {
		t.Errorf("%v %v", got, ok)
	}
	if _, ok := parseStat([]byte("nonsense")); ok {
		t.Error("nonsense is accepted")
	}
}

func TestMedians(t *testing.T) {
	m := medians([]measurement{{Rate: 1, P99Us: 30, Errors: 1}, {Rate: 9, P99Us: 10}, {Rate: 2, P99Us: 20, FirstError: "x"}})
	if m.Rate != 2 || m.P99Us != 20 || m.Errors != 1 || m.FirstError != "x" {
		t.Errorf("%+v", m)
	}
	c := newComparison([]measurement{{Rate: 4, P50Us: 5}}, []measurement{{Rate: 2, P50Us: 20}})
	if c.Rate != 2 || c.P50 != 4 || c.CPU != 0 {
		t.Errorf("%+v", c)
	}
}

func TestSameParametersForBothTargets(t *testing.T) {
	w := newWorld(newDataset(Sizes{Rows: 1000, Cells: 50, Stations: 10, Seed: 2}))
	for _, wl := range workloads() {
		if wl.draw == nil {
			continue
		}
		a, b := newRandom(w.Seed, wl.name, 3), newRandom(w.Seed, wl.name, 3)
		for range 10 {
			if !slices.Equal(wl.draw(w, a, nil), wl.draw(w, b, nil)) {
				t.Errorf("%s draws differently", wl.name)
			}
		}
	}
}

func TestUsage(t *testing.T) {
	var out, errs bytes.Buffer
	if code := Main([]string{"run", "-h"}, &out, &errs); code != exitOK || !strings.Contains(out.String(), "point_prepared") {
		t.Errorf("%d %s", code, &out)
	}
	for _, args := range [][]string{
		nil, {"walk"}, {"run", "-workloads", "nosuch"}, {"run", "-conns", "0"}, {"load", "-method", "x"},
		{"load", "-rows", "0"}, {"run", "-verify", "3"}, {"load", "-ddl", "x"}, {"run", "extra"},
	} {
		if code := Main(args, &out, &errs); code != exitUsage {
			t.Errorf("%v: exit code %d", args, code)
		}
	}
}
