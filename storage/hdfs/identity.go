package hdfs

import (
	"context"
	"net"
	"strings"

	"github.com/hammr/hammr/storage"
)

// rawPrefix begins the names by which an administrator reads encrypted files as they are stored.
const rawPrefix = "/.reserved/raw/"

// Identify implements storage.Identifier. HDFS has no links, so a clean path names one file. The
// cluster is known by the addresses of its NameNodes: a nameservice, the names and the addresses
// of its NameNodes and their aliases in DNS are one cluster. All addresses of this machine count
// as one, since a NameNode may listen on all of them. A NameNode behind a proxy, or with several
// addresses on another machine, is several clusters here: it reports nothing that shows otherwise.
func (f *FS) Identify(ctx context.Context, name string) (storage.Identity, error) {
	name, err := storage.CleanPath(ctx, "identify", name)
	if err != nil {
		return storage.Identity{}, err
	}
	if raw, ok := strings.CutPrefix(name, rawPrefix); ok {
		name = "/" + raw
	}
	systems := f.systems.Load()
	if systems == nil {
		all := f.cfg.systems(ctx)
		systems = &all
		f.systems.Store(systems)
	}
	return storage.ByName(*systems, name), nil
}

// systems returns the canonical addresses of the NameNodes.
func (c *Config) systems(ctx context.Context) (all []string) {
	for _, address := range c.Addresses {
		all = append(all, canonicalAddresses(ctx, address)...)
	}
	return all
}

// canonicalAddresses returns the IP addresses of a host:port, with the port. If the name is
// unknown, it is returned itself.
func canonicalAddresses(ctx context.Context, address string) []string {
	host, port, err := net.SplitHostPort(strings.ToLower(address))
	if err != nil {
		return []string{address}
	}
	ips, err := net.DefaultResolver.LookupIP(ctx, "ip", host)
	if err != nil {
		return []string{net.JoinHostPort(host, port)}
	}
	own, _ := net.InterfaceAddrs() // without them, the addresses of this machine count as several
	var all []string
	for _, ip := range ips {
		name := ip.String()
		if ip.IsLoopback() || ip.IsUnspecified() || hasIP(own, ip) {
			name = "localhost"
		}
		all = append(all, net.JoinHostPort(name, port))
	}
	return all
}

// hasIP reports whether an address is in a list of a machine's addresses.
func hasIP(list []net.Addr, ip net.IP) bool {
	for _, a := range list {
		if n, ok := a.(*net.IPNet); ok && n.IP.Equal(ip) {
			return true
		}
	}
	return false
}
