package access

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

// hostCheck refuses requests for names that are not of this master.
//
// Without it, a page of an attacker could read pages of a master that the browser reaches and the
// attacker does not: the attacker lets a name of its own point to the master (DNS rebinding). To the
// browser both are then one origin. The Host header still has the attacker's name.
type hostCheck struct {
	names     map[string]bool // in lower case, without port
	addresses func() ([]netip.Addr, error)
	now       func() time.Time

	mu struct {
		sync.Mutex
		at    time.Time // when addresses were listed; zero before
		known map[netip.Addr]bool
	}
}

func newHostCheck(cfg *Config) *hostCheck {
	h := &hostCheck{names: map[string]bool{"localhost": true}, addresses: cfg.Addresses, now: cfg.Now}
	for _, name := range cfg.Hosts {
		h.names[hostOf(name)] = true
	}
	return h
}

// check returns a refusal with status 421 if the request is for another host.
func (h *hostCheck) check(r *http.Request) *Refusal {
	host := hostOf(r.Host)
	if h.names[host] {
		return nil
	}
	if address, err := netip.ParseAddr(host); err == nil && (address.Unmap().IsLoopback() || h.isOwn(address.Unmap(), r)) {
		return nil
	}
	return &Refusal{
		Status: http.StatusMisdirectedRequest,
		Text:   "this master does not have the name of the host in this request; use localhost, an IP address of its machine or one of its configured names",
	}
}

// isOwn reports whether the machine has an IP address: the connection came in at it, or an interface
// has it.
func (h *hostCheck) isOwn(address netip.Addr, r *http.Request) bool {
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

// hostOf returns the name or IP address in a host with or without a port, in lower case and without
// the brackets and the zone of IPv6. It returns "" if there is none.
func hostOf(text string) string {
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
