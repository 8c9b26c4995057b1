package access

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// client returns what a request says of its client: the address, and whether the browser uses TLS.
// A proxy that Config.Proxies names knows both; the request itself has the proxy's.
func (g *Gate) client(r *http.Request) (address string, secure bool) {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	contains := func(p netip.Prefix) bool { return p.Contains(peer.Addr().Unmap().WithZone("")) }
	if err != nil || !slices.ContainsFunc(g.proxies, contains) {
		return r.RemoteAddr, g.cfg.Secure
	}
	secure = g.cfg.Secure || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
	list := r.Header.Values("X-Forwarded-For")
	last := strings.Join(list, ",")
	last = strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])
	if from, err := netip.ParseAddr(last); err == nil {
		return netip.AddrPortFrom(from, 0).String(), secure
	}
	return r.RemoteAddr, secure
}

// cookiesFor returns the cookies of sessions for browsers with TLS or without it, nil if the cluster
// has no token.
func (g *Gate) cookiesFor(secure bool) *cookies {
	if secure {
		return g.secureCookies
	}
	return g.cookies
}
