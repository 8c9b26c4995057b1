package access

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/audit"
	"github.com/hammr/hammr/internal/rpc/httpserver"
)

// MaxBodyBytes is the largest body of a request.
const MaxBodyBytes = 1 << 20

// Gate checks requests before handlers get them. Any goroutine may use it.
type Gate struct {
	cfg         Config
	hosts       *httpserver.Hosts
	crossOrigin *http.CrossOriginProtection
	cookies     *cookies // nil if the cluster has no token
	tries       *tries
	running     *running

	proxies       []netip.Prefix
	secureCookies *cookies // for browsers with TLS; nil if the cluster has no token

	strangers syncutil.Throttle // audit records of callers without the token
	reads     audit.Reads       // audit records of reads
}

// New returns a gate. It starts nothing.
func New(cfg Config) (*Gate, error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	g := &Gate{cfg: cfg, hosts: httpserver.NewHosts(cfg.Hosts, cfg.Addresses, cfg.Now), crossOrigin: http.NewCrossOriginProtection(), tries: newTries(), running: newRunning()}
	for _, text := range cfg.Proxies {
		prefix, _ := netip.ParsePrefix(text) // checked by Validate
		g.proxies = append(g.proxies, prefix)
	}
	if cfg.Token != "" {
		var err error
		if g.cookies, err = newCookies(&cfg, false); err == nil {
			g.secureCookies, err = newCookies(&cfg, true)
		}
		if err != nil {
			return nil, fmt.Errorf("access: key of sessions: %w", err)
		}
	}
	return g, nil
}

// Base returns the path below which browsers see the pages.
func (g *Gate) Base() string { return g.cfg.Base }

// Handler returns a handler that checks requests and passes the good ones to next, with their callers
// in their contexts. All pages, calls, streams and files go through it, and Login and Logout too.
func (g *Gate) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		address, secure := g.client(r)
		setHeaders(w.Header(), &g.cfg, secure)
		if r.Body != nil {
			r.Body = http.MaxBytesReader(w, r.Body, MaxBodyBytes)
		}
		if refusal := g.checkRequest(r); refusal != nil {
			g.Refuse(w, r, refusal)
			return
		}
		info := request{from: address, secure: secure, passed: true}
		if !strings.HasPrefix(r.URL.Path, g.cfg.Assets) {
			var refusal *Refusal
			var session string
			info.caller, session, refusal = g.identify(w.Header(), r, info)
			if refusal != nil {
				g.Refuse(w, r, refusal)
				return
			}
			limit := g.cfg.Requests
			if isStream(r) {
				session, limit = "stream "+session, limit*streamRatio
			}
			leave, refusal := g.running.enter(r.Context(), session, limit)
			if refusal != nil {
				g.Refuse(w, r, refusal)
				return
			}
			info.slot = &slot{leave: keepConnection(r.Context(), info.caller, leave)}
			defer info.slot.end()
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), requestKey{}, info)))
	})
}

// keepConnection keeps the connection of a caller that is let in. For one without the token, it keeps it
// until the end of the request, which leave announces: there are as many as Config.Requests allows.
func keepConnection(ctx context.Context, c Caller, leave func()) func() {
	switch {
	case c.Token:
		httpserver.Identify(ctx)
	case c.Reader, c.Profiler:
		release := httpserver.Retain(ctx)
		return func() { release(); leave() }
	}
	return leave
}

// checkRequest checks what does not depend on the caller.
func (g *Gate) checkRequest(r *http.Request) *Refusal {
	if !g.hosts.Accept(r) {
		return &Refusal{Status: http.StatusMisdirectedRequest,
			Text: "this master does not have the name of the host in this request; use localhost, an IP address of its machine or one of its configured names"}
	}
	if g.crossOrigin.Check(r) != nil {
		return &Refusal{Status: http.StatusForbidden, Text: "this request comes from a page of another origin; only pages of this master may send it (a proxy must pass on the Host header)"}
	}
	if r.ContentLength > MaxBodyBytes {
		return &Refusal{Status: http.StatusRequestEntityTooLarge, Text: fmt.Sprintf("body of %d bytes; at most %d are accepted", r.ContentLength, MaxBodyBytes)}
	}
	return nil
}

// identify returns the caller of a request, and a text that is the same for all requests of a
// session. It renews the cookie of the session in the headers of the answer.
func (g *Gate) identify(answer http.Header, r *http.Request, info request) (c Caller, session string, refusal *Refusal) {
	now, network, cookies := g.cfg.Now(), networkOf(info.from), g.cookiesFor(info.secure)
	if cookies == nil {
		return Caller{Name: rpc.UserOf(r.Header), Token: true}, network, nil
	}
	if text := r.Header.Get("Authorization"); text != "" {
		name, token, ok := credentials(r)
		if !ok {
			return Caller{}, "", &Refusal{Status: http.StatusUnauthorized, Text: "header Authorization: neither Bearer TOKEN nor Basic with the token as password"}
		}
		if refusal := g.checkToken(network, token, now); refusal != nil {
			return Caller{}, "", refusal
		}
		return Caller{Name: name, Token: true}, network, nil
	}
	s, valid, found := cookies.find(r, now)
	switch {
	case valid:
		if now.Sub(s.renewed) >= renewAfter {
			s.renewed = now
			cookies.set(answer, s, now)
		}
		return Caller{Name: s.name, Token: true}, "session " + s.id, nil
	case found:
		cookies.remove(answer)
	}
	return Caller{Name: Anonymous, Reader: g.cfg.AnonymousReaders, Profiler: g.cfg.AnonymousProfiles}, network, nil
}

// credentials returns the name and the token in the header of a client that is no browser.
func credentials(r *http.Request) (name, token string, ok bool) {
	if user, password, basic := r.BasicAuth(); basic {
		name = rpc.Printable(user, maxNameBytes)
		if name == "" {
			name = rpc.UserOf(r.Header)
		}
		return name, password, true
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return rpc.UserOf(r.Header), strings.TrimSpace(token), strings.EqualFold(scheme, "Bearer")
}

// checkToken returns a refusal unless the token is that of the cluster.
func (g *Gate) checkToken(network, token string, now time.Time) *Refusal {
	if rpc.SameToken(token, g.cfg.Token) {
		return nil
	}
	if wait := g.tries.wrong(network, now); wait > 0 {
		return &Refusal{Status: http.StatusTooManyRequests, RetryAfter: wait, Text: fmt.Sprintf("not the cluster's token, and too many wrong ones from this address; wait %d s", wholeSeconds(wait))}
	}
	return &Refusal{Status: http.StatusUnauthorized, Text: "not the cluster's token; it is in the file that the masters' --token-file names"}
}

// Refuse answers a request with an error of this package. Any other error is answered with status
// 500 and without its text.
func (g *Gate) Refuse(w http.ResponseWriter, r *http.Request, err error) {
	refusal := refusalOf(err)
	refusal.SetHeaders(w.Header())
	g.cfg.Refuse(w, r, refusal)
}
