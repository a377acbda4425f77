package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/sqlots/sqlots/server"
	"github.com/sqlots/sqlots/storage/tikvkv"
)

// storeFlags are the flags of a store in a cluster.
type storeFlags struct {
	address string
	tls     tikvkv.TLS
}

func (f *storeFlags) register(fs *flag.FlagSet) {
	fs.StringVar(&f.address, "store", "", "address of the store in a TiKV cluster, tikv://HOST:PORT,…/NAME with its placement drivers and the name of the store (default: in the data directory)")
	fs.StringVar(&f.tls.CA, "store-ca", "", "certificate of the authority of the cluster (PEM), for --store by TLS")
	fs.StringVar(&f.tls.Cert, "store-cert", "", "certificate that the cluster knows this server by (PEM)")
	fs.StringVar(&f.tls.Key, "store-key", "", "key of that certificate (PEM)")
}

// cluster is the store of the flags, for a server that listens at an address; nil without
// --store.
func (f *storeFlags) cluster(listen string, opts tikvkv.Options) (*server.Cluster, error) {
	if f.address == "" {
		if f.tls != (tikvkv.TLS{}) {
			return nil, errors.New("--store-ca, --store-cert and --store-key are for a store in a cluster, which --store names")
		}
		return nil, nil
	}
	a, err := tikvkv.ParseAddress(f.address)
	if err != nil {
		return nil, fmt.Errorf("--store: %w", err)
	}
	host, _ := os.Hostname() // for messages
	node := tikvkv.Node{Address: listen, Host: host, PID: os.Getpid(), Version: server.Build().Version}
	return &server.Cluster{Address: a.String(), Open: func(ctx context.Context) (server.ClusterStore, error) {
		// A nil *Store in the interface would be no nil.
		store, err := tikvkv.Open(ctx, a, f.tls, node, opts)
		if err != nil {
			return nil, err
		}
		return store, nil
	}}, nil
}
