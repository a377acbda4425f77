package tpch

import (
	"io"
	"strconv"
	"time"
)

type table uint8

const (
	region table = iota
	nation
	supplier
	part
	partsupp
	customer
	orders
	lineitem
	tables
)

func (t table) String() string {
	return [tables]string{"region", "nation", "supplier", "part", "partsupp", "customer", "orders", "lineitem"}[t]
}

// scale is the size of the data: cardinalities of clause 4.2.5.1, at least so
// many that every rule has something to choose from.
type scale struct{ factor float64 }

func (s scale) of(n float64, least int64) int64 { return max(least, int64(n*s.factor)) }
func (s scale) suppliers() int64                { return s.of(10_000, 100) }
func (s scale) parts() int64                    { return s.of(200_000, 200) }
func (s scale) customers() int64                { return s.of(150_000, 150) }
func (s scale) orders() int64                   { return 10 * s.customers() }

// units is the number of units in which a table is made: rows, but for
// partsupp, of which a part has four, and lineitem, of which an order has one
// to seven.
func (s scale) units(t table) int64 {
	switch t {
	case region:
		return int64(len(regions))
	case nation:
		return int64(len(nations))
	case supplier:
		return s.suppliers()
	case part, partsupp:
		return s.parts()
	case customer:
		return s.customers()
	}
	return s.orders()
}

// appendUnit appends the rows of a unit, fields ending in '|'.
func (s scale) appendUnit(w *writer, t table, i int64) {
	r := newRandom(t, i)
	switch t {
	case region:
		w.int(i).text(regions[i]).comment(&r, 31, 115).end()
	case nation:
		w.int(i).text(nations[i].name).int(int64(nations[i].region)).comment(&r, 31, 114).end()
	case supplier:
		s.supplier(w, &r, i+1)
	case part:
		s.part(w, &r, i+1)
	case partsupp:
		for n := range int64(4) {
			w.int(i+1).int(s.supplierOf(i+1, n)).int(r.between(1, 9999)).cents(r.between(100, 100_000)).comment(&r, 49, 198).end()
		}
	case customer:
		n := r.between(0, 24)
		w.int(i+1).numbered("Customer#", i+1).address(&r).int(n).phone(&r, n).cents(r.between(-99_999, 999_999)).
			text(r.of(segments)).comment(&r, 29, 116).end()
	case orders:
		s.order(i).append(w)
	case lineitem:
		for _, l := range s.order(i).lines {
			l.append(w)
		}
	}
}

func (s scale) supplier(w *writer, r *random, key int64) {
	n := r.between(0, 24)
	w.int(key).numbered("Supplier#", key).address(r).int(n).phone(r, n).cents(r.between(-99_999, 999_999))
	// Of 10,000 suppliers five have complaints and five recommendations.
	switch key % 2000 {
	case 7:
		w.text("blithely Customer even warthogs Complaints about the deposits").end()
	case 1007:
		w.text("quick Customer foxes Recommends the packages").end()
	default:
		w.comment(r, 25, 100).end()
	}
}

// supplierOf is the n-th of the four suppliers of a part (clause 4.2.3, PS_SUPPKEY).
func (s scale) supplierOf(part, n int64) int64 {
	all := s.suppliers()
	return (part+n*(all/4+(part-1)/all))%all + 1
}

func retailCents(part int64) int64 { return 90_000 + part/10%20_001 + 100*(part%1000) }

func (s scale) part(w *writer, r *random, key int64) {
	w.int(key)
	var name [5]int64
	for i := range name {
	again:
		name[i] = r.between(0, int64(len(colors)-1))
		for _, c := range name[:i] {
			if c == name[i] {
				goto again
			}
		}
	}
	for i, c := range name {
		if i > 0 {
			w.b = append(w.b, ' ')
		}
		w.b = append(w.b, colors[c]...)
	}
	w.b = append(w.b, '|')
	m, b := r.between(1, 5), r.between(1, 5)
	w.text("Manufacturer#" + strconv.FormatInt(m, 10)).text("Brand#" + strconv.FormatInt(10*m+b, 10))
	w.text(r.of(typeSize) + " " + r.of(typeFinish) + " " + r.of(typeMetal)).int(r.between(1, 50))
	w.text(r.of(boxSize)+" "+r.of(boxKind)).cents(retailCents(key)).comment(r, 5, 22).end()
}

// order is an order with its lines.
type order struct {
	key, customer, total int64
	status               byte
	date                 int64 // days since startDate
	priority, clerk      string
	comment              random
	lines                []line
}

type line struct {
	order, part, supplier, number, quantity, price, discount, tax int64
	flag, status                                                  byte
	ship, commit, receipt                                         int64
	instruct, mode                                                string
	comment                                                       random
}

var (
	startDate   = time.Date(1992, 1, 1, 0, 0, 0, 0, time.UTC)
	currentDays = days(1995, 6, 17)
	lastOrder   = days(1998, 12, 31) - 151
)

func days(y int, m time.Month, d int) int64 {
	return int64(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Sub(startDate) / (24 * time.Hour))
}

func (s scale) order(i int64) order {
	r := newRandom(orders, i)
	// Keys are sparse: eight of 32.
	o := order{key: i/8*32 + i%8 + 1, date: r.between(0, lastOrder)}
	// A third of the customers have no orders.
	for o.customer = r.between(1, s.customers()); o.customer%3 == 0; {
		o.customer = r.between(1, s.customers())
	}
	o.priority = r.of(priorities)
	o.clerk = strconv.FormatInt(r.between(1, s.of(1000, 1)), 10)
	open := 0
	for n := range r.between(1, 7) {
		l := line{order: o.key, number: n + 1, part: r.between(1, s.parts()), quantity: r.between(1, 50), discount: r.between(0, 10), tax: r.between(0, 8)}
		l.supplier = s.supplierOf(l.part, r.between(0, 3))
		l.price = l.quantity * retailCents(l.part)
		l.ship = o.date + r.between(1, 121)
		l.commit = o.date + r.between(30, 90)
		l.receipt = l.ship + r.between(1, 30)
		l.flag, l.status = 'N', 'F'
		if l.receipt <= currentDays {
			l.flag = "RA"[r.between(0, 1)]
		}
		if l.ship > currentDays {
			l.status = 'O'
			open++
		}
		l.instruct, l.mode = r.of(instructs), r.of(shipModes)
		l.comment = random{state: r.next()}
		o.total += l.price * (100 + l.tax) * (100 - l.discount) / 10_000
		o.lines = append(o.lines, l)
	}
	switch open {
	case 0:
		o.status = 'F'
	case len(o.lines):
		o.status = 'O'
	default:
		o.status = 'P'
	}
	o.comment = random{state: r.next()}
	return o
}

func (o order) append(w *writer) {
	w.int(o.key).int(o.customer).char(o.status).cents(o.total).date(o.date).text(o.priority)
	n, _ := strconv.ParseInt(o.clerk, 10, 64) // made by FormatInt
	w.numbered("Clerk#", n).int(0).comment(&o.comment, 19, 78).end()
}

func (l line) append(w *writer) {
	w.int(l.order).int(l.part).int(l.supplier).int(l.number).int(l.quantity).cents(l.price).cents(l.discount).cents(l.tax)
	w.char(l.flag).char(l.status).date(l.ship).date(l.commit).date(l.receipt).text(l.instruct).text(l.mode).comment(&l.comment, 10, 43).end()
}

// writer appends fields to b.
type writer struct{ b []byte }

func (w *writer) int(v int64) *writer {
	w.b = append(strconv.AppendInt(w.b, v, 10), '|')
	return w
}

func (w *writer) text(s string) *writer {
	w.b = append(append(w.b, s...), '|')
	return w
}

func (w *writer) char(c byte) *writer {
	w.b = append(w.b, c, '|')
	return w
}

// cents appends a number of hundredths.
func (w *writer) cents(v int64) *writer {
	if v < 0 {
		w.b, v = append(w.b, '-'), -v
	}
	w.b = append(strconv.AppendInt(w.b, v/100, 10), '.', byte('0'+v/10%10), byte('0'+v%10), '|')
	return w
}

func (w *writer) date(day int64) *writer {
	w.b = append(startDate.AddDate(0, 0, int(day)).AppendFormat(w.b, time.DateOnly), '|')
	return w
}

// numbered appends a name with a number of nine digits.
func (w *writer) numbered(prefix string, n int64) *writer {
	w.b = append(w.b, prefix...)
	d := strconv.FormatInt(n, 10)
	for range 9 - len(d) {
		w.b = append(w.b, '0')
	}
	return w.text(d)
}

func (w *writer) address(r *random) *writer {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789, "
	for range r.between(10, 40) {
		w.b = append(w.b, letters[r.between(0, int64(len(letters)-1))])
	}
	w.b = append(w.b, '|')
	return w
}

func (w *writer) phone(r *random, nation int64) *writer {
	w.b = strconv.AppendInt(w.b, 10+nation, 10)
	for _, part := range [][2]int64{{100, 999}, {100, 999}, {1000, 9999}} {
		w.b = strconv.AppendInt(append(w.b, '-'), r.between(part[0], part[1]), 10)
	}
	w.b = append(w.b, '|')
	return w
}

// comment appends words of lo to hi bytes in all.
func (w *writer) comment(r *random, lo, hi int64) *writer {
	n, start := int(r.between(lo, hi)), len(w.b)
	for len(w.b)-start < n {
		w.b = append(append(w.b, r.of(commentPool)...), ' ')
	}
	w.b = append(w.b[:start+n], '|')
	return w
}

func (w *writer) end() { w.b = append(w.b, '\n') }

// reader gives a table as text, made as it is read.
type reader struct {
	s    scale
	t    table
	next int64
	w    writer
	pos  int
}

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if r.pos == len(r.w.b) {
			if r.next == r.s.units(r.t) {
				break
			}
			r.w.b, r.pos = r.w.b[:0], 0
			r.s.appendUnit(&r.w, r.t, r.next)
			r.next++
		}
		m := copy(p[n:], r.w.b[r.pos:])
		n += m
		r.pos += m
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (s scale) reader(t table) io.Reader { return &reader{s: s, t: t} }
