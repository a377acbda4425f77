package metamorphic

// reduce leaves out steps as long as the rest still fails (delta debugging:
// Zeller and Hildebrandt, 2002): first large parts, then smaller ones.
func reduce(steps []step, fails func([]step) bool) []step {
	for parts := 2; len(steps) > 1; {
		size := (len(steps) + parts - 1) / parts
		smaller := false
		for from := 0; from < len(steps); from += size {
			rest := append(append([]step(nil), steps[:from]...), steps[min(from+size, len(steps)):]...)
			if fails(rest) {
				steps, smaller = rest, true
				from -= size
			}
		}
		if size == 1 && !smaller {
			break
		}
		parts = min(max(2, parts*2), len(steps))
	}
	return steps
}
