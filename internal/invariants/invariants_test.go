package invariants

import (
	"errors"
	"testing"
)

func TestViolated(t *testing.T) {
	defer func() {
		r := recover()
		if (r != nil) != Enabled {
			t.Errorf("panic is %v, Enabled is %v", r, Enabled)
		}
	}()
	if err := Violated("row %d", 7); !errors.Is(err, ErrViolated) || err.Error() != "invariant violated: row 7" {
		t.Errorf("got %v", err)
	}
}
