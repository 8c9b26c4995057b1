package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/internal/testing/must"
)

// dialFrom connects from a source address of the loopback network.
func dialFrom(t *testing.T, source, address string) net.Conn {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(source)}}
	conn, err := dialer.Dial("tcp4", address)
	must.Do(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn
}

// open is a listener without sockets, whose connections come from addresses that the test names.
type open struct {
	*Listener
	t *testing.T
}

func newOpen(t *testing.T, limits Limits) *open {
	return &open{newListener(nil, limits), t}
}

// connect admits a connection and returns it with the one that is closed for it, nil for none.
func (o *open) connect(address string) (c, victim *boundedConn) {
	o.t.Helper()
	c = &boundedConn{TCPConn: new(net.TCPConn), listener: o.Listener, address: netip.MustParseAddr(address)}
	victim, bound := o.admit(c)
	if (victim == nil) != (bound == "") {
		o.t.Errorf("victim %v, bound %q", victim, bound)
	}
	o.checkInvariants()
	return c, victim
}

// identified admits a connection that has an identity at once.
func (o *open) identified(address string) *boundedConn {
	o.t.Helper()
	c, victim := o.connect(address)
	if victim == c {
		o.t.Fatalf("a connection from %s is refused", address)
	}
	c.Identify()
	o.checkInvariants()
	return c
}

// checkInvariants checks that the counts are those of the sources, and the lists too.
func (o *open) checkInvariants() {
	o.t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	all, strangers := 0, 0
	for address, s := range o.mu.sources {
		all, strangers = all+s.open, strangers+s.strangers.Len()
		if s.open <= 0 || s.strangers.Len() > s.open {
			o.t.Errorf("source %v has %d connections and %d strangers", address, s.open, s.strangers.Len())
		}
	}
	if all != o.mu.open || strangers != o.mu.strangers.Len() {
		o.t.Errorf("the sources have %d connections and %d strangers, the listener %d and %d", all, strangers, o.mu.open, o.mu.strangers.Len())
	}
	for e := o.mu.strangers.Front(); e != nil; e = e.Next() {
		if c := e.Value.(*boundedConn); c.identified.Load() || c.state.retained > 0 || c.state.source == nil {
			o.t.Errorf("a connection from %v is in the list of strangers", c.address)
		}
	}
}

// TestStrangersTakeThePlacesOfStrangers opens far more connections without an identity than the bounds
// allow. Each is accepted in place of the oldest one, and none with an identity is closed.
func TestStrangersTakeThePlacesOfStrangers(t *testing.T) {
	o := newOpen(t, Limits{Total: 5, PerAddress: 3})
	client := o.identified("127.0.0.1")
	var strangers []*boundedConn
	for i := range 1000 {
		c, victim := o.connect(fmt.Sprintf("127.0.%d.%d", i/250, i%250))
		strangers = append(strangers, c)
		if i >= 2 && victim != strangers[i-2] {
			t.Fatalf("stranger %d: the oldest one is not closed", i)
		}
	}
	if o.Open() != 3 {
		t.Errorf("%d connections are open, the address may have 3", o.Open())
	}
	second, third := o.identified("127.0.0.1"), o.identified("127.0.0.9") // in place of strangers
	for range 2 {
		o.connect("10.0.0.1")
	}
	if _, victim := o.connect("10.0.0.2"); victim == nil || victim.address.String() != "10.0.0.1" {
		t.Error("beyond the bound in all, no stranger is closed")
	}
	o.identified("10.0.0.3")
	last := o.identified("10.0.0.4")
	if c, victim := o.connect("10.0.0.5"); victim != c {
		t.Error("a connection beyond the bound in all is accepted, and all others have an identity")
	}
	for _, c := range []*boundedConn{client, second, third, last} {
		if c.state.source == nil {
			t.Error("a connection with an identity was closed")
		}
		c.Close()
		c.Close() // counts once
	}
	if o.Open() != 1 {
		t.Errorf("%d connections are open, not 1", o.Open())
	}
}

// TestOneAddressStopsNoOther opens connections with an identity.
func TestOneAddressStopsNoOther(t *testing.T) {
	o := newOpen(t, Limits{Total: 5, PerAddress: 3})
	for range 3 {
		o.identified("10.0.0.1")
	}
	for range 20 {
		if c, victim := o.connect("10.0.0.1"); victim != c {
			t.Fatal("a connection beyond the bound of its address is accepted")
		}
	}
	o.identified("10.0.0.2")
	o.identified("10.0.0.2")
	if c, victim := o.connect("10.0.0.3"); victim != c {
		t.Fatal("a connection beyond the bound in all is accepted")
	}
}

// TestProxiesShareTheirAddress opens more connections from a proxy than one address may have.
func TestProxiesShareTheirAddress(t *testing.T) {
	limits := PageLimits(nil).BehindProxies([]string{"10.0.0.2/32", "nonsense"})
	limits.Total, limits.PerAddress = 4, 1
	o := newOpen(t, limits)
	for range 3 {
		o.identified("10.0.0.2")
	}
	o.identified("10.0.0.1")
	for _, address := range []string{"10.0.0.2", "10.0.0.1"} {
		if c, victim := o.connect(address); victim != c {
			t.Errorf("a connection from %s beyond the bound is accepted", address)
		}
	}
}

// TestLimitsAreReplaced lowers the limits below the connections that are open, and raises them.
func TestLimitsAreReplaced(t *testing.T) {
	o := newOpen(t, Limits{Total: 3, PerAddress: 3})
	for range 3 {
		o.identified("10.0.0.1")
	}
	o.SetLimits(Limits{Total: 2, PerAddress: 1})
	if c, victim := o.connect("10.0.0.2"); victim != c || o.Open() != 3 {
		t.Errorf("a connection beyond the lower bound is accepted, or it has closed another: %d open", o.Open())
	}
	o.SetLimits(Limits{Total: 10, PerAddress: 4})
	o.identified("10.0.0.1")
	if c, victim := o.connect("10.0.0.1"); victim != c {
		t.Error("the higher bound of an address is not 4")
	}
}

// TestStrangersAreClosed checks how long a connection without an identity lasts.
func TestStrangersAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOpen(t, Limits{})
		o.identified("10.0.0.1")
		o.connect("10.0.0.2")
		retained, _ := o.connect("10.0.0.3")
		release, again := retained.Retain(), retained.Retain()
		check := func(after time.Duration, open int) {
			t.Helper()
			time.Sleep(after)
			synctest.Wait()
			o.checkInvariants()
			if o.Open() != open {
				t.Errorf("%d connections are open, not %d", o.Open(), open)
			}
		}
		check(9*time.Second, 3)
		check(time.Second, 2) // without the stranger
		check(time.Hour, 2)
		release()
		check(time.Hour, 2)
		again()
		check(9*time.Second, 2)
		check(time.Second, 1) // with an identity
		check(time.Hour, 1)
	})
}

// TestClosedPlacesAreFree opens and closes connections at random.
func TestClosedPlacesAreFree(t *testing.T) {
	o, random := newOpen(t, Limits{Total: 20, PerAddress: 6}), rand.New(rand.NewPCG(1, 2))
	var conns []*boundedConn
	for range 5000 {
		if len(conns) == 0 || random.IntN(2) == 0 {
			c, _ := o.connect(fmt.Sprintf("10.0.0.%d", random.IntN(5)))
			conns = append(conns, c)
			continue
		}
		i := random.IntN(len(conns))
		switch c := conns[i]; random.IntN(3) {
		case 0:
			c.Identify()
		case 1:
			c.Retain()()
		default:
			c.Close()
			conns = slices.Delete(conns, i, i+1)
		}
		o.checkInvariants()
		if o.Open() > 20 {
			t.Fatalf("%d connections are open", o.Open())
		}
	}
	for _, c := range conns {
		c.Close()
	}
	if o.Open() != 0 || len(o.mu.sources) != 0 {
		t.Errorf("%d connections of %d sources are left", o.Open(), len(o.mu.sources))
	}
}

// TestRefusedConnectionsAreLogged uses sockets: a listener closes what it does not accept.
func TestRefusedConnectionsAreLogged(t *testing.T) {
	var log bytes.Buffer
	l, err := Listen("address", "127.0.0.1:0", "1", Limits{PerAddress: 2, Remedy: "--more", Logger: slog.New(slog.NewTextHandler(&log, nil))})
	must.Do(t, err)
	defer l.Close()
	var clients []net.Conn
	for range 10 {
		clients = append(clients, dialFrom(t, "127.0.0.1", l.Addr().String()))
		if _, err := l.Accept(); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range clients[:8] {
		if _, err := io.ReadAll(c); err != nil && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("a stranger too many: %v", err)
		}
	}
	if l.Refused() != 8 || l.Open() != 2 {
		t.Errorf("%d refused, %d open", l.Refused(), l.Open())
	}
	if !strings.Contains(log.String(), `cause="too many connections from this address; see --more"`) || strings.Count(log.String(), "connection refused") > 8 {
		t.Errorf("log:\n%s", &log)
	}
}

// TestRefusedBodiesAreNotAwaited sends requests whose bodies never come, to a handler that refuses them.
// The client gets the answer, and the connection ends.
func TestRefusedBodiesAreNotAwaited(t *testing.T) {
	l, err := Listen("http", "127.0.0.1:0", "1", Limits{})
	must.Do(t, err)
	stop := ServePage(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no token", http.StatusUnauthorized) }))
	defer stop()
	for _, head := range []string{"Content-Length: 1000", "Transfer-Encoding: chunked", "Content-Length: 1000\r\nExpect: 100-continue"} {
		conn := dialFrom(t, "127.0.0.1", l.Addr().String())
		if _, err := fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: localhost\r\n%s\r\n\r\n", head); err != nil {
			t.Fatal(err)
		}
		if answer, err := io.ReadAll(conn); err != nil || !strings.Contains(string(answer), "401") || !strings.Contains(string(answer), "no token") {
			t.Errorf("%s: %q, %v", head, answer, err)
		}
	}
}

// TestFileDescriptorsRemain checks that a listener never uses all files that the process may
// open.
func TestFileDescriptorsRemain(t *testing.T) {
	for files, want := range map[int]int{0: 16384, 1024: 512, 20000: 10000, 1 << 20: 16384, 1: 1} {
		if got := (Limits{}).capped(files); got.Total != want || got.PerAddress != 1024 {
			t.Errorf("%d files: %+v, want %d connections", files, got, want)
		}
	}
}

// TestFilesReachBoundedConnections checks that a bounded connection can take a file by
// sendfile, for which it must implement io.ReaderFrom.
func TestFilesReachBoundedConnections(t *testing.T) {
	l, err := Listen("address", "127.0.0.1:0", "1", Limits{})
	must.Do(t, err)
	defer l.Close()
	name := filepath.Join(t.TempDir(), "file")
	must.Do(t, os.WriteFile(name, []byte("content"), 0o600))
	client := dialFrom(t, "127.0.0.1", l.Addr().String())
	conn, err := l.Accept()
	must.Do(t, err)
	file, err := os.Open(name)
	must.Do(t, err)
	defer file.Close()
	_, err = conn.(io.ReaderFrom).ReadFrom(file)
	if err = errors.Join(err, conn.Close()); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(client); err != nil || string(got) != "content" {
		t.Errorf("%q, %v", got, err)
	}
}
