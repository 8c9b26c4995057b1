package daemon

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"syscall"
	"time"
)

// Listen listens on the address of a setting. A missing port is defaultPort. The
// error names the setting.
//
// Users who start two daemons on one machine meet a port in use most often, so that
// error has its own text.
func Listen(setting, address, defaultPort string) (net.Listener, error) {
	address = WithDefaultPort(address, defaultPort)
	l, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("--%s %s: another process has the port; choose another, or end that process", setting, address)
	case err != nil:
		return nil, fmt.Errorf("--%s %s: %w", setting, address, err)
	}
	return l, nil
}

// WithDefaultPort is an address with a port: its own, else the default one.
func WithDefaultPort(address, port string) string {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return net.JoinHostPort(address, port)
	}
	return address
}

// AdvertisedAddress is where other machines reach a listener: the IP address it
// listens on, or the name of this machine if it listens on all of them.
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

// ServePage serves a daemon's page in a goroutine. Stop closes the listener and
// the connections, and waits for the goroutine.
func ServePage(l net.Listener, page http.Handler) (stop func()) {
	server := &http.Server{Handler: page, ReadHeaderTimeout: 5 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l) // Close ends it
	}()
	return func() {
		server.Close()
		<-done
	}
}

// Closers close what a daemon has opened, the latest first.
//
// If Open fails, it closes what it has opened; the daemon does the same when it ends. A part
// may use parts that were opened before it, so the order is reversed.
type Closers []func() error

// Add adds the Close function of something that was opened.
func (c *Closers) Add(closer func() error) { *c = append(*c, closer) }

// Close closes everything. A listener that its server has closed is no error.
func (c Closers) Close() error {
	var errs []error
	for _, closer := range slices.Backward(c) {
		if err := closer(); !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
