package tikvkv

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/tikv/client-go/v2/config"
	"github.com/tikv/client-go/v2/tikv"
	pd "github.com/tikv/pd/client"
	"github.com/tikv/pd/client/opt"
	"github.com/tikv/pd/client/pkg/caller"

	"github.com/sqlots/sqlots/internal/guard"
)

// connectPatience bounds the wait for an answer of the cluster at the start.
var connectPatience = 10 * time.Second

// Open opens the store of an address as its only node. It fails with storage.ErrFormat if
// a newer program wrote the store, and with storage.ErrLocked while another node has it.
func Open(ctx context.Context, a Address, t TLS, n Node, opts Options) (*Store, error) {
	if opts.Log == nil {
		opts.Log = slog.Default()
	}
	logTo(opts.Log)
	opts.calls = newCalls()
	kv, release, err := connect(ctx, a, t, opts.calls)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a, err)
	}
	s, err := join(ctx, kv, a.Name, n, opts, release)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a, err)
	}
	return s, nil
}

// connected is the outcome of dial.
type connected struct {
	kv  *tikv.KVStore
	err error
}

// connect opens a client of a cluster. The caller closes it, and then calls release.
func connect(ctx context.Context, a Address, t TLS, counts *calls) (kv *tikv.KVStore, release func(), err error) {
	security, err := t.security()
	if err != nil {
		return nil, nil, err
	}
	refusal.Store(nil)
	connecting.Add(1)
	defer connecting.Add(-1)
	// The client keeps the context for its life: it must not end with the wait.
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan connected, 1)
	go func() {
		var c connected
		if err := guard.Run(func() (err error) { c.kv, err = dial(life, a, security, counts); return err }); err != nil {
			c.err = err
		}
		done <- c
	}()
	wait, stop := context.WithTimeout(ctx, connectPatience)
	defer stop()
	select {
	case c := <-done:
		if c.err != nil {
			cancel()
			return nil, nil, oneLine(c.err)
		}
		return c.kv, cancel, nil
	case <-wait.Done():
		cancel()
		go guard.Do(slog.Default(), "closing a late client", func() {
			if c := <-done; c.kv != nil {
				_ = c.kv.Close()
			}
		})
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		if why := refusal.Load(); why != nil {
			return nil, nil, fmt.Errorf("no placement driver answers within %v: %s", connectPatience, *why)
		}
		return nil, nil, fmt.Errorf("no placement driver answers within %v", connectPatience)
	}
}

func dial(ctx context.Context, a Address, security config.Security, counts *calls) (*tikv.KVStore, error) {
	raw, err := pd.NewClientWithContext(ctx, caller.Component("sqlots"), a.PD,
		pd.SecurityOption{CAPath: security.ClusterSSLCA, CertPath: security.ClusterSSLCert, KeyPath: security.ClusterSSLKey},
		opt.WithInitMetricsOption(false), opt.WithEnableRouterClient(false), opt.WithCustomTimeoutOption(3*time.Second))
	if err != nil {
		return nil, err
	}
	codec := tikv.NewCodecPDClient(tikv.ModeTxn, countedPD{raw, counts})
	tlsConfig, err := security.ToTLSConfig()
	if err != nil {
		raw.Close()
		return nil, err
	}
	safe, err := tikv.NewEtcdSafePointKV(a.PD, tlsConfig)
	if err != nil {
		raw.Close()
		return nil, err
	}
	rpc := tikv.NewRPCClient(tikv.WithSecurity(security), tikv.WithCodec(codec.GetCodec()))
	kv, err := tikv.NewKVStore(fmt.Sprintf("sqlots-%d", raw.GetClusterID(ctx)), codec, safe, rpc)
	if err != nil {
		raw.Close()
		return nil, errors.Join(err, safe.Close())
	}
	return kv, nil
}

// oneLine is an error of a client, which may have a stack in its text.
func oneLine(err error) error {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return errors.New(text)
}
