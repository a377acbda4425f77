package statement

import (
	"sync"

	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/sysvar"
)

// Diagnostics are the errors, warnings and notes of a statement.
type Diagnostics struct {
	vars   *sysvar.Values
	errors *metrics.Errors

	diagMu       sync.Mutex // warnings may come from parallel workers
	warnings     []sqlerr.Warning
	WarningCount int
	shownCount   int // of them belong to the statement before
	errorCount   int
}

func (d *Diagnostics) warnAll(list []sqlerr.Warning) {
	for _, x := range list {
		d.Warn(x)
	}
}

// Clear forgets those of the statement before.
func (d *Diagnostics) Clear() {
	d.warnings, d.WarningCount, d.errorCount, d.shownCount = d.warnings[:0], 0, 0, 0
}

// beginDiagnostics starts those of a statement; keep says that it shows the
// ones of the statement before, which are not its own.
func (d *Diagnostics) beginDiagnostics(keep bool) {
	if !keep {
		d.Clear()
		return
	}
	d.shownCount = d.WarningCount
}

// Warn adds to the diagnostics. It may be called by parallel workers.
func (d *Diagnostics) Warn(w sqlerr.Warning) {
	d.diagMu.Lock()
	defer d.diagMu.Unlock()
	d.WarningCount++
	d.errors.Add(w.Err.Number, w.Err.State)
	if w.Level == sqlerr.LevelError {
		d.errorCount++
	}
	if uint64(len(d.warnings)) < d.vars.Number("max_error_count") {
		d.warnings = append(d.warnings, w)
	}
}
