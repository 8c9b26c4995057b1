package doctor

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"
)

// lookupTimeout bounds a question to a name server.
const lookupTimeout = 5 * time.Second

// checkNames looks up the name of this machine, its addresses, and the names of the masters.
func checkNames(ctx context.Context, t *Target) []Finding {
	found := []Finding{checkOwnName(ctx, t)}
	for _, host := range masterHosts(t) {
		found = append(found, checkHost(ctx, host))
	}
	return found
}

// masterHosts returns the hosts of the masters that are names, each once.
func masterHosts(t *Target) (hosts []string) {
	for _, address := range t.AllMasters() {
		host, _, err := net.SplitHostPort(address)
		if err == nil && net.ParseIP(host) == nil && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// checkHost looks up the name of a machine.
func checkHost(ctx context.Context, host string) Finding {
	addresses, err := lookup(ctx, host)
	if err != nil {
		return fault("correct the list of masters, or add the name to /etc/hosts or to the name server", "master's host %s: %s", host, oneLine(err))
	}
	return ok("master's host %s is %s", host, strings.Join(addresses, ", "))
}

func lookup(ctx context.Context, host string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	return net.DefaultResolver.LookupHost(ctx, host)
}

// checkOwnName looks up the machine's name. A daemon that listens on all addresses gives the name to others, so
// they must be able to resolve it; HDFS knows machines by the names of their addresses.
func checkOwnName(ctx context.Context, t *Target) Finding {
	if t.Host == "" {
		return fault("set a host name, for example with hostnamectl", "the machine has no host name")
	}
	addresses, err := lookup(ctx, t.Host)
	if err != nil {
		f := fault(fmt.Sprintf("add %s to /etc/hosts or to the name server, or set --advertise of each daemon", t.Host),
			"host name %s: %s", t.Host, oneLine(err))
		if !t.givesOutName() {
			f.State = Warn
		}
		return f
	}
	reachable := slices.IndexFunc(addresses, func(a string) bool { return !net.ParseIP(a).IsLoopback() })
	if reachable < 0 {
		f := ok("host name %s is %s", t.Host, strings.Join(addresses, ", "))
		if t.givesOutName() {
			f = warn("check that the other machines resolve the name to an address of this one, or set --advertise of each daemon",
				"host name %s is %s here, which no other machine reaches", t.Host, strings.Join(addresses, ", "))
		}
		return f
	}
	return checkReverse(ctx, t.Host, addresses[reachable])
}

// checkReverse looks up the names of an address, among which the name should be.
func checkReverse(ctx context.Context, host, address string) Finding {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	names, err := net.DefaultResolver.LookupAddr(ctx, address)
	short := func(name string) string {
		return strings.ToLower(strings.SplitN(strings.TrimSuffix(name, "."), ".", 2)[0])
	}
	switch {
	case err != nil:
		return warn("add a name of the address to /etc/hosts or to the name server", "host name %s is %s, which has no name: %s", host, address, oneLine(err))
	case !slices.ContainsFunc(names, func(name string) bool { return short(name) == short(host) }):
		return warn("make the name server agree with the host name: HDFS knows machines by the names of their addresses",
			"host name %s is %s, which has the name %s", host, address, strings.Join(names, ", "))
	}
	return ok("host name %s is %s, and back", host, address)
}

// givesOutName reports whether a daemon gives the machine's name to others as its address.
func (t *Target) givesOutName() bool {
	return slices.ContainsFunc(usable(t), func(d *Daemon) bool {
		host, _, err := net.SplitHostPort(d.Address)
		ip := net.ParseIP(host)
		return d.Advertise == "" && err == nil && (host == "" || ip != nil && ip.IsUnspecified())
	})
}
