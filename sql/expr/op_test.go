package expr

import "testing"

// TestOpsAreFunctions holds that every Op, and every alias of one, is the name
// of a function, and that the aliases mean the same function.
func TestOpsAreFunctions(t *testing.T) {
	for op := OpNone + 1; op < opEnd; op++ {
		name := op.String()
		if name == "" || lookup(name) == nil {
			t.Errorf("Op %d, %q, is no function", op, name)
		}
		if OpOf(name) != op {
			t.Errorf("%q is Op %d, not %d: two have the name", name, OpOf(name), op)
		}
	}
	for alias, op := range opAliases {
		if lookup(alias) == nil || lookup(alias) != lookup(op.String()) {
			t.Errorf("%q is not the function %q", alias, op)
		}
	}
	for op := AggNone + 1; op < aggEnd; op++ {
		if !IsAgg(op.String()) || aggOps[op.String()] != op {
			t.Errorf("AggOp %d, %q, is no aggregate function", op, op)
		}
	}
	for op := WinAggregate + 1; op < winEnd; op++ {
		if !IsWindowFunc(op.String()) || windowOps[op.String()] != op {
			t.Errorf("WindowOp %d, %q, is no window function", op, op)
		}
	}
}

// TestSwapped holds that swapping twice gives the same, and that the signs for
// which a comparison holds are swapped with it.
func TestSwapped(t *testing.T) {
	for op := OpNone; op < opEnd; op++ {
		swapped, ok := op.Swapped()
		if ok != op.IsComparison() {
			t.Errorf("%q is swapped: %t", op, ok)
		}
		if !ok {
			continue
		}
		if back, _ := swapped.Swapped(); back != op {
			t.Errorf("%q swapped twice is %q", op, back)
		}
		x, _ := op.signs()
		if y, _ := swapped.signs(); y != x.swapped() {
			t.Errorf("%q holds for %03b, %q for %03b", op, x, swapped, y)
		}
	}
}
