package local

import (
	"crypto/rand"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/rpc/access"
	"github.com/hammr/hammr/internal/web"
)

// Serve serves pages at an address (host:port; port 0 for any that is free) until stop is called. Every
// user of this machine may view them and take profiles; no request may change anything. The address must be a loopback
// address. now returns the time of the cluster.
func Serve(source docs.Source, name, address string, now func() time.Time) (url string, stop func(), err error) {
	host, _, err := net.SplitHostPort(address)
	if ip, bad := netip.ParseAddr(host); err != nil || host != "localhost" && (bad != nil || !ip.IsLoopback()) {
		return "", nil, fmt.Errorf("pages at %q: expected a loopback address with a port, such as 127.0.0.1:0, since everyone who reaches them may view them", address)
	}
	gate, err := access.New(access.Config{Token: rand.Text(), AnonymousReaders: true, AnonymousProfiles: true, Refuse: web.Refuse})
	if err != nil {
		return "", nil, err
	}
	l, err := daemon.Listen("http", address, "", daemon.PageLimits(nil))
	if err != nil {
		return "", nil, err
	}
	pages := web.New(web.Config{Source: source, Gate: gate, Name: name, Now: now})
	stopPage := daemon.ServePage(l, gate.Handler(pages))
	return "http://" + l.Addr().String(), func() {
		stopPage()
		_ = pages.Close() // it has no error
	}, nil
}
