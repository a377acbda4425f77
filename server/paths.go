package server

import (
	"fmt"

	"github.com/sqlots/sqlots/internal/datadir"
	"github.com/sqlots/sqlots/storage/pebblekv"
)

// The folders that a server has in the data directory, next to those of the store.
const (
	searchFolder = "search"
	tempFolder   = "tmp"
	logFolder    = "log"
)

// checkPaths refuses flags that lead into the folders of the data directory:
// statements write where the flags say, and read there. The data directory itself
// is refused as well, since it is not for files of others.
func checkPaths(cfg Config) (datadir.Dir, error) {
	if cfg.InMemory {
		return datadir.Dir{}, nil
	}
	d, err := datadir.New(cfg.DataDir, append(append(pebblekv.Files(), datadir.Files()...), searchFolder, tempFolder, logFolder)...)
	if err != nil {
		return d, fmt.Errorf("data directory: %w", err)
	}
	logs := cfg.LogDir
	if logs == "" {
		logs = cfg.DataDir + "/" + logFolder
	}
	for _, p := range []struct{ flag, path, own string }{
		{"log-dir", logs, logFolder}, {"tmp", cfg.TempDir, tempFolder}, {"secure-file-priv", cfg.SecureFileDir, ""},
		{"backup-dir", cfg.BackupDir, ""}, {"socket", cfg.Socket, ""},
	} {
		if p.path == "" {
			continue
		}
		if folder := d.Folder(p.path); folder != "" && folder != p.own {
			return d, fmt.Errorf("--%s %s leads to %s in the data directory, which is for the server alone", p.flag, p.path, folder)
		}
		if d.Is(p.path) {
			return d, fmt.Errorf("--%s %s is the data directory itself: name another directory, or one of its own in it", p.flag, p.path)
		}
	}
	return d, nil
}
