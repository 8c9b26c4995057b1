package rpc

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/kit/login"
	"github.com/hammr/hammr/internal/kit/validate"
	"github.com/hammr/hammr/internal/rpc/protocol"
)

// DefaultTimeout is the default of Config.Timeout.
const DefaultTimeout = 60 * time.Second

// DefaultPort is the default port of masters' RPC addresses.
const DefaultPort = "7070"

// Config says which cluster to call, and how.
type Config struct {
	// Masters are addresses of masters, host:port each; one is enough to find the
	// others. There is no default.
	Masters []string
	// Only keeps calls to Masters: neither the leader nor other masters are asked. It is for questions
	// about one master. Default false.
	Only bool
	// Token is the cluster's token; there is no default.
	Token string
	// ClusterID is the id of the cluster; default "", any cluster.
	ClusterID string
	// User is the name that calls claim, for the masters' audit log and rates; default
	// login.Name().
	User string
	// Timeout is how long Do searches for the leader; default DefaultTimeout.
	Timeout time.Duration
	// OnWait is called once in each search that takes longer than about a second, with the
	// reason why the search has not found a leader; default nil.
	OnWait func(error)
	// TLS encrypts calls; default nil, no encryption. These make a Config and would set it:
	//
	//	tasknodes  internal/daemon/tasknoded/daemon.go openParts
	//	commands   cli/cluster_command.go connectRemote, with flags in command
	//	programs   mr/engine.go remoteClient, with options in mr/options.go clusterOptions
	//	drills     internal/ops/testcluster: cluster.go dial, hosts.go Attach
	//
	// Drills' calls (internal/rpc/faultrpc) and logs use the daemons' pages, which are plain HTTP.
	TLS *tls.Config
	// Protocol is the versions of messages that the caller speaks; default Protocol.
	Protocol protocol.Versions
	// Dial connects to an address; default net.Dialer's DialContext.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// EnsureDefaults sets the fields that have a default and are not set.
func (c *Config) EnsureDefaults() {
	c.Timeout, c.Protocol = cmp.Or(c.Timeout, DefaultTimeout), cmp.Or(c.Protocol, Protocol)
	if c.User == "" {
		c.User = login.Name()
	}
	if c.OnWait == nil {
		c.OnWait = func(error) {}
	}
	if c.Dial == nil {
		c.Dial = new(net.Dialer).DialContext
	}
}

// Validate reports every problem of the configuration at once.
func (c *Config) Validate() error {
	errs := []error{validate.That(len(c.Masters) > 0, "rpc: no Masters")}
	for _, address := range c.Masters {
		errs = append(errs, checkAddress(address))
	}
	return errors.Join(append(errs, validate.That(c.Timeout >= 0, "rpc: negative Timeout"))...)
}

// checkAddress returns an error if an address of a master is not host:port.
func checkAddress(address string) error {
	if !IsAddress(address) {
		return fmt.Errorf("master %q: not an address; write host:port", address)
	}
	return nil
}

// IsAddress reports whether a text is host:port with a usable port. The host has only characters of
// names and of IP addresses, so that a URL with the address leads to no other host and path.
func IsAddress(text string) bool {
	host, port, err := net.SplitHostPort(text)
	n, bad := strconv.ParseUint(port, 10, 16)
	return err == nil && bad == nil && n > 0 && host != "" && !strings.ContainsFunc(host, func(r rune) bool {
		return !strings.ContainsRune("-._:", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// ParseMasters parses a list of masters as users write it, for example "a:7070,b". Items are
// separated by commas; DefaultPort is added if the port is missing.
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
