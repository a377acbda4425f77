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
	e.logNames = map[string]string{"slow_query_log_file": host + "-slow.log", "general_log_file": host + ".log"}
	for name := range e.logNames {
		if v, set := e.Globals.Changed(name); set && querylog.InDir(e.LogDir, v.Str()) == "" {
			e.Log.Warn("a persisted log file is not in the directory of logs: the default is used", "event", "variable.ignored", "name", name, "value", v.Str(), "directory", e.LogDir)
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
	e.Logs.SetPaths(e.logFile("slow_query_log_file"), e.logFile("general_log_file"))
	e.Logs.Extra.Store(e.Globals.Value("log_slow_extra").Bits() != 0)
	some := files || tables
	e.Logs.SlowOn.Store(some && e.Globals.Value("slow_query_log").Bits() != 0)
	e.Logs.GeneralOn.Store(some && e.Globals.Value("general_log").Bits() != 0)
}

// logFile is the path that a variable names. A value that names none, which DEFAULT
// is, and one that an older version has persisted may be, becomes the default.
func (e *Engine) logFile(variable string) string {
	if path := querylog.InDir(e.LogDir, e.Globals.Value(variable).Str()); path != "" {
		return path
	}
	path := filepath.Join(e.LogDir, e.logNames[variable])
	e.Globals.Set(variable, value.String(path))
	return querylog.InDir(e.LogDir, path)
}
