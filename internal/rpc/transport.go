package rpc

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/hammr/hammr/internal/rpc/httpserver"
	"github.com/hammr/hammr/internal/rpc/protocol"
)

const dialTimeout = 3 * time.Second

// transport adds the headers of every call, and accepts answers from jobmasters only.
type transport struct {
	http      *http.Transport // HTTP/2 connections, one for each master
	token     string
	clusterID string
	user      string
	protocol  protocol.Versions
	rejected  sync.Map // address → why this process closed the last connection to it
	spoken    sync.Map // address → version that both speak; absent before the first answer
}

func newTransport(cfg *Config) *transport {
	protocols := new(http.Protocols)
	if cfg.TLS == nil {
		protocols.SetUnencryptedHTTP2(true)
	} else {
		protocols.SetHTTP2(true)
	}
	t := &transport{token: cfg.Token, clusterID: cfg.ClusterID, user: cfg.User, protocol: cfg.Protocol}
	t.http = &http.Transport{
		Protocols:          protocols,
		HTTP2:              http2Config(),
		TLSClientConfig:    cfg.TLS,
		DialContext:        t.dialer(cfg),
		DisableCompression: true,
		IdleConnTimeout:    90 * time.Second,
	}
	return t
}

// dialer returns a function that connects to masters. Without TLS, the connection checks the
// server's first bytes.
func (t *transport) dialer(cfg *Config) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, dialTimeout)
		defer cancel()
		conn, err := cfg.Dial(ctx, network, address)
		if err != nil || cfg.TLS != nil {
			return conn, err
		}
		note := func(why error) { t.rejected.Store(address, why) }
		return &prefaceConn{Conn: conn, address: address, reject: note}, nil
	}
}

// NewTransport returns a transport for plain HTTP requests to the RPC addresses of masters, with the
// headers of calls. A request may claim another user by WithUser. The caller closes its idle
// connections.
func NewTransport(cfg Config) http.RoundTripper {
	cfg.EnsureDefaults()
	return newTransport(&cfg)
}

// CloseIdleConnections closes connections without a request.
func (t *transport) CloseIdleConnections() { t.http.CloseIdleConnections() }

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	SetHeaders(r.Header, t.token, t.clusterID)
	r.Header.Set(HeaderProtocol, strconv.Itoa(t.versionFor(r.URL.Host)))
	user := t.user
	if other, ok := r.Context().Value(userKey{}).(string); ok {
		user = other
	}
	setUser(r.Header, user)
	answer, err := t.http.RoundTrip(r)
	if err != nil {
		// net/http does not always return the reason why a connection failed.
		if why, ok := t.rejected.LoadAndDelete(r.URL.Host); ok {
			err = why.(error)
		}
		return nil, err
	}
	accepted := answer.Header.Get(HeaderProtocol)
	if accepted == "" {
		_ = answer.Body.Close() // the content is not needed
		return nil, &ForeignError{r.URL.Host, "an HTTP server"}
	}
	if version, ok := t.common(accepted); ok {
		t.spoken.Store(r.URL.Host, version)
	}
	return answer, nil
}

// versionFor returns the version of messages to speak with the master at an address.
func (t *transport) versionFor(address string) int {
	if version, known := t.spoken.Load(address); known {
		return version.(int)
	}
	return t.protocol.Newest
}

// common returns the newest version that both this program and a master speak, given the
// versions that the master accepts.
func (t *transport) common(accepted string) (version int, ok bool) {
	theirs, err := protocol.Parse(accepted)
	if err != nil {
		return 0, false
	}
	return t.protocol.Common(theirs)
}

// NewServer returns a server for a handler of calls. It uses HTTP/2 with and without TLS,
// and pings that detect lost callers. HTTP/1 is enabled only so that browsers get a readable
// text. logger receives errors of connections; nil discards them. The caller serves and
// shuts down.
func NewServer(handler http.Handler, logger *slog.Logger) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	server := httpserver.New(handler, logger)
	server.Protocols, server.HTTP2, server.MaxHeaderBytes = protocols, http2Config(), 64<<10
	return server
}
