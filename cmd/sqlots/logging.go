package main

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// newLogger makes the log of the server. Each of its main lines has an attribute "event",
// which docs/operations.md lists and which does not change.
func newLogger(w io.Writer, format, level string) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil || strings.ContainsAny(level, "+-") {
		return nil, fmt.Errorf("--log-level is debug, info, warn or error, not %q", level)
	}
	options := &slog.HandlerOptions{Level: l}
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(w, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, options)), nil
	}
	return nil, fmt.Errorf("--log-format is text or json, not %q", format)
}
