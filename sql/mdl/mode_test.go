package mdl

import (
	"context"
	"errors"
	"testing"
)

// TestModes proves which modes of two owners go together.
func TestModes(t *testing.T) {
	names := []string{"read", "write", "freeze", "alone"}
	together := [4][4]bool{
		Read:   {Read: true, Write: true, Freeze: true},
		Write:  {Read: true, Write: true},
		Freeze: {Read: true, Freeze: true},
	}
	for first := Read; first <= Alone; first++ {
		for second := Read; second <= Alone; second++ {
			var l Locks
			ctx := context.Background()
			if err := l.Acquire(ctx, 1, "k", first, 0); err != nil {
				t.Fatal(err)
			}
			if err := l.Acquire(ctx, 1, "k", second, 0); err != nil {
				t.Errorf("%s then %s of one owner: %v", names[first], names[second], err)
			}
			l.Release(1, "k", second)
			err := l.Acquire(ctx, 2, "k", second, 0)
			if together[first][second] != (err == nil) || err != nil && !errors.Is(err, ErrTimeout) {
				t.Errorf("%s beside %s: %v", names[second], names[first], err)
			}
			if err == nil {
				l.Release(2, "k", second)
			}
			l.Release(1, "k", first)
			l.Release(1, "k", first) // not held: nothing
			if len(l.tables) != 0 {
				t.Errorf("%s, %s: the lock is left over", names[first], names[second])
			}
		}
	}
}
