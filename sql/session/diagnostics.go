package session

import (
	"sync"

	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/sysvar"
)

// diagnostics are the errors, warnings and notes of a statement.
type diagnostics struct {
	vars *sysvar.Values

	diagMu       sync.Mutex // warnings may come from parallel workers
	warnings     []sqlerr.Warning
	warningCount int
	shownCount   int // of them belong to the statement before
	errorCount   int
}

func (d *diagnostics) warnAll(list []sqlerr.Warning) {
	for _, x := range list {
		d.warn(x)
	}
}

func (d *diagnostics) clearDiagnostics() {
	d.warnings, d.warningCount, d.errorCount, d.shownCount = d.warnings[:0], 0, 0, 0
}

// beginDiagnostics starts those of a statement; keep says that it shows the
// ones of the statement before, which are not its own.
func (d *diagnostics) beginDiagnostics(keep bool) {
	if !keep {
		d.clearDiagnostics()
		return
	}
	d.shownCount = d.warningCount
}

// warn adds to the diagnostics. It may be called by parallel workers.
func (d *diagnostics) warn(w sqlerr.Warning) {
	d.diagMu.Lock()
	defer d.diagMu.Unlock()
	d.warningCount++
	if w.Level == sqlerr.LevelError {
		d.errorCount++
	}
	if uint64(len(d.warnings)) < d.vars.Number("max_error_count") {
		d.warnings = append(d.warnings, w)
	}
}
