package tikvkv

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/pingcap/log"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// logTo has client-go report to a log. client-go has one for the whole process, so the last
// caller gets it.
func logTo(l *slog.Logger) {
	current.Store(l)
	replaceLog()
}

// current is the log of client-go, which is as global as that.
var current atomic.Pointer[slog.Logger]

var replaceLog = sync.OnceFunc(func() {
	level := zap.NewAtomicLevelAt(zapcore.InfoLevel)
	log.ReplaceGlobals(zap.New(core{}), &log.ZapProperties{Core: core{}, Level: level})
})

// connecting counts the calls of connect under way, and refusal is why the last try to
// reach a placement driver has failed, which only the client's log says.
var (
	connecting atomic.Int32
	refusal    atomic.Pointer[string]
)

// description is what a connection met, in an error of gRPC.
var description = regexp.MustCompile(`desc = "((?:[^"\\]|\\.)*)"`)

// noteRefusal keeps the error of a message. The text of gRPC has the cause in quotes.
func noteRefusal(all []slog.Attr) {
	for _, a := range all {
		if a.Key != "error" {
			continue
		}
		text, _, _ := strings.Cut(fmt.Sprint(a.Value.Any()), "\n")
		if m := description.FindStringSubmatch(text); m != nil {
			text = m[1]
		}
		refusal.Store(&text)
	}
}

// core implements zapcore.Core.
type core struct{ fields []slog.Attr }

// levelOf is one step lower than client-go has it: its information is about single
// transactions, and what it warns of is tried again.
func levelOf(l zapcore.Level) slog.Level {
	switch {
	case connecting.Load() > 0:
		return slog.LevelDebug // the error says it
	case l >= zapcore.ErrorLevel:
		return slog.LevelWarn
	case l == zapcore.WarnLevel:
		return slog.LevelInfo
	}
	return slog.LevelDebug
}

// Enabled implements zapcore.Core.
func (c core) Enabled(l zapcore.Level) bool {
	return connecting.Load() > 0 || l >= zapcore.InfoLevel && current.Load().Enabled(context.Background(), levelOf(l))
}

// With implements zapcore.Core.
func (c core) With(fields []zapcore.Field) zapcore.Core {
	return core{append(c.fields[:len(c.fields):len(c.fields)], attrs(fields)...)}
}

// frequent are messages of client-go that come with every call: of a busy cluster, and of
// one whose servers do not say when a value was committed, which Reader.Get has logged.
var frequent = []string{"get timestamp too slow", untimedText}

// levelOfEntry is levelOf, and lower for what is frequent.
func levelOfEntry(e zapcore.Entry) slog.Level {
	if slices.Contains(frequent, e.Message) {
		return slog.LevelDebug
	}
	return levelOf(e.Level)
}

// Check implements zapcore.Core.
func (c core) Check(e zapcore.Entry, to *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if connecting.Load() > 0 || current.Load().Enabled(context.Background(), levelOfEntry(e)) {
		return to.AddCore(e, c)
	}
	return to
}

// Write implements zapcore.Core.
func (c core) Write(e zapcore.Entry, fields []zapcore.Field) error {
	all := append(c.fields[:len(c.fields):len(c.fields)], attrs(fields)...)
	if connecting.Load() > 0 {
		noteRefusal(all)
	}
	current.Load().LogAttrs(context.Background(), levelOfEntry(e), "tikv: "+e.Message, all...)
	return nil
}

// Sync implements zapcore.Core.
func (c core) Sync() error { return nil }

func attrs(fields []zapcore.Field) []slog.Attr {
	enc := zapcore.NewMapObjectEncoder()
	for _, f := range fields {
		f.AddTo(enc)
	}
	out := make([]slog.Attr, 0, len(enc.Fields))
	for _, f := range fields {
		if v, ok := enc.Fields[f.Key]; ok {
			out = append(out, slog.Any(f.Key, v))
		}
	}
	return out
}
