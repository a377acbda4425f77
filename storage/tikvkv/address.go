package tikvkv

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"

	"github.com/tikv/client-go/v2/config"
)

// Scheme begins the addresses of stores on TiKV.
const Scheme = "tikv"

// defaultPort is that of placement drivers.
const defaultPort = "2379"

// Address is where a store is: the placement drivers of a cluster, and the name of the
// store in it.
type Address struct {
	// PD are the placement drivers, host:port.
	PD []string
	// Name tells the stores of a cluster from each other: letters, digits, _ and -, at
	// most 64.
	Name string
}

var storeName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// ParseAddress reads tikv://HOST[:PORT][,HOST[:PORT]…]/NAME.
func ParseAddress(text string) (Address, error) {
	bad := func(format string, args ...any) (Address, error) {
		return Address{}, fmt.Errorf("%s: %s; the form is tikv://HOST:PORT,…/NAME", text, fmt.Sprintf(format, args...))
	}
	scheme, rest, ok := strings.Cut(text, "://")
	switch {
	case !ok:
		return bad("no address of a store")
	case scheme != Scheme:
		return bad("unknown scheme %s", scheme)
	}
	hosts, name, _ := strings.Cut(rest, "/")
	if i := strings.IndexAny(rest, "?#@"); i >= 0 {
		return bad("%q has no place in it", rest[i])
	}
	if !storeName.MatchString(name) {
		return bad("the name of a store is 1 to 64 letters, digits, _ or -")
	}
	a := Address{Name: name}
	for _, host := range strings.Split(hosts, ",") {
		h, port, err := net.SplitHostPort(host)
		if err != nil {
			h, port = strings.Trim(host, "[]"), defaultPort
		}
		if h == "" || port == "" || strings.ContainsAny(h, " /") {
			return bad("%q is no host", host)
		}
		a.PD = append(a.PD, net.JoinHostPort(h, port))
	}
	return a, nil
}

// String is the text of the address.
func (a Address) String() string {
	return Scheme + "://" + strings.Join(a.PD, ",") + "/" + a.Name
}

// TLS are the files (PEM) with which a client and the servers of a cluster know each
// other: the certificate of the authority, and the client's own with its key. The zero
// value is for connections without TLS.
type TLS struct{ CA, Cert, Key string }

// security checks the files.
func (t TLS) security() (config.Security, error) {
	s := config.NewSecurity(t.CA, t.Cert, t.Key, nil)
	switch {
	case t == TLS{}:
		return s, nil
	case t.CA == "" || t.Cert == "" || t.Key == "": // the client would go on without TLS
		return s, errors.New("TLS to a cluster needs the certificate of the authority, one for this server, and its key")
	}
	_, err := s.ToTLSConfig()
	return s, err
}
