package engine

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/querylog"
	"github.com/sqlots/sqlots/value"
)

// openLogs makes the logs of an engine as its global variables say.
func (e *Engine) openLogs() {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	for name, file := range map[string]string{"slow_query_log_file": host + "-slow.log", "general_log_file": host + ".log"} {
		if _, set := e.Globals.Changed(name); !set {
			e.Globals.Set(name, value.String(filepath.Join(e.LogDir, file)))
		}
	}
	e.Logs = querylog.New(e.Log, expr.ServerVersion, e.Globals.Value("port").Bits(), "")
	e.logsChanged()
}

// logVariables are those that logsChanged looks at.
func isLogVariable(name string) bool {
	switch name {
	case "slow_query_log", "slow_query_log_file", "general_log", "general_log_file", "log_output", "log_slow_extra":
		return true
	}
	return false
}

// logsChanged brings the logs in line with the global variables.
func (e *Engine) logsChanged() {
	output := "," + e.Globals.Value("log_output").Str() + ","
	files, tables := strings.Contains(output, ",FILE,"), strings.Contains(output, ",TABLE,")
	if strings.Contains(output, ",NONE,") {
		files, tables = false, false
	}
	e.Logs.Output(files, tables)
	e.Logs.SetPaths(querylog.InDir(e.LogDir, e.Globals.Value("slow_query_log_file").Str()), querylog.InDir(e.LogDir, e.Globals.Value("general_log_file").Str()))
	e.Logs.Extra.Store(e.Globals.Value("log_slow_extra").Bits() != 0)
	some := files || tables
	e.Logs.SlowOn.Store(some && e.Globals.Value("slow_query_log").Bits() != 0)
	e.Logs.GeneralOn.Store(some && e.Globals.Value("general_log").Bits() != 0)
}
