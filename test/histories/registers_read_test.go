package histories

import (
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sqlots/sqlots/internal/histcheck"
)

// scanRegister reads a row of k, n and w, of two of them, or of these and t.
func scanRegister(rows *sql.Rows) ([]histcheck.Version, error) {
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var v, u histcheck.Version
	switch len(columns) {
	case 3:
		err = rows.Scan(&v.Key, &v.N, &v.By)
		return []histcheck.Version{v}, err
	case 4:
		var t string
		if err := rows.Scan(&v.Key, &v.N, &v.By, &t); err != nil {
			return nil, err
		}
		return []histcheck.Version{v, versionOf(t)}, nil
	}
	err = rows.Scan(&v.Key, &v.N, &v.By, &u.Key, &u.N, &u.By)
	return []histcheck.Version{v, u}, err
}

// versionOf reads a version from its words.
func versionOf(t string) (v histcheck.Version) {
	words := strings.Fields(t)
	if len(words) != 4 {
		return v
	}
	number := func(i int) int64 { n, _ := strconv.ParseInt(words[i][1:], 10, 64); return n }
	return histcheck.Version{Key: int(number(0)), N: number(1), By: histcheck.Element(number(2))}
}

// values are those that a path may name; want are the keys that it has to find, nil for
// any.
func (w *registerWork) values(p path, keys []int) (v values, want []int64) {
	r := w.c.rng
	v = values{"g": {r.Int64N(groups)}}
	lo := r.Int64N(registerCount)
	hi := lo + r.Int64N(registerCount-lo)
	v["lo"], v["hi"] = []int64{lo}, []int64{hi}
	for _, k := range keys {
		v["ks"], v["us"] = append(v["ks"], int64(k)), append(v["us"], int64(k)+100)
	}
	v["k"], v["u"] = v["ks"][:1], v["us"][:1]
	for range 1 + r.IntN(4) {
		v["ws"] = append(v["ws"], w.newest[r.IntN(len(w.newest))].Load())
	}
	v["w"] = v["ws"][:1]
	for k := range int64(registerCount) {
		in := false
		switch p.reads {
		case "k":
			in = k == v["k"][0]
		case "ks":
			in = slices.Contains(keys, int(k))
		case "gs":
			in = k%groups == v["g"][0]
		case "range":
			in = k >= lo && k <= hi
		case "all":
			in = true
		}
		if in {
			want = append(want, k)
		}
	}
	return v, want
}

// read reads by some path.
func (w *registerWork) read() error {
	paths := registerPaths
	switch n := w.c.rng.IntN(20); {
	case n < 10:
		paths = searchPaths
	case n < 13:
		paths = doublePaths
	case n < 15:
		return w.sums(sumPaths[w.c.rng.IntN(len(sumPaths))])
	}
	return w.readBy(paths[w.c.rng.IntN(len(paths))], "", w.someKeys(1+w.c.rng.IntN(4)))
}

// readOwn reads what the transaction has written.
func (w *registerWork) readOwn() error {
	var keys []int
	for k := range w.own {
		keys = append(keys, k)
	}
	if len(keys) == 0 {
		return nil
	}
	paths := slices.DeleteFunc(slices.Concat(registerPaths, searchPaths, doublePaths), func(p path) bool { return p.reads != "ks" && p.reads != "all" })
	return w.readBy(paths[w.c.rng.IntN(len(paths))], "", keys)
}

// lock reads some rows and locks them.
func (w *registerWork) lock() error {
	paths := slices.DeleteFunc(slices.Concat(registerPaths, searchPaths), func(p path) bool {
		return !slices.Contains([]string{"k", "ks", "gs"}, p.reads) || strings.Contains(p.sql, "GROUP BY")
	})
	how := []string{" FOR UPDATE", " FOR SHARE", " LOCK IN SHARE MODE"}[w.c.rng.IntN(3)]
	return w.readBy(paths[w.c.rng.IntN(len(paths))], how, w.someKeys(1+w.c.rng.IntN(3)))
}

func (w *registerWork) readBy(p path, lock string, keys []int) error {
	v, want := w.values(p, keys)
	var got []histcheck.Version
	n := 0
	s, err := w.c.query(p.name, v.fill(p.sql+lock, w.c.prepared), func(rows *sql.Rows) error {
		row, err := scanRegister(rows)
		got, n = append(got, row...), n+1
		return err
	})
	if err != nil {
		return err
	}
	s.Answer = answer(got)
	if strings.Contains(p.sql, "UNION ALL") {
		if n%2 != 0 {
			w.wrong("the two paths have %d rows together", n)
		}
		n /= 2
	}
	kind := w.c.kind()
	if lock != "" {
		kind = histcheck.Locked
	}
	w.keep(got, kind, want, n)
	return nil
}

// answer is versions in short, key:number/write.
func answer(got []histcheck.Version) string {
	var b []byte
	for _, v := range got {
		b = strconv.AppendInt(b, int64(v.Key), 10)
		b = strconv.AppendInt(append(b, ':'), v.N, 10)
		b = append(strconv.AppendInt(append(b, '/'), int64(v.By), 10), ' ')
	}
	return string(b)
}

// wrong reports an answer that is wrong by itself.
func (w *registerWork) wrong(format string, args ...any) { w.c.wrong(format, args...) }

// keep files an answer of n rows. Rows that the transaction has written must be as it
// wrote them; they give the version that it made.
func (w *registerWork) keep(got []histcheck.Version, kind histcheck.Kind, want []int64, n int) {
	w.r.reads.Add(1)
	one := map[int]histcheck.Version{}
	for _, v := range got {
		if other, ok := one[v.Key]; ok && other != v {
			w.wrong("one statement has %v and %v", other, v)
		}
		one[v.Key] = v
	}
	for _, k := range want {
		if _, ok := one[int(k)]; !ok {
			w.wrong("register %d is missing", k)
		}
	}
	if want != nil && n != len(want) || n < len(one) {
		w.wrong("%d rows, want %d", n, len(want))
	}
	read := histcheck.Read{Kind: kind}
	if steps := w.c.x.Steps; len(steps) > 0 {
		read.Asked, read.Given = steps[len(steps)-1].Asked, steps[len(steps)-1].Given
	}
	for k, v := range one {
		if i, ok := w.own[k]; ok {
			w.readsOwn(&w.c.x.Writes[i], v)
		} else {
			read.Versions = append(read.Versions, v)
		}
	}
	w.c.x.Reads = append(w.c.x.Reads, read)
}

func (w *registerWork) readsOwn(own *histcheck.Write, v histcheck.Version) {
	if v.By != own.By || own.N > 0 && v.N != own.N {
		w.wrong("%v, but the transaction has written it: %+v", v, *own)
		return
	}
	own.N = v.N
}

// sums reads the number of rows and the sums of balances and versions.
func (w *registerWork) sums(p path) error {
	v, _ := w.values(p, w.someKeys(1))
	floor := w.registers.floor.Load()
	if w.c.kind() == histcheck.View {
		floor = w.floor
	}
	var got []int64
	s, err := w.c.query(p.name, v.fill(p.sql, w.c.prepared), func(rows *sql.Rows) error {
		columns, err := rows.Columns()
		if err != nil {
			return err
		}
		got = make([]int64, len(columns))
		into := make([]any, len(columns))
		for i := range got {
			into[i] = &got[i]
		}
		return rows.Scan(into...)
	})
	if err != nil {
		return err
	}
	s.Answer = fmt.Sprint(got)
	w.r.reads.Add(1)
	for len(got) >= 3 {
		w.checkSums(got[0], got[1], got[2], floor)
		if len(got) == 6 && !slices.Equal(got[:3], got[3:]) {
			w.wrong("the two paths have other sums: %v", got)
		}
		got = got[3:]
	}
	return nil
}

// checkSums checks one answer. What the transaction has written is in it, so that
// the sums are those of no moment.
func (w *registerWork) checkSums(count, b, n, floor int64) {
	if count != registerCount {
		w.wrong("%d rows, want %d", count, registerCount)
	}
	if len(w.own) > 0 {
		return
	}
	if b != 0 {
		w.wrong("the balances sum up to %d: half of a commit was seen", b)
	}
	if n < floor {
		w.wrong("the versions sum up to %d, another connection was answered %d before", n, floor)
	}
	for old := w.registers.floor.Load(); n > old && !w.registers.floor.CompareAndSwap(old, n); {
		old = w.registers.floor.Load()
	}
}
