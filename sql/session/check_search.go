package session

import (
	"context"
	"errors"

	"github.com/sqlots/sqlots/index/scrub"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search"
	"github.com/sqlots/sqlots/storage"
)

// checkSearch adds to a report what is wrong with the documents of search indexes,
// and gives notes about those that cannot be checked.
func (s *commands) checkSearch(ctx context.Context, snap storage.Snapshot, t *schema.Table, report *scrub.Report) (notes [][2]string, err error) {
	if s.Engine.Search == nil {
		return nil, nil
	}
	for i := range t.Search {
		x := &t.Search[i]
		_, err := s.Engine.Search.Check(ctx, snap, t, x, func(key []byte, text string) { report.Add(x.Name, key, text) })
		if errors.Is(err, search.ErrUnavailable) {
			notes = append(notes, [2]string{"note", "search index " + x.Name + " is not ready, and was not checked"})
			continue
		}
		if err != nil {
			return nil, err
		}
	}
	return notes, nil
}
