package mysqlwire

import (
	"crypto/tls"
	"log/slog"
	"time"
)

// Config configures a Server. The zero value is usable.
type Config struct {
	// Version is the server version of the handshake, "8.4.3-sqlots" if empty.
	Version string
	// TLS serves clients that request TLS; nil offers none. SetTLS changes it.
	TLS *tls.Config
	// Limits are those of the beginning, see SetLimits.
	Limits Limits
	// NetReadTimeout is the time for the rest of a packet once it has begun,
	// 30 s if 0.
	NetReadTimeout time.Duration
	// DefaultPlugin is the plugin of the greeting, caching_sha2_password if
	// empty. Accounts with another one cost a round trip.
	DefaultPlugin string
	// CursorMemory is the size in bytes of an open cursor's rows beyond which
	// they go to a temporary file, 1 MiB if 0.
	CursorMemory int
	// TempFile makes such a file; nil: the rows stay in memory.
	TempFile func() (TempFile, error)
	// Memory counts packets and parameters from largePacket on, and rows of cursors; nil
	// counts none.
	Memory Memory
	// SandboxOldClients lets clients that do not know of expired passwords into the
	// sandbox of an account whose password has expired; otherwise they are refused (1862).
	SandboxOldClients bool
	// LoginRefused, if set, learns of each login that failed.
	LoginRefused func(RefusedLogin)
	// DisableLocalInfile refuses LOAD DATA LOCAL (3948).
	DisableLocalInfile bool
	// Counter learns what becomes of clients; nil for none.
	Counter Counter
	// Logger takes refused log-ins and panics; slog.Default() if nil.
	Logger *slog.Logger
}

// Memory counts bytes. It may be used by many goroutines.
type Memory interface {
	// Reserve takes n bytes, or fails with the error for the client.
	Reserve(n int64) error
	// Release gives n bytes back.
	Release(n int64)
}

// unlimited is a Memory that has no end.
type unlimited struct{}

func (unlimited) Reserve(int64) error { return nil }
func (unlimited) Release(int64)       {}

func (c Config) withDefaults() Config {
	if c.Version == "" {
		c.Version = "8.4.3-sqlots"
	}
	if c.NetReadTimeout == 0 {
		c.NetReadTimeout = 30 * time.Second
	}
	if c.DefaultPlugin == "" {
		c.DefaultPlugin = PluginCachingSHA2
	}
	if c.CursorMemory == 0 {
		c.CursorMemory = 1 << 20
	}
	if c.Memory == nil {
		c.Memory = unlimited{}
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c
}
