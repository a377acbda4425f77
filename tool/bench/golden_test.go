package bench

// Sums over the first 1,000 rows of the default data set.
const (
	goldenCell     = 485_975_167
	goldenCalled   = 501_665_079
	goldenDuration = 1_197_169
	goldenStation  = 472_336
)
