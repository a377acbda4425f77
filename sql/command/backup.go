package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/engine"
	"github.com/sqlots/sqlots/sql/infoschema"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/statement"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/backup"
	"github.com/sqlots/sqlots/value"
)

// backup is BACKUP DATABASE *: a line with what was done. It reads the latest
// commits, whatever transaction is open.
func (s *commands) backup(ctx context.Context, x *logical.Backup, more bool, w mysqlwire.ResultWriter) error {
	to, err := s.backupPath(x.To)
	if err != nil {
		return err
	}
	o := backup.Options{To: to, BytesPerSecond: x.BytesPerSecond}
	if x.Previous != "" {
		if o.Previous, err = s.backupPath(x.Previous); err != nil {
			return err
		}
	}
	jobs := &s.Engine.Backups
	if o.Stage, err = jobs.Begin(infoschema.Backup{Destination: to, Previous: o.Previous}); err != nil {
		return err
	}
	s.Process.SetState("copying the store")
	o.Progress = func(p backup.Progress) {
		jobs.Progress(p)
		s.Process.SetState(fmt.Sprintf("backup: %d of %d files, %d of %d bytes", p.FilesDone, p.Files, p.BytesDone, p.Bytes))
	}
	var m *backup.Manifest
	err = s.Engine.Jobs.Run(ctx, "backup to "+to, func(ctx context.Context) error {
		if m, err = backup.Create(ctx, s.Engine.Store, o); err != nil {
			err = backupError(ctx, err, to)
		}
		return err
	})
	b := jobs.End(err)
	if err != nil {
		s.Engine.Log.Warn("backup failed", "event", "backup.failed", "destination", to, "error", err)
		return err
	}
	took := b.Ended.Sub(b.Started)
	s.Engine.Log.Info("backup made", "event", "backup.done", "destination", to, "files", b.Files, "bytes", b.Bytes, "copied", b.BytesCopied, "took", took)
	err = w.Header(mysqlwire.NewHeader([]mysqlwire.Column{
		{Name: "Destination", Type: types.VarcharOf(4096, schema.CollationUTF8MB40900AICI)}, {Name: "Size", Type: types.UBigInt},
		{Name: "Copied", Type: types.UBigInt}, {Name: "Sequence", Type: types.UBigInt}, {Name: "Seconds", Type: types.Double}}))
	if err != nil {
		return err
	}
	err = w.Row([]value.Datum{value.String(to), value.Uint(b.Bytes), value.Uint(b.BytesCopied), value.Uint(m.Sequence), value.Float(took.Seconds())})
	if err != nil {
		return err
	}
	return w.End(mysqlwire.End{Warnings: s.Diagnostics.WarningCount, More: more})
}

// backupPath is the real path of a backup, which must be in sqlots_backup_dir; a
// relative path begins there: 1290.
func (s *commands) backupPath(path string) (string, error) {
	if dir := s.Vars.Text("sqlots_backup_dir"); dir != "" && !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return s.PathWithin("sqlots_backup_dir", "--backup-dir", path)
}

// backupError gives what backup.Create says its number.
func backupError(ctx context.Context, err error, to string) error {
	var path *fs.PathError
	switch {
	case ctx.Err() != nil:
		return statement.Translate(context.Cause(ctx))
	case errors.Is(err, storage.ErrNoFiles):
		return sqlerr.NotSupported("BACKUP of a store in memory or in a cluster")
	case errors.Is(err, backup.ErrExists):
		if _, serr := os.Lstat(to); serr == nil {
			return sqlerr.FileExists(to)
		}
	case errors.Is(err, storage.ErrDiskFull), errors.Is(err, storage.ErrUnavailable), errors.Is(err, storage.ErrClosed):
		return statement.Translate(err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		if errors.As(err, &path) {
			return sqlerr.DiskFull(path.Path)
		}
		return sqlerr.DiskFull(to)
	}
	return engine.BackupFailed(err)
}
