// Package endnotify fetches the URL that a job names for its end, as Hadoop's
// mapreduce.job.end-notification.url.
//
// Users choose the URL and a master fetches it, so a Client connects only to addresses that users
// could not reach better from the master than from elsewhere: not to those of the machine itself,
// nor to link-local ones, where clouds serve credentials of machines. It checks the address that it
// connects to, so a name cannot hide one. It follows no redirections and uses no proxy.
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
	"syscall"
	"time"
)

// ErrAddress is wrapped by the error for an address that is refused. To try again does not help.
var ErrAddress = errors.New("address is refused")

// Config configures a Client.
type Config struct {
	// AllowLocal permits addresses of the machine itself and link-local ones. Default false.
	AllowLocal bool
	// Timeout bounds one request. Default 5 s, as in Hadoop.
	Timeout time.Duration
}

// Client fetches URLs. Several goroutines may use it at once.
type Client struct{ http *http.Client }

// New returns a Client.
func New(cfg Config) *Client {
	if cfg.Timeout == 0 {
		cfg.Timeout = 5 * time.Second
	}
	dialer := &net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
		if cfg.AllowLocal {
			return nil
		}
		return checkAddress(address)
	}}
	return &Client{&http.Client{
		Timeout:       cfg.Timeout,
		Transport:     &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// checkAddress refuses addresses that the machine of the master reaches and others do not.
func checkAddress(address string) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrAddress, address, err)
	}
	ip := to.Addr().Unmap()
	if ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() {
		return fmt.Errorf("%w: %v is of this machine or link-local; --local-notifications of the masters allows it", ErrAddress, ip)
	}
	return nil
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
