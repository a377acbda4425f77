package catalog

import (
	"context"
	"sync"
	"testing"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage/errkv"
)

// TestTableIDsOfTwo: two processes that change the catalog at once give out different ids.
func TestTableIDsOfTwo(t *testing.T) {
	ctx := context.Background()
	store := errkv.NewFar(errkv.FarOptions{})
	defer store.Close()
	var mu sync.Mutex
	given := map[schema.TableID]bool{}
	var wg sync.WaitGroup
	for range 2 {
		c, err := Open(ctx, store)
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			for range 50 {
				var id schema.TableID
				err := c.Change(ctx, func(ch *Change) error {
					id = ch.NextTableID()
					return nil
				})
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				if given[id] {
					t.Errorf("id %d was given before", id)
				}
				given[id] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}
