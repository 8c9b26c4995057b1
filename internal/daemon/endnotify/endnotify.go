// Package endnotify fetches the URL that a job names for its end, as Hadoop's
// mapreduce.job.end-notification.url.
//
// Users choose the URL and a master fetches it, so a Client connects only to addresses that users
// could not reach better from the master than from elsewhere: neither to those of the machine itself,
// nor to link-local and other ones at which clouds serve credentials of machines. It checks the address
// that it connects to, so neither a name nor a change of its address can hide one. It follows no
// redirections and uses no proxy.
package endnotify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	neturl "net/url"
	"slices"
	"syscall"
	"time"
)

// ErrAddress is wrapped by the error for an address that is refused. To try again does not help.
var ErrAddress = errors.New("address is refused")

// Config configures a Client.
type Config struct {
	// Networks are permitted although they have addresses that are refused, such as those of the machine
	// itself. Default none.
	Networks []netip.Prefix
	// Interfaces returns the addresses of the machine; default net.InterfaceAddrs.
	Interfaces func() ([]net.Addr, error)
	// Timeout bounds one request. Default 5 s, as in Hadoop.
	Timeout time.Duration
}

// ParseNetworks reads networks such as 10.0.0.0/24. The error names the one that is none.
func ParseNetworks(texts []string) (networks []netip.Prefix, err error) {
	for _, text := range texts {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("%q: not a network such as 10.0.0.0/24 or 127.0.0.1/32", text)
		}
		networks = append(networks, network)
	}
	return networks, nil
}

// Client fetches URLs. Several goroutines may use it at once.
type Client struct{ http *http.Client }

// New returns a Client.
func New(cfg Config) *Client {
	if cfg.Timeout == 0 {
		cfg.Timeout = 5 * time.Second
	}
	if cfg.Interfaces == nil {
		cfg.Interfaces = net.InterfaceAddrs
	}
	dialer := &net.Dialer{Control: func(_, address string, _ syscall.RawConn) error { return cfg.check(address) }}
	return &Client{&http.Client{
		Timeout:       cfg.Timeout,
		Transport:     &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// services are networks in which clouds serve credentials and configurations of machines, besides the
// link-local ones.
var services = []netip.Prefix{
	netip.MustParsePrefix("fd00:ec2::/32"),      // Amazon
	netip.MustParsePrefix("fd20:ce::254/128"),   // Google
	netip.MustParsePrefix("168.63.129.16/32"),   // Azure
	netip.MustParsePrefix("100.100.100.200/32"), // Alibaba
	netip.MustParsePrefix("192.0.0.192/32"),     // Oracle
	netip.MustParsePrefix("0.0.0.0/8"),          // this machine, on some systems
	netip.MustParsePrefix("64:ff9b:1::/48"),     // translation to IPv4 addresses that are not in the text (RFC 8215)
}

// nat64 has IPv4 addresses in its last 32 bits (RFC 6052).
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// check refuses addresses that the machine of the master reaches and others do not.
func (cfg *Config) check(address string) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrAddress, address, err)
	}
	ip := to.Addr().Unmap().WithZone("")
	if bytes := ip.As16(); nat64.Contains(ip) {
		ip = netip.AddrFrom4([4]byte(bytes[12:]))
	}
	has := func(network netip.Prefix) bool { return network.Contains(ip) }
	if slices.ContainsFunc(cfg.Networks, has) {
		return nil
	}
	own, err := cfg.isOwn(ip)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %v: addresses of this machine: %w", ErrAddress, ip, err)
	case own || ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() || slices.ContainsFunc(services, has):
		return fmt.Errorf("%w: %v is of this machine, link-local or of a cloud's service; --notification-networks of the masters allows it", ErrAddress, ip)
	}
	return nil
}

// isOwn reports whether an interface of this machine has an address.
func (cfg *Config) isOwn(ip netip.Addr) (bool, error) {
	addresses, err := cfg.Interfaces()
	return slices.ContainsFunc(addresses, func(a net.Addr) bool {
		network, err := netip.ParsePrefix(a.String())
		return err == nil && network.Addr().Unmap().WithZone("") == ip
	}), err
}

// Get fetches a URL. Any status but 200 is an error, as in Hadoop.
func (c *Client) Get(ctx context.Context, url string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	answer, err := c.http.Do(r)
	if failed, ok := errors.AsType[*neturl.Error](err); ok {
		return failed.Err // without the URL, which may have a secret
	}
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<16)) // the answer's text does not matter
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("status %s, expected 200", answer.Status)
	}
	return nil
}
