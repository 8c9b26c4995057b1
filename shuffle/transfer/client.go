package transfer

import (
	"cmp"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// defaultConnectTimeout bounds the wait for a connection unless a Config says
// otherwise.
const defaultConnectTimeout = 10 * time.Second

// maxMessage bounds the text of a refusal that is read for an error, in bytes.
const maxMessage = 1 << 10

// clientConfig configures how a client connects to Servers. A new field is passed on by NewFetcher
// (FetcherConfig, fetcher.go) and NewChannelClient (ChannelConfig, channel_client.go). Both are
// configured in internal/task (copy.go, channels.go) for tasks, and in tasknode/copy_output.go,
// with a field of tasknode.Config, for copies by tasknodes.
type clientConfig struct {
	token          string        // shown to servers; "" for none
	connectTimeout time.Duration // default defaultConnectTimeout
	idleTimeout    time.Duration // limit for each read and write, and for idle connections; 0 for none
	keepIdle       int           // connections that are kept for each server; 0: none
}

// client sends requests to Servers. All connections of this package to other machines are made
// here: dial opens them, serverURL names the scheme, request shows the token. All security of
// connections is applied here, and nowhere else in the package; clientConfig has its settings.
type client struct {
	cfg       clientConfig
	http      http.Client // over transport
	transport http.Transport
}

// newClient makes a client. It does not ask for compression, because blocks are compressed
// already if the job asks for it. It does not follow redirects.
func newClient(cfg clientConfig) *client {
	cfg.connectTimeout = cmp.Or(cfg.connectTimeout, defaultConnectTimeout)
	c := &client{cfg: cfg}
	c.transport = http.Transport{
		DialContext:         c.dial,
		DisableCompression:  true,
		DisableKeepAlives:   cfg.keepIdle == 0,
		MaxIdleConnsPerHost: cfg.keepIdle,
		IdleConnTimeout:     cfg.idleTimeout,
	}
	c.http = http.Client{Transport: &c.transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // the token is for this server only
	}}
	return c
}

// dial opens a connection for the transport, with deadlines if they are configured. A stream
// has no deadlines: its Node may be busy for any time.
func (c *client) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: c.cfg.connectTimeout}
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil || c.cfg.idleTimeout == 0 {
		return conn, err
	}
	return &idleConn{conn, c.cfg.idleTimeout}, nil
}

// request makes a request that shows the token.
func (c *client) request(ctx context.Context, method, url string, body io.Reader) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, url, body)
	if err == nil && c.cfg.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.cfg.token)
	}
	return r, err
}

// do sends a request. If the status of the answer is not wanted, it closes the body and
// returns a *statusError.
func (c *client) do(r *http.Request, wanted int) (*http.Response, error) {
	answer, err := c.http.Do(r)
	if err != nil || answer.StatusCode == wanted {
		return answer, err
	}
	defer answer.Body.Close()
	message, _ := io.ReadAll(io.LimitReader(answer.Body, maxMessage)) // may be truncated
	seconds, _ := strconv.ParseUint(answer.Header.Get("Retry-After"), 10, 16)
	return nil, &statusError{answer.StatusCode, string(message), time.Duration(seconds) * time.Second}
}

// serverURL returns the URL of a path on a Server.
func serverURL(address, path string, query url.Values) string {
	u := url.URL{Scheme: "http", Host: address, Path: path, RawQuery: query.Encode()}
	return u.String()
}

// close closes idle connections. No request may be active.
func (c *client) close() { c.transport.CloseIdleConnections() }

// idleConn is a connection with a separate deadline for every read and write: a peer may be
// slow, but not silent.
type idleConn struct {
	net.Conn
	idle time.Duration
}

// Read extends the deadline for reading.
func (c *idleConn) Read(b []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.idle)); err != nil {
		return 0, err
	}
	return c.Conn.Read(b)
}

// Write also extends the deadline for reading. net/http always has a read pending on a
// connection, even while the connection is idle. The answer to this write may take the whole
// timeout.
func (c *idleConn) Write(b []byte) (int, error) {
	if err := c.SetDeadline(time.Now().Add(c.idle)); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}
