package storage

import "context"

type freeingKey struct{}

// FreeingSpace marks the writes that are made with the context as part of a
// step that gives space back (dropping a table). An engine that keeps a reserve
// of disk space lets such writes, which are few and small, use a part of it
// instead of refusing them with ErrDiskFull.
func FreeingSpace(ctx context.Context) context.Context {
	return context.WithValue(ctx, freeingKey{}, true)
}

// IsFreeingSpace reports whether FreeingSpace marked the context.
func IsFreeingSpace(ctx context.Context) bool {
	marked, _ := ctx.Value(freeingKey{}).(bool)
	return marked
}
