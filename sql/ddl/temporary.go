package ddl

import (
	"context"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/mdl"
	"github.com/sqlots/sqlots/sql/planner/logical"
)

// NewTemporary makes the Runner of a session's temporary tables. Its catalog is
// in memory and has these tables only. Their data is in the store under ids that
// the shared catalog gives out, each with a job, so that Resume deletes what a
// crash leaves.
func NewTemporary(shared Config) *Runner {
	own := shared
	own.Catalog, own.Locks = catalog.NewTemporary(shared.Catalog), &mdl.Locks{}
	r := New(own)
	r.temporary = true
	return r
}

// Forget takes temporary tables out of the catalog; their data stays until
// DropData.
func (r *Runner) Forget(ctx context.Context, tables []*schema.Table) error {
	return r.Catalog.Change(ctx, func(ch *catalog.Change) error {
		for _, t := range tables {
			ch.DropTable(t)
		}
		return nil
	})
}

// DropData deletes the data of temporary tables that were forgotten.
func (r *Runner) DropData(ctx context.Context, tables []*schema.Table) {
	jobs := make([]job, len(tables))
	for i, t := range tables {
		jobs[i] = job{table: t.ID}
	}
	r.remover().finish(ctx, jobs...)
}

// LikeTable is an empty table of the definition of like, for CREATE TABLE …
// LIKE.
func LikeTable(like *schema.Table, name logical.TableName) *schema.Table {
	return likeTable(like, name)
}
