package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// dice are random numbers of one connection.
type dice struct{ at uint64 }

func (r *dice) n(below int64) int64 {
	r.at++
	return int64(mix(r.at) % uint64(below))
}

// word is often one of few.
func (r *dice) word() string {
	switch r.n(3) {
	case 0:
		return "c" + strconv.FormatInt(r.n(40), 10)
	case 1:
		return "m" + strconv.FormatInt(r.n(5000), 10)
	}
	return "r" + strconv.FormatInt(r.n(300_000), 10)
}

const (
	soakKinds  = 12
	soakOwners = 200_000
	soakPrices = 100_000
	soakDays   = 1000
)

// soakRow is the row of an id after so many changes, as fields of LOAD DATA.
func soakRow(b []byte, id, change int64) []byte {
	r := dice{mix(uint64(id)) + uint64(change)<<20}
	b = strconv.AppendInt(b, id, 10)
	b = fmt.Appendf(b, ",kind%d,owner%d,%d,%d,%d.%02d,", r.n(soakKinds), r.n(soakOwners), r.n(soakPrices), 1+r.n(5), r.n(10_000), r.n(100))
	at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(r.n(soakDays*86400)) * time.Second)
	b = at.AppendFormat(b, "2006-01-02 15:04:05,")
	for i := range 6 {
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(b, r.word()...)
	}
	return fmt.Appendf(b, ",%.5f,%.5f", float64(1+r.n(3_599_999))/10_000-180, float64(r.n(1_400_000))/10_000-70)
}

// soakReader gives rows as CSV, made as they are read.
type soakReader struct {
	next, end int64
	buf       []byte
	pos       int
}

// Read fills p with as many bytes as there are.
func (r *soakReader) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if r.pos == len(r.buf) {
			if r.next == r.end {
				break
			}
			r.buf, r.pos = append(soakRow(r.buf[:0], r.next, 0), '\n'), 0
			r.next++
		}
		k := copy(p[n:], r.buf[r.pos:])
		n, r.pos = n+k, r.pos+k
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// fill makes the table, and then the index.
func (b *soak) fill(ctx context.Context) error {
	for _, s := range []string{
		"DROP TABLE IF EXISTS docs",
		"CREATE TABLE docs (id BIGINT PRIMARY KEY, kind VARCHAR(12), owner VARCHAR(24), price INT, stars INT, amount DECIMAL(10,2), at DATETIME, title VARCHAR(200), place POINT NOT NULL)",
	} {
		if _, err := b.target.db.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	start := time.Now()
	mysql.RegisterReaderHandler("soak", func() io.Reader { return &soakReader{end: b.rows} })
	defer mysql.DeregisterReaderHandler("soak")
	if _, err := b.target.db.ExecContext(ctx, "LOAD DATA LOCAL INFILE 'Reader::soak' INTO TABLE docs FIELDS TERMINATED BY ',' (id, kind, owner, price, stars, amount, at, title, @x, @y) SET place = POINT(@x, @y)"); err != nil {
		return err
	}
	took := time.Since(start)
	b.say("loaded %d rows in %.0f s, %.0f a second", b.rows, took.Seconds(), float64(b.rows)/took.Seconds())
	start = time.Now()
	if _, err := b.target.db.ExecContext(ctx, "CREATE SEARCH INDEX s ON docs (kind, owner, price, stars, amount, at, title TEXT, place GEO_POINT)"); err != nil {
		return err
	}
	took = time.Since(start)
	if err := b.look(ctx); err != nil {
		return err
	}
	b.say("built the index in %.0f s, %.0f rows a second, %.0f bytes a row", took.Seconds(), float64(b.rows)/took.Seconds(), float64(b.disk)/float64(b.rows))
	return nil
}

// writeValues writes a row as a list of VALUES.
func writeValues(q *bytes.Buffer, id, change int64) {
	f := strings.Split(string(soakRow(nil, id, change)), ",")
	fmt.Fprintf(q, "(%s,'%s','%s',%s,%s,%s,'%s','%s',POINT(%s,%s))", f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8], f[9])
}
