package daemon

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"syscall"

	"github.com/hammr/hammr/internal/rpc/httpserver"
)

// Listen listens on the address of a setting, within limits. If the address has no port, it
// uses defaultPort. The error names the setting.
//
// A port in use has an error text of its own, because users who start two daemons on one
// machine often see that error.
func Listen(setting, address, defaultPort string, limits Limits) (*Listener, error) {
	address = WithDefaultPort(address, defaultPort)
	l, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("--%s %s: another process has the port; choose another, or end that process", setting, address)
	case err != nil:
		return nil, fmt.Errorf("--%s %s: %w", setting, address, err)
	}
	return newListener(l.(*net.TCPListener), limits), nil // "tcp" gives no other type
}

// WithDefaultPort returns address, with port added if address has none.
func WithDefaultPort(address, port string) string {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return net.JoinHostPort(address, port)
	}
	return address
}

// AdvertisedAddress returns the address at which other machines reach a listener: the IP
// address that it listens on, or the name of this machine if it listens on all addresses.
func AdvertisedAddress(l net.Listener) (string, error) {
	host, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return "", err
	}
	if ip := net.ParseIP(host); ip != nil && !ip.IsUnspecified() {
		return l.Addr().String(), nil
	}
	if host, err = os.Hostname(); err != nil {
		return "", fmt.Errorf("name of this machine, for others to reach it by: %w", err)
	}
	return net.JoinHostPort(host, port), nil
}

// ServePage serves a daemon's page in a goroutine. stop closes the listener and the
// connections, and waits for the goroutine.
func ServePage(l net.Listener, page http.Handler) (stop func()) {
	server := httpserver.New(page, nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l) // Serve returns after Close
	}()
	return func() {
		server.Close()
		<-done
	}
}

// Closers are functions that close what a daemon has opened. They are called in reverse
// order, because a part may use parts that were opened before it.
//
// Open calls them if it fails; otherwise the daemon calls them when it ends.
type Closers []func() error

// Add adds the function that closes an opened part.
func (c *Closers) Add(closer func() error) { *c = append(*c, closer) }

// Close closes all parts. A listener that its server has already closed is no error.
func (c Closers) Close() error {
	var errs []error
	for _, closer := range slices.Backward(c) {
		if err := closer(); !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
