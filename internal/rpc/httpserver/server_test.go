package httpserver

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// knownConn records what its server learns of the peer.
type knownConn struct {
	net.Conn
	mu         sync.Mutex
	identified bool
	retained   int
}

func (c *knownConn) Identify() { c.mu.Lock(); c.identified = true; c.mu.Unlock() }

func (c *knownConn) Identified() bool { c.mu.Lock(); defer c.mu.Unlock(); return c.identified }

func (c *knownConn) Retain() func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.retained++
	return func() { c.mu.Lock(); c.retained--; c.mu.Unlock() }
}

// layer is a connection above another, as that of TLS.
type layer struct{ net.Conn }

func (l layer) NetConn() net.Conn { return l.Conn }

// layers accepts connections in two layers.
type layers struct {
	net.Listener
	accepted chan *knownConn
}

func (l *layers) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	known := &knownConn{Conn: conn}
	l.accepted <- known
	return layer{known}, nil
}

// TestHandlersReachTheConnection checks both versions of HTTP, since each has its own server.
func TestHandlersReachTheConnection(t *testing.T) {
	for _, name := range []string{"HTTP/1", "HTTP/2"} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			must.Do(t, err)
			conns := &layers{l, make(chan *knownConn, 1)}
			var conn *knownConn
			server := New(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				conn = <-conns.accepted
				release := Retain(r.Context())
				retained := conn.retained
				release()
				before := conn.Identified()
				Identify(r.Context())
				fmt.Fprint(w, retained, conn.retained, before, conn.Identified())
			}), nil)
			protocols := new(http.Protocols)
			protocols.SetHTTP1(name == "HTTP/1")
			protocols.SetUnencryptedHTTP2(name == "HTTP/2")
			server.Protocols = protocols
			var serving sync.WaitGroup
			serving.Go(func() { server.Serve(conns) })
			defer serving.Wait()
			defer server.Close()
			transport := &http.Transport{Protocols: protocols}
			defer transport.CloseIdleConnections()
			answer, err := (&http.Client{Transport: transport}).Get("http://" + l.Addr().String())
			must.Do(t, err)
			defer answer.Body.Close()
			if text, err := io.ReadAll(answer.Body); err != nil || string(text) != "1 0 false true" {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
}

// TestSources checks what counts as one caller.
func TestSources(t *testing.T) {
	for address, want := range map[string]string{
		"10.0.0.1": "10.0.0.1", "::ffff:10.0.0.1": "10.0.0.1", "2001:db8:1:2:3::4": "2001:db8:1::", "2001:db8:1:ff:3::4": "2001:db8:1::",
		"2001:db8:1:100::1": "2001:db8:1:100::", "fe80::1%lo": "fe80::",
		"127.0.0.1": "::1", "127.255.0.9": "::1", "::1": "::1", "::ffff:127.0.0.5": "::1",
	} {
		if got := SourceOf(netip.MustParseAddr(address)); got.String() != want {
			t.Errorf("%s counts as %v, want %s", address, got, want)
		}
	}
	if got := SourceOf(netip.Addr{}); got.IsValid() {
		t.Errorf("no address counts as %v", got)
	}
}
