package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/sqlots/sqlots/server"
	"github.com/sqlots/sqlots/storage/tikvkv"
	"github.com/sqlots/sqlots/tool/smoke"
)

const smokeUsage = `usage: sqlots tikv-smoke --store tikv://HOST:PORT,…/NAME [flags]

Runs servers on a store in a TiKV cluster, one after the other, moves money on them, and
says what was lost: kill servers of the cluster meanwhile. The exit code is 1 when an
acknowledged transfer is missing, when money was made or lost, or when an index, a search
index or the change log differs from its table. It works in a database of its own,
sqlots_smoke, and removes it when nothing was found.

flags:
`

// tikvSmoke is "sqlots tikv-smoke".
func tikvSmoke(args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("sqlots tikv-smoke", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Usage = func() {
		fmt.Fprint(stderr, smokeUsage)
		fs.PrintDefaults()
	}
	cfg := server.Config{Listen: "127.0.0.1:0", Memory: 512 << 20}
	var store storeFlags
	store.register(fs)
	o := smoke.Options{Out: stdout}
	fs.DurationVar(&o.For, "for", time.Minute, "how long transfers are made; Ctrl-C ends them, too, and the last check is made")
	fs.DurationVar(&o.Turn, "turn", 20*time.Second, "after how long a new server goes on, which has nothing but the store")
	fs.IntVar(&o.Workers, "workers", 8, "connections that make transfers")
	fs.DurationVar(&o.Patience, "patience", 2*time.Minute, "how long the cluster may not answer when a server starts or a check is made")
	level := fs.String("log-level", "error", "what the servers log: debug, info, warn or error")
	if code, ok := parseFlags(fs, args); !ok {
		return code
	}
	switch {
	case store.address == "" || fs.NArg() > 0:
		fmt.Fprintln(stderr, "sqlots tikv-smoke: --store ADDRESS is required, and no other argument")
		return 2
	case o.For <= 0 || o.Turn <= 0 || o.Workers <= 0 || o.Patience < 0:
		fmt.Fprintln(stderr, "sqlots tikv-smoke: --for, --turn and --workers are above zero, --patience is not below")
		return 2
	}
	var err error
	if cfg.Log, err = newLogger(stderr, "text", *level); err != nil {
		fmt.Fprintln(stderr, "sqlots tikv-smoke:", err)
		return 2
	}
	if cfg.Cluster, err = store.cluster(cfg.Listen, tikvkv.Options{Log: cfg.Log}); err != nil {
		fmt.Fprintln(stderr, "sqlots tikv-smoke:", err)
		return 2
	}
	o.Start = func(ctx context.Context) (string, func(), error) { return startSmoke(ctx, cfg) }
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	switch err := smoke.Run(ctx, o); {
	case errors.Is(err, smoke.ErrLost):
		return 1 // said already
	case err != nil:
		fmt.Fprintln(stderr, "sqlots tikv-smoke:", err)
		return 1
	}
	return 0
}

// startSmoke starts a server in a directory that stop removes.
func startSmoke(ctx context.Context, cfg server.Config) (addr string, stop func(), err error) {
	if cfg.DataDir, err = os.MkdirTemp("", "sqlots-smoke-"); err != nil {
		return "", nil, err
	}
	remove := func() { _ = os.RemoveAll(cfg.DataDir) } // it is temporary
	s, err := server.Start(ctx, cfg)
	if err != nil {
		remove()
		return "", nil, err
	}
	return s.Addr(), func() {
		_ = s.Stop(stopGrace) // the cluster may not answer; what counts is checked
		remove()
	}, nil
}
