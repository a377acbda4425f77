package tpch

import (
	"bytes"
	"io"
	"testing"
)

// The data is what the specification says of it, in what the queries need.
func TestGenerate(t *testing.T) {
	s := scale{factor: 0.001}
	rows := map[table]int{}
	for tab := range tables {
		text, err := io.ReadAll(s.reader(tab))
		if err != nil {
			t.Fatal(err)
		}
		again, _ := io.ReadAll(s.reader(tab))
		if !bytes.Equal(text, again) {
			t.Errorf("%s differs from reading to reading", tab)
		}
		rows[tab] = bytes.Count(text, []byte("\n"))
		want := map[table]int{region: 3, nation: 4, supplier: 7, part: 9, partsupp: 5, customer: 8, orders: 9, lineitem: 16}[tab]
		for _, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
			if bytes.Count(line, []byte("|")) != want {
				t.Fatalf("%s: %q has not %d fields", tab, line, want)
			}
		}
	}
	for tab, n := range map[table]int{region: 5, nation: 25, supplier: 100, part: 200, partsupp: 800, customer: 150, orders: 1500} {
		if rows[tab] != n {
			t.Errorf("%s: %d rows, not %d", tab, rows[tab], n)
		}
	}
	if n := rows[lineitem]; n < 3*1500 || n > 5*1500 {
		t.Errorf("%d lines", n)
	}
	seen := map[[2]int64]bool{}
	for p := int64(1); p <= s.parts(); p++ {
		for n := range int64(4) {
			sup := s.supplierOf(p, n)
			if sup < 1 || sup > s.suppliers() || seen[[2]int64{p, sup}] {
				t.Fatalf("supplier %d of part %d", sup, p)
			}
			seen[[2]int64{p, sup}] = true
		}
	}
	for i := range s.orders() {
		o := s.order(i)
		if o.customer%3 == 0 || o.date < 0 || o.date > lastOrder {
			t.Fatalf("order %+v", o)
		}
		for _, l := range o.lines {
			if !seen[[2]int64{l.part, l.supplier}] || l.receipt <= l.ship || l.ship <= o.date {
				t.Fatalf("line %+v", l)
			}
		}
	}
}

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		want int
	}{{[]string{"-scale", "0"}, exitUsage}, {[]string{"-queries", "23"}, exitUsage}, {[]string{"x"}, exitUsage}, {[]string{"-h"}, exitOK}} {
		if got := Main(c.args, io.Discard, io.Discard); got != c.want {
			t.Errorf("%v: exit code %d", c.args, got)
		}
	}
}
