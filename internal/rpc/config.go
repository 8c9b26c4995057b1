package rpc

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"
)

// DefaultTimeout is how long callers look for a master that leads.
const DefaultTimeout = 60 * time.Second

// DefaultPort is that of masters' RPC addresses.
const DefaultPort = "7070"

// Config says which cluster to call, and how.
type Config struct {
	// Masters are addresses of masters, host:port each; one is enough to find
	// the others. There is no default.
	Masters []string
	// Token is the cluster's token; there is no default.
	Token string
	// ClusterID is the id of the cluster; default "", which is taken by any.
	ClusterID string
	// Timeout is how long Do looks for a master that leads; default
	// DefaultTimeout.
	Timeout time.Duration
	// OnWait hears, once in each search that takes more than a moment, why no
	// master is found; default nobody.
	OnWait func(error)
	// TLS encrypts calls; default nil, which does not.
	TLS *tls.Config
	// Dial connects to an address; default net.Dialer's DialContext.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// EnsureDefaults fills in what is not set.
func (c *Config) EnsureDefaults() {
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	if c.OnWait == nil {
		c.OnWait = func(error) {}
	}
	if c.Dial == nil {
		c.Dial = new(net.Dialer).DialContext
	}
}

// Validate reports every fault of the configuration at once.
func (c *Config) Validate() error {
	var faults []error
	if len(c.Masters) == 0 {
		faults = append(faults, errors.New("rpc: no Masters"))
	}
	for _, address := range c.Masters {
		if err := checkAddress(address); err != nil {
			faults = append(faults, err)
		}
	}
	if c.Timeout < 0 {
		faults = append(faults, errors.New("rpc: negative Timeout"))
	}
	return errors.Join(faults...)
}

func checkAddress(address string) error {
	host, port, err := net.SplitHostPort(address)
	if n, bad := strconv.ParseUint(port, 10, 16); err != nil || host == "" || bad != nil || n == 0 {
		return fmt.Errorf("master %q: not an address; write host:port", address)
	}
	return nil
}

// ParseMasters reads a list of masters as users write it, "a:7070,b": commas
// between, and DefaultPort where a port is missing.
func ParseMasters(list string) ([]string, error) {
	var masters []string
	for address := range strings.SplitSeq(list, ",") {
		address = strings.TrimSpace(address)
		if address == "" {
			continue
		}
		if _, _, err := net.SplitHostPort(address); err != nil && !strings.Contains(address, ":") {
			address = net.JoinHostPort(address, DefaultPort)
		}
		if err := checkAddress(address); err != nil {
			return nil, err
		}
		masters = append(masters, address)
	}
	if len(masters) == 0 {
		return nil, fmt.Errorf("list of masters %q: none named; write host:port,…", list)
	}
	return masters, nil
}
