package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// manager is the service manager that has started the server (systemd, Type=notify). It is
// quiet where there is no such manager: without NOTIFY_SOCKET.
type manager struct {
	log  *slog.Logger
	stop context.CancelFunc // of what is sent again and again
	done chan struct{}
}

// extendBy is how much longer than it waits anyway the manager is to wait for a start, and
// extendEvery how often that is said.
const (
	extendBy    = 30 * time.Second
	extendEvery = 10 * time.Second
)

// startManager says that the server is starting, until ready.
func startManager(log *slog.Logger) *manager {
	m := &manager{log: log}
	text := fmt.Sprintf("STATUS=starting\nEXTEND_TIMEOUT_USEC=%d", extendBy.Microseconds())
	if m.send(text) {
		m.repeat(extendEvery, func() { m.send(text) })
	}
	return m
}

// send reports whether a manager listens.
func (m *manager) send(text string) bool {
	sent, err := daemon.SdNotify(false, text)
	if err != nil {
		m.log.Warn("the service manager cannot be reached", "event", "manager.failed", "error", err)
	}
	return sent
}

// repeat calls fn in each period until the next repeat or end.
func (m *manager) repeat(period time.Duration, fn func()) {
	m.end()
	ctx, cancel := context.WithCancel(context.Background())
	m.stop, m.done = cancel, make(chan struct{})
	go func() {
		defer close(m.done)
		t := time.NewTicker(period)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
				fn()
			}
		}
	}()
}

// ready says that clients can connect, and from then on that the server lives, if the
// manager watches it. alive returns soon if the server does.
func (m *manager) ready(address string, alive func()) {
	m.end()
	if !m.send("READY=1\nSTATUS=listening on " + address) {
		return
	}
	period, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		m.log.Warn("WATCHDOG_USEC is no time", "event", "manager.failed", "error", err)
	}
	if period > 0 {
		m.repeat(period/3, func() {
			alive()
			m.send(daemon.SdNotifyWatchdog)
		})
	}
}

// stopping says that the server ends, within a time.
func (m *manager) stopping(grace time.Duration) {
	m.end()
	m.send(fmt.Sprintf("STOPPING=1\nSTATUS=stopping\nEXTEND_TIMEOUT_USEC=%d", (grace + extendBy).Microseconds()))
}

// end ends what is sent again and again.
func (m *manager) end() {
	if m.stop != nil {
		m.stop()
		<-m.done
		m.stop = nil
	}
}
