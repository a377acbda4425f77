package engine

import (
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/sqlots/sqlots/sql/infoschema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/storage/backup"
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

// Begin registers a backup; only one runs at a time.
func (j *backupJobs) Begin(b infoschema.Backup) (stage string, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.running {
		return "", BackupFailed(errors.New("another backup is running"))
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

func (j *backupJobs) Progress(p backup.Progress) {
	j.mu.Lock()
	defer j.mu.Unlock()
	b := &j.runs[len(j.runs)-1]
	b.Files, b.FilesDone, b.Bytes, b.BytesDone, b.BytesCopied = uint64(p.Files), uint64(p.FilesDone), uint64(p.Bytes), uint64(p.BytesDone), uint64(p.BytesCopied)
}

func (j *backupJobs) End(err error) infoschema.Backup {
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

// List are the backups, oldest first.
func (j *backupJobs) List() []infoschema.Backup {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.runs)
}

// BackupFailed is 8124 with the reason.
func BackupFailed(err error) *sqlerr.Error {
	return sqlerr.BackupFailed(err)
}
