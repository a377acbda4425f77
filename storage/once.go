package storage

import "context"

type (
	onceKey  struct{}
	freshKey struct{}
)

// ReadingOnce marks the reads by key that are made with the context as those of work that
// comes back to no row, such as a follower of changes: an engine does not take them as a
// sign that more will be read there. For scans there is ScanOptions.Cold.
func ReadingOnce(ctx context.Context) context.Context {
	return context.WithValue(ctx, onceKey{}, true)
}

// IsReadingOnce reports whether ReadingOnce marked the context.
func IsReadingOnce(ctx context.Context) bool {
	marked, _ := ctx.Value(onceKey{}).(bool)
	return marked
}

// ReadingFresh is ReadingOnce for keys that were written a moment ago: an engine looks
// for each where new values are.
func ReadingFresh(ctx context.Context) context.Context {
	return context.WithValue(ReadingOnce(ctx), freshKey{}, true)
}

// IsReadingFresh reports whether ReadingFresh marked the context.
func IsReadingFresh(ctx context.Context) bool {
	marked, _ := ctx.Value(freshKey{}).(bool)
	return marked
}
