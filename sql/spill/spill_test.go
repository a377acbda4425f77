package spill

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

var allKinds = []value.Kind{
	value.KindInt, value.KindUint, value.KindFloat, value.KindDecimal, value.KindBytes, value.KindTime, value.KindDuration, value.KindJSON, value.KindNull,
}

func TestMain(m *testing.M) { testflag.Main(m) }

// randomBatch makes n rows in n+holes positions; how shapes the values.
func randomBatch(rng *rand.Rand, kinds []value.Kind, n, how int) *vec.Batch {
	b := newBatch(kinds)
	b.N = n
	for _, v := range b.Cols {
		v.Init(v.Kind, n)
		for i := range n {
			if v.Kind == value.KindNull || how%2 == 1 && rng.IntN(4) == 0 {
				v.Nulls.Set(i)
				continue
			}
			switch vec.ClassOf(v.Kind) {
			case vec.ClassWord:
				v.I64[i] = int64(rng.Uint64()) >> (rng.IntN(2) + 8*(how%8))
			case vec.ClassFloat:
				v.F64[i] = rng.NormFloat64()
			case vec.ClassDecimal:
				v.Dec[i] = randomDecimal(rng, how)
			case vec.ClassBytes:
				v.Bytes[i] = v.Own([]byte(strings.Repeat(string(rune('a'+rng.IntN(26))), rng.IntN(1+20*(how%5)))))
			}
		}
	}
	return b
}

func randomDecimal(rng *rand.Rand, how int) value.Decimal {
	switch {
	case how%3 == 0:
		return value.DecimalFromInt128(-1, uint64(rng.IntN(1000))-2000, 2)
	case how%3 == 1 || rng.IntN(2) == 0:
		return value.DecimalFromInt128(int64(rng.IntN(100))-50, rng.Uint64(), rng.IntN(31))
	}
	b := new(big.Int).Lsh(big.NewInt(rng.Int64()+1), 140)
	if rng.IntN(2) == 0 {
		b.Neg(b)
	}
	return value.DecimalFromBig(b, rng.IntN(31))
}

func text(b *vec.Batch, i int) string {
	var s strings.Builder
	for _, v := range b.Cols {
		d := v.Datum(i)
		switch {
		case d.IsNull():
			s.WriteString("NULL|")
		case v.Kind == value.KindDecimal:
			s.WriteString(d.Decimal().String() + "|")
		case v.Kind == value.KindBytes || v.Kind == value.KindJSON:
			s.WriteString(string(d.Bytes()) + "|")
		default:
			s.WriteString(string(rune('0'+v.Kind)) + new(big.Int).SetUint64(d.Bits()).String() + "|")
		}
	}
	return s.String()
}

func openTest(t *testing.T, opts Options) *Disk {
	t.Helper()
	if opts.Dir == "" {
		opts.Dir = t.TempDir()
	}
	d, err := Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestRoundTrip(t *testing.T) {
	d := openTest(t, Options{})
	for how := range testflag.InShort(5, 16) {
		rng := rand.New(rand.NewPCG(uint64(how), 9))
		f, err := d.NewFile()
		if err != nil {
			t.Fatal(err)
		}
		rows := f.NewRows(allKinds, 1<<(6+how%12))
		other := f.NewRows(allKinds[:1], 0)
		var want []string
		for range 20 {
			b := randomBatch(rng, allKinds, 1+rng.IntN(vec.MaxRows), how)
			var sel []uint16
			for i := range b.N {
				if rng.IntN(5) > 0 || how%4 == 0 {
					sel = append(sel, uint16(i))
					want = append(want, text(b, i))
				}
			}
			if err := errors.Join(rows.Append(b.Cols, sel), other.Append(b.Cols, sel)); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(rows.Finish(), rows.Finish(), other.Finish()); err != nil {
			t.Fatal(err)
		}
		if rows.Len() != int64(len(want)) || other.Len() != rows.Len() {
			t.Fatalf("%d rows, want %d", rows.Len(), len(want))
		}
		rd := rows.NewReader()
		for _, from := range []int64{0, 0, 1, rows.Len() - 1, rows.Len() / 2, rows.Len(), rows.Len() + 5, 17} {
			rd.SeekRow(from)
			at := from
			for {
				b, err := rd.Next()
				if err != nil {
					t.Fatal(err)
				}
				if b == nil {
					break
				}
				for r := range b.Live() {
					if got := text(b, b.Row(r)); got != want[at] {
						t.Fatalf("how %d row %d: got %s, want %s", how, at, got, want[at])
					}
					at++
				}
			}
			if at != max(from, rows.Len()) {
				t.Fatalf("from %d: the end at %d of %d", from, at, rows.Len())
			}
		}
		rows.Close()
		rows.Close()
		if _, n := d.Used(); n != 1 {
			t.Fatalf("%d files are open while one is in use", n)
		}
		other.Close()
		if bytes, n := d.Used(); n != 0 || bytes != 0 {
			t.Fatalf("%d files and %d bytes are left", n, bytes)
		}
	}
}

// faultFS fails the n-th call.
type faultFS struct {
	calls, failAt int
	err           error
	flip          bool // damage what is read instead
}

func (f *faultFS) fail() error {
	if f.calls++; f.calls == f.failAt && !f.flip {
		return f.err
	}
	return nil
}

func (f *faultFS) Create(dir string) (Handle, error) {
	if err := f.fail(); err != nil {
		return nil, err
	}
	h, err := osFS{}.Create(dir)
	return &faultHandle{h, f}, err
}

type faultHandle struct {
	Handle
	fs *faultFS
}

func (h *faultHandle) WriteAt(p []byte, at int64) (int, error) {
	if err := h.fs.fail(); err != nil {
		return 0, err
	}
	return h.Handle.WriteAt(p, at)
}

func (h *faultHandle) ReadAt(p []byte, at int64) (int, error) {
	if err := h.fs.fail(); err != nil {
		return 0, err
	}
	n, err := h.Handle.ReadAt(p, at)
	if h.fs.flip && h.fs.calls == h.fs.failAt {
		p[len(p)/2] ^= 4
	}
	return n, err
}

// writeAndRead stores some blocks and reads them.
func writeAndRead(d *Disk) error {
	f, err := d.NewFile()
	if err != nil {
		return err
	}
	defer f.Close()
	rows := f.NewRows(allKinds, 4096)
	defer rows.Close()
	rng := rand.New(rand.NewPCG(1, 1))
	for range 5 {
		b := randomBatch(rng, allKinds, 100, 3)
		var sel []uint16
		for i := range b.N {
			sel = append(sel, uint16(i))
		}
		if err := rows.Append(b.Cols, sel); err != nil {
			return err
		}
	}
	if err := rows.Finish(); err != nil {
		return err
	}
	rd := rows.NewReader()
	n := 0
	for {
		b, err := rd.Next()
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		n += b.Live()
	}
	if n != 500 {
		return errors.New("rows are missing")
	}
	return nil
}

// TestFaults: each call fails once; no file is left over.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		err    error
		flip   bool
		number uint16
	}{{syscall.ENOSPC, false, 1021}, {syscall.EIO, false, 1030}, {errors.New("strange"), false, 1030}, {nil, true, 1030}} {
		failed := 0
		for at := 1; ; at++ {
			fs := &faultFS{failAt: at, err: c.err, flip: c.flip}
			d := openTest(t, Options{FS: fs})
			err := writeAndRead(d)
			if fs.calls < at {
				if err != nil {
					t.Fatal(err)
				}
				break
			}
			var e *sqlerr.Error
			if c.flip && err == nil {
				continue // a call that is no read
			}
			if !errors.As(err, &e) || e.Number != c.number {
				t.Fatalf("call %d: %v", at, err)
			}
			failed++
			if bytes, n := d.Used(); n != 0 || bytes != 0 {
				t.Fatalf("call %d: %d files, %d bytes are left", at, n, bytes)
			}
		}
		if failed < 4 {
			t.Fatalf("only %d calls failed", failed)
		}
	}
}

func TestBudget(t *testing.T) {
	d := openTest(t, Options{Bytes: 5000})
	var e *sqlerr.Error
	if err := writeAndRead(d); !errors.As(err, &e) || e.Number != 1114 {
		t.Fatal(err)
	}
	if bytes, n := d.Used(); n != 0 || bytes != 0 {
		t.Fatalf("%d files, %d bytes are left", n, bytes)
	}
	d = openTest(t, Options{Files: 2})
	for range 2 {
		if _, err := d.NewFile(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.NewFile(); !errors.As(err, &e) || e.Number != 1030 {
		t.Fatal(err)
	}
}

// TestPieces: blocks whose rows are larger than a piece are read as they were written,
// from any row on, and what writes them ends between two pieces.
func TestPieces(t *testing.T) {
	kinds := append(slices.Clone(allKinds), value.KindBytes, value.KindJSON)
	rng := rand.New(rand.NewPCG(4, 4))
	f, err := openTest(t, Options{}).NewFile()
	if err != nil {
		t.Fatal(err)
	}
	r, other := f.NewRows(kinds, 0), f.NewRows(kinds, 0)
	defer r.Close()
	defer other.Close()
	var want []string
	for n := range 60 {
		b := randomBatch(rng, kinds, 3, n)
		for _, c := range []int{4, 9, 10} {
			long := make([]byte, []int{0, 100, pieceBytes - 1, pieceBytes, 5*pieceBytes + 7}[rng.IntN(5)])
			for i := range long {
				long[i] = byte(rng.Uint32()) | byte(n%2*255)
			}
			b.Cols[c].Nulls.Clear()
			b.Cols[c].Bytes[1] = long
		}
		for i := range b.N {
			want = append(want, text(b, i))
		}
		if err := errors.Join(r.Append(b.Cols, []uint16{0, 1, 2}), other.Append(b.Cols, []uint16{1})); err != nil {
			t.Fatal(err)
		}
		for _, c := range []int{4, 9, 10} { // what was appended is not shared
			clear(b.Cols[c].Bytes[1])
		}
		if n := r.Held(); n > 2*DefaultBlock {
			t.Fatalf("%d bytes are held", n)
		}
	}
	if err := errors.Join(r.Finish(), other.Finish()); err != nil {
		t.Fatal(err)
	}
	if len(r.blocks) < 100 {
		t.Errorf("only %d pieces", len(r.blocks))
	}
	rd := r.NewReader()
	for _, from := range []int64{0, 90, 1, 179, 33, 34, 35} {
		rd.SeekRow(from)
		for at := from; at < r.Len(); {
			b, err := rd.Next()
			if err != nil || b == nil {
				t.Fatalf("row %d: %v", at, err)
			}
			for i := range b.Live() {
				if text(b, b.Row(i)) != want[at] {
					t.Fatalf("row %d, read from %d on, is another one", at, from)
				}
				at++
			}
		}
		if b, err := rd.Next(); b != nil || err != nil {
			t.Fatalf("after the end: %v, %v", b, err)
		}
		page, first, err := rd.Page(from)
		if err != nil || text(page, int(from-first)) != want[from] {
			t.Fatalf("the page of row %d, from %d on: %v", from, first, err)
		}
	}
	stop, written := errors.New("stop"), f.Size()
	f.Stop = func() error {
		if f.Size() > written {
			return stop
		}
		return nil
	}
	large := f.NewRows([]value.Kind{value.KindBytes}, 0)
	defer large.Close()
	v := &vec.Vec{}
	v.Init(value.KindBytes, 1)
	v.Bytes[0] = make([]byte, 20*pieceBytes)
	if err := large.Append([]*vec.Vec{v}, []uint16{0}); !errors.Is(err, stop) || len(large.blocks) != 1 {
		t.Errorf("%d pieces, %v", len(large.blocks), err)
	}
}

// TestLargeValues: buffers that a large value has made go with it.
func TestLargeValues(t *testing.T) {
	const size = 8 << 20
	f, err := openTest(t, Options{}).NewFile()
	if err != nil {
		t.Fatal(err)
	}
	kinds := []value.Kind{value.KindBytes}
	r := f.NewRows(kinds, 0)
	defer r.Close()
	b := newBatch(kinds)
	for _, n := range []int{10, size, 20} {
		b.Cols[0].Init(value.KindBytes, 1)
		b.Cols[0].Bytes[0] = []byte(strings.Repeat("x", n))
		if err := r.Append(b.Cols, []uint16{0}); err != nil {
			t.Fatal(err)
		}
	}
	if held := r.Held(); held > size/8 {
		t.Errorf("%d bytes are held", held)
	}
	if err := r.Finish(); err != nil {
		t.Fatal(err)
	}
	if n := r.LargestBlock(); n < size || n > size+size/8 {
		t.Errorf("the largest block has %d bytes", n)
	}
	rd := r.NewReader()
	var lengths []int
	for {
		got, err := rd.Next()
		if err != nil {
			t.Fatal(err)
		}
		if got == nil {
			break
		}
		for _, v := range got.Cols[0].Bytes[:got.N] {
			lengths = append(lengths, len(v))
		}
		if held := rd.Held(); held > size+size/8 {
			t.Errorf("the reader holds %d bytes", held)
		}
	}
	if !slices.Equal(lengths, []int{10, size, 20}) {
		t.Errorf("values of %d bytes", lengths)
	}
}

// TestOpenRemovesLeftovers: files of a crashed server go, others stay.
func TestOpenRemovesLeftovers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tmp")
	openTest(t, Options{Dir: dir})
	for _, name := range []string{"sqlots-spill-1", "sqlots-cursor-7", "sqlots-mine"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := openTest(t, Options{Dir: dir})
	f, err := d.NewFile()
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != 1 || list[0].Name() != "sqlots-mine" {
		t.Fatalf("%v %v", list, err)
	}
	f.Close()
}

func BenchmarkRows(b *testing.B) {
	d, err := Open(Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	kinds := []value.Kind{value.KindInt, value.KindInt, value.KindBytes, value.KindDecimal}
	batch := randomBatch(rand.New(rand.NewPCG(1, 1)), kinds, vec.MaxRows, 3)
	var sel []uint16
	for i := range batch.N {
		sel = append(sel, uint16(i))
	}
	f, err := d.NewFile()
	if err != nil {
		b.Fatal(err)
	}
	rows := f.NewRows(kinds, 0)
	for b.Loop() {
		if err := rows.Append(batch.Cols, sel); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(rows.Size() / int64(b.N))
	rows.Close()
}
