package stream_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/errkv"
	"github.com/sqlots/sqlots/storage/memkv"
	"github.com/sqlots/sqlots/stream"
)

const id = schema.StreamID(7)

func write(t *testing.T, s storage.Store, records ...*stream.Record) uint64 {
	t.Helper()
	x, err := s.Begin(t.Context(), storage.TxnOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Rollback()
	var a stream.Appender
	for _, r := range records {
		if err := a.Append(x, id, r); err != nil {
			t.Fatal(err)
		}
	}
	seq, err := x.Commit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return seq
}

// show lists records as seq.ordinal kind key old before after, images by their
// length.
func show(t *testing.T, s storage.Store, opts stream.Options) []string {
	t.Helper()
	c, err := stream.Open(t.Context(), s.Latest(), id, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var out []string
	for done := false; !done; {
		n := 0
		done, err = c.Visit(t.Context(), func(r *stream.Record) bool {
			out = append(out, fmt.Sprintf("%d.%d %s %s %s %d %d v%d", r.Seq, r.Ordinal, r.Kind, r.Key, r.OldKey, len(r.Before), len(r.After), r.Version))
			n++
			return n < 2 // stops and goes on
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestRecords(t *testing.T) {
	s := memkv.New(memkv.Options{})
	defer s.Close()
	big := bytes.Repeat([]byte("x"), 3<<20+5)
	write(t, s, &stream.Record{Kind: stream.Start, Version: 1})
	write(t, s, &stream.Record{Kind: stream.Insert, Version: 1, Key: []byte("a"), After: []byte("row")},
		&stream.Record{Kind: stream.Update, Version: 2, Key: []byte("b"), OldKey: []byte("a"), Before: []byte("row"), After: big})
	write(t, s, &stream.Record{Kind: stream.Delete, Version: 300, Key: []byte("b"), Before: big})
	want := []string{"1.0 start   0 0 v1", "2.0 insert a  0 3 v1", "2.1 update b a 3 3145733 v2", "3.0 delete b  3145733 0 v300"}
	if got := show(t, s, stream.Options{}); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("%q", got)
	}
	back := []string{want[3], want[2], want[1], want[0]}
	if got := show(t, s, stream.Options{Reverse: true}); fmt.Sprint(got) != fmt.Sprint(back) {
		t.Fatalf("%q", got)
	}
	for _, x := range []struct {
		opts stream.Options
		want []string
	}{
		{stream.Options{After: stream.Behind(1)}, want[1:]},
		{stream.Options{After: stream.Position{Seq: 2, Ordinal: 0}}, want[2:]},
		{stream.Options{After: stream.Behind(2)}, want[3:]},
		{stream.Options{To: stream.Behind(2)}, want[:3]},
		{stream.Options{After: stream.Behind(3)}, nil},
		{stream.Options{After: stream.Behind(1), To: stream.Position{Seq: 2}}, want[1:2]},
	} {
		if got := show(t, s, x.opts); fmt.Sprint(got) != fmt.Sprint(x.want) {
			t.Fatalf("%+v: %q", x.opts, got)
		}
	}
}

func TestExpired(t *testing.T) {
	s := memkv.New(memkv.Options{})
	defer s.Close()
	var seqs []uint64
	var times []int64
	for i := range 10 {
		write(t, s, &stream.Record{Kind: stream.Insert, Version: 1, Key: []byte{byte(i)}, After: make([]byte, 1000)})
		r, ok, err := stream.First(t.Context(), s.Latest(), id, stream.Options{Reverse: true})
		if err != nil || !ok {
			t.Fatal(err)
		}
		seqs, times = append(seqs, r.Seq), append(times, r.Time)
		if i%2 == 0 { // other commits lie between
			other(t, s)
		}
	}
	st := &schema.Stream{ID: id, Retention: 100}
	for i := range seqs {
		want := uint64(0)
		if i > 0 {
			want = seqs[i-1]
		}
		got, err := stream.Expired(t.Context(), s, st, times[i]+100e6)
		if err != nil || got < want || i < 9 && got >= seqs[i] && want > 0 {
			t.Fatalf("at record %d: %d, want %d (%v)", i, got, want, err)
		}
	}
	st.MaxBytes = 3500
	got, err := stream.Expired(t.Context(), s, st, times[0])
	if err != nil || got < seqs[6] || got >= seqs[7] {
		t.Fatalf("by size: %d of %v (%v)", got, seqs, err)
	}
	st.MaxBytes = 10
	if got, err := stream.Expired(t.Context(), s, st, times[0]); err != nil || got < seqs[8] || got >= seqs[9] {
		t.Fatalf("by size: %d of %v (%v)", got, seqs, err)
	}
}

func other(t *testing.T, s storage.Store) {
	t.Helper()
	x, err := s.Begin(t.Context(), storage.TxnOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Put(t.Context(), []byte("other"), []byte("1")); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Whatever fails while records are removed, a reader after the mark sees all, one
// before it gets an error, and the next run finishes.
func TestTrimFails(t *testing.T) {
	lost := errors.New("lost")
	for _, op := range []errkv.Op{errkv.OpGet, errkv.OpScan, errkv.OpVisit, errkv.OpBegin, errkv.OpPut, errkv.OpCommit, errkv.OpDiscard} {
		for n := int64(1); n <= 3; n++ {
			for _, after := range []bool{false, true} {
				s := errkv.Wrap(memkv.New(memkv.Options{}))
				for range 5 {
					write(t, s, &stream.Record{Kind: stream.Insert, Version: 1, Key: []byte("k"), After: []byte("v")})
				}
				if after && (op == errkv.OpCommit || op == errkv.OpDiscard) {
					s.FailAfter(op, n, lost)
				} else {
					s.Fail(op, n, lost)
				}
				err := stream.Trim(context.Background(), s, id, 3, 1)
				s.Reset()
				checkTrimmed(t, s, err == nil)
				if err := stream.Trim(t.Context(), s, id, 3, 1); err != nil {
					t.Fatal(err)
				}
				checkTrimmed(t, s, true)
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

func checkTrimmed(t *testing.T, s storage.Store, done bool) {
	t.Helper()
	mark, err := stream.Mark(t.Context(), s.Latest(), id)
	if err != nil || mark != 0 && mark != 3 || done && mark != 3 {
		t.Fatalf("mark %d (%v), done %v", mark, err, done)
	}
	left := len(show(t, s, stream.Options{}))
	if left != 2 && (left != 5 || done) {
		t.Fatalf("%d records left, done %v", left, done)
	}
	err = stream.Check(t.Context(), s.Latest(), id, stream.Behind(2))
	if errors.Is(err, stream.ErrPurged) != (mark == 3) || mark == 0 && left < 5 {
		t.Fatalf("mark %d, %d records, %v", mark, left, err)
	}
	if err := stream.Check(t.Context(), s.Latest(), id, stream.Behind(3)); err != nil {
		t.Fatal(err)
	}
}

// Malformed records are errors, not panics.
func FuzzCursor(f *testing.F) {
	f.Add([]byte{1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 1, 'k', 1, 'v'}, []byte{0})
	f.Add([]byte{1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 1, 1, 'k', 200}, []byte{1})
	f.Fuzz(func(t *testing.T, val, part []byte) {
		if len(val) == 0 {
			return
		}
		s := memkv.New(memkv.Options{})
		defer s.Close()
		x, err := s.Begin(t.Context(), storage.TxnOptions{})
		if err != nil {
			t.Fatal(err)
		}
		key := append(bytes.Clone(stream.Span(id).Start), 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0)
		if err := x.Put(t.Context(), key, val); err != nil {
			t.Skip()
		}
		if len(part) > 0 {
			key[len(key)-1] = 1
			if err := x.Put(t.Context(), key, part); err != nil {
				t.Skip()
			}
		}
		if _, err := x.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, reverse := range []bool{false, true} {
			c, err := stream.Open(t.Context(), s.Latest(), id, stream.Options{Reverse: reverse})
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.Visit(t.Context(), func(*stream.Record) bool { return true })
			if err != nil && !errors.Is(err, storage.ErrCorruption) {
				t.Fatal(err)
			}
			c.Close()
		}
	})
}
