package types

// NextAuto is the least value of an AUTO_INCREMENT column from v on that
// auto_increment_increment (step) and auto_increment_offset allow; 0 without one. An offset
// beyond the step is ignored, as in MySQL; 0 is 1 for both.
func NextAuto(v, step, offset uint64) uint64 {
	if step <= 1 {
		return v
	}
	if offset == 0 || offset > step {
		offset = 1
	}
	if v <= offset {
		return offset
	}
	// v - offset is at least 1: the sum below overflows only where no value is left.
	n := (v - offset - 1) / step
	n = (n + 1) * step
	if n+offset < v {
		return 0
	}
	return n + offset
}
