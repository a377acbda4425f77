package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/infoschema"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/backup"
	"github.com/sqlots/sqlots/value"
)

// backupJobs are the backups since the server started.
type backupJobs struct {
	stage string

	mu      sync.Mutex
	started uint64
	running bool
	runs    []infoschema.Backup // oldest first; the last is the one that runs
}

const backupHistory = 200

// begin registers a backup; only one runs at a time.
func (j *backupJobs) begin(b infoschema.Backup) (stage string, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.running {
		return "", backupFailed(errors.New("another backup is running"))
	}
	j.started++
	b.ID, b.Started = j.started, time.Now()
	j.running = true
	if len(j.runs) >= backupHistory {
		j.runs = slices.Delete(j.runs, 0, 1)
	}
	j.runs = append(j.runs, b)
	return filepath.Join(j.stage, strconv.FormatUint(b.ID, 10)), nil
}

func (j *backupJobs) progress(p backup.Progress) {
	j.mu.Lock()
	defer j.mu.Unlock()
	b := &j.runs[len(j.runs)-1]
	b.Files, b.FilesDone, b.Bytes, b.BytesDone, b.BytesCopied = uint64(p.Files), uint64(p.FilesDone), uint64(p.Bytes), uint64(p.BytesDone), uint64(p.BytesCopied)
}

func (j *backupJobs) end(err error) infoschema.Backup {
	j.mu.Lock()
	defer j.mu.Unlock()
	b := &j.runs[len(j.runs)-1]
	now := time.Now()
	b.Ended = &now
	if err != nil {
		b.Error = err.Error()
	}
	j.running = false
	return *b
}

// Backups implements infoschema.Server.
func (e *introspection) Backups() []infoschema.Backup {
	j := &e.backups
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.runs)
}

// backup is BACKUP DATABASE *: a line with what was done. It reads the latest
// commits, whatever transaction is open.
func (s *Session) backup(ctx context.Context, x *logical.Backup, more bool, w mysqlwire.ResultWriter) error {
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
	jobs := &s.engine.backups
	if o.Stage, err = jobs.begin(infoschema.Backup{Destination: to, Previous: o.Previous}); err != nil {
		return err
	}
	s.process.SetState("copying the store")
	o.Progress = func(p backup.Progress) {
		jobs.progress(p)
		s.process.SetState(fmt.Sprintf("backup: %d of %d files, %d of %d bytes", p.FilesDone, p.Files, p.BytesDone, p.Bytes))
	}
	m, err := backup.Create(ctx, s.engine.store, o)
	if err != nil {
		err = backupError(ctx, err, to)
	}
	b := jobs.end(err)
	if err != nil {
		s.engine.log.Warn("backup failed", "destination", to, "err", err)
		return err
	}
	took := b.Ended.Sub(b.Started)
	s.engine.log.Info("backup made", "destination", to, "files", b.Files, "bytes", b.Bytes, "copied", b.BytesCopied, "took", took)
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
	return w.End(mysqlwire.End{Warnings: s.warningCount, More: more})
}

// backupPath is the real path of a backup, which must lie in sqlots_backup_dir;
// a relative path begins there: 1290.
func (s *Session) backupPath(path string) (string, error) {
	if dir := s.vars.text("sqlots_backup_dir"); dir != "" && !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return s.pathWithin("sqlots_backup_dir", "--backup-dir", path)
}

func backupFailed(err error) *sqlerr.Error {
	return sqlerr.BackupFailed(err)
}

// backupError gives what backup.Create says its number.
func backupError(ctx context.Context, err error, to string) error {
	var path *fs.PathError
	switch {
	case ctx.Err() != nil:
		return translate(context.Cause(ctx))
	case errors.Is(err, storage.ErrNoFiles):
		return sqlerr.NotSupported("BACKUP of a store in memory")
	case errors.Is(err, backup.ErrExists):
		if _, serr := os.Lstat(to); serr == nil {
			return sqlerr.FileExists(to)
		}
	case errors.Is(err, storage.ErrDiskFull), errors.Is(err, storage.ErrUnavailable), errors.Is(err, storage.ErrClosed):
		return translate(err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		if errors.As(err, &path) {
			return sqlerr.DiskFull(path.Path)
		}
		return sqlerr.DiskFull(to)
	}
	return backupFailed(err)
}
