package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
	"time"
)

// defaultSocketMode lets the server's own user in, and root of the machine.
const defaultSocketMode = 0o600

// connectTimeout bounds the look for a server at a socket. One that runs accepts at
// once.
const connectTimeout = 2 * time.Second

// listenSocket makes a unix socket. One that no process listens on any more is
// replaced; what is no socket, or is in use, is an error that names it.
func listenSocket(ctx context.Context, path string, mode fs.FileMode) (net.Listener, error) {
	if mode == 0 {
		mode = defaultSocketMode
	}
	if path[0] == '@' { // Linux has no modes for such names
		return nil, fmt.Errorf("--socket %s: abstract sockets are not supported", path)
	}
	if err := removeStale(path); err != nil {
		return nil, fmt.Errorf("--socket %s: %w", path, err)
	}
	config := net.ListenConfig{Control: limitMode(uint32(mode.Perm()))}
	l, err := config.Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("--socket %s: %w", path, err)
	}
	if err := os.Chmod(path, mode); err != nil {
		return nil, errors.Join(fmt.Errorf("--socket %s: %w", path, err), l.Close())
	}
	return l, nil
}

// removeStale removes the socket of a process that has ended.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return errors.New("the file is there and is no socket")
	}
	c, err := net.DialTimeout("unix", path, connectTimeout)
	if err == nil {
		return errors.Join(errors.New("another process listens on it"), c.Close())
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("the socket is there, and may be in use: %w", err)
	}
	now, err := os.Lstat(path)
	if err != nil || !os.SameFile(info, now) {
		return errors.New("another process has just replaced it")
	}
	return os.Remove(path)
}
