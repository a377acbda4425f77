package loglines

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Most is how many lines are kept, maxText how much of each, in bytes.
const (
	Most    = 1000
	maxText = 2 << 10
)

// Line is a line of a log.
type Line struct {
	Time  time.Time
	Level slog.Level
	Text  string // the message and its attributes
}

// Handler is a slog.Handler that keeps lines from INFO on and hands all to the next one.
type Handler struct {
	next  slog.Handler
	lines *lines
	attrs string // of With, as text
	group string
}

type lines struct {
	mu   sync.Mutex
	list []Line // a ring
	next int
}

// New makes a handler in front of another one.
func New(next slog.Handler) *Handler { return &Handler{next: next, lines: &lines{}} }

// Enabled implements slog.Handler.
func (h *Handler) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelInfo || h.next.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (h *Handler) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelInfo {
		text := r.Message + h.attrs
		r.Attrs(func(a slog.Attr) bool {
			text += h.text(a)
			return true
		})
		if len(text) > maxText {
			text = string([]byte(text[:maxText]))
		}
		h.lines.add(Line{Time: r.Time, Level: r.Level, Text: text})
	}
	if !h.next.Enabled(ctx, r.Level) {
		return nil
	}
	return h.next.Handle(ctx, r)
}

func (h *Handler) text(a slog.Attr) string {
	return ", " + h.group + a.Key + ": " + a.Value.Resolve().String()
}

// WithAttrs implements slog.Handler.
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	out := *h
	out.next = h.next.WithAttrs(attrs)
	for _, a := range attrs {
		out.attrs += h.text(a)
	}
	return &out
}

// WithGroup implements slog.Handler.
func (h *Handler) WithGroup(name string) slog.Handler {
	out := *h
	out.next = h.next.WithGroup(name)
	if name != "" {
		out.group += name + "."
	}
	return &out
}

// Lines are those that are kept, oldest first.
func (h *Handler) Lines() []Line {
	l := h.lines
	l.mu.Lock()
	defer l.mu.Unlock()
	return append(append([]Line(nil), l.list[l.next:]...), l.list[:l.next]...)
}

func (l *lines) add(x Line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.list) < Most {
		l.list = append(l.list, x)
		return
	}
	l.list[l.next] = x
	l.next = (l.next + 1) % Most
}
