package httpserver

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// addressesAge is how old the list of the machine's addresses may be.
const addressesAge = 10 * time.Second

// Hosts knows by which names a server is reached. A server refuses requests for others.
//
// Without it, a page of an attacker could read pages of a server that the browser reaches and the
// attacker does not: the attacker lets a name of its own point to the server (DNS rebinding). To the
// browser both are then one origin. The Host header still has the attacker's name.
type Hosts struct {
	names     map[string]bool // in lower case, without port
	addresses func() ([]netip.Addr, error)
	now       func() time.Time

	mu struct {
		sync.Mutex
		at    time.Time // when addresses were listed; zero before
		known map[netip.Addr]bool
	}
}

// NewHosts returns a check that accepts localhost, the IP addresses of the machine and some names, each
// with or without a port. addresses returns the IP addresses of the machine, nil for those of its
// interfaces; now is the time, nil for time.Now.
func NewHosts(names []string, addresses func() ([]netip.Addr, error), now func() time.Time) *Hosts {
	h := &Hosts{names: map[string]bool{"localhost": true}, addresses: addresses, now: now}
	if addresses == nil {
		h.addresses = interfaceAddresses
	}
	if now == nil {
		h.now = time.Now
	}
	for _, name := range names {
		h.names[HostOf(name)] = true
	}
	return h
}

// Accept reports whether a request is for this server.
func (h *Hosts) Accept(r *http.Request) bool {
	host := HostOf(r.Host)
	if host != "" && h.names[host] {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && (address.Unmap().IsLoopback() || h.isOwn(address.Unmap(), r))
}

// isOwn reports whether the machine has an IP address: the connection came in at it, or an interface
// has it.
func (h *Hosts) isOwn(address netip.Addr, r *http.Request) bool {
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok && local.AddrPort().Addr().Unmap().WithZone("") == address {
		return true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if now := h.now(); h.mu.known == nil || now.Sub(h.mu.at) >= addressesAge {
		list, err := h.addresses()
		if err != nil {
			return h.mu.known[address] // the list is tried again at the next request
		}
		h.mu.at, h.mu.known = now, make(map[netip.Addr]bool, len(list))
		for _, own := range list {
			h.mu.known[own.Unmap().WithZone("")] = true
		}
	}
	return h.mu.known[address]
}

// interfaceAddresses returns the IP addresses of the machine's interfaces.
func interfaceAddresses() ([]netip.Addr, error) {
	nets, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	var list []netip.Addr
	for _, n := range nets {
		if prefix, err := netip.ParsePrefix(n.String()); err == nil {
			list = append(list, prefix.Addr())
		}
	}
	return list, nil
}

// HostOf returns the name or IP address in a host with or without a port, in lower case and without
// the brackets and the zone of IPv6. It returns "" if there is none.
func HostOf(text string) string {
	host := text
	if strings.HasPrefix(text, "[") || strings.Count(text, ":") == 1 {
		if name, port, err := net.SplitHostPort(text); err == nil {
			if strings.Trim(port, "0123456789") != "" {
				return ""
			}
			host = name
		} else {
			host = strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
		}
	}
	if address, err := netip.ParseAddr(host); err == nil {
		return address.Unmap().WithZone("").String()
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "" || strings.ContainsFunc(host, func(r rune) bool {
		return r != '-' && r != '.' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z')
	}) {
		return ""
	}
	return host
}
