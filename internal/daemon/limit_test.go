package daemon

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// dialFrom connects from a source address of the loopback network.
func dialFrom(t *testing.T, source, address string) net.Conn {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(source)}}
	conn, err := dialer.Dial("tcp4", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// served reports whether the server of an echo has accepted a connection.
func served(t *testing.T, conn net.Conn) bool {
	t.Helper()
	if _, err := conn.Write([]byte{7}); err != nil {
		return false
	}
	got := make([]byte, 1)
	_, err := io.ReadFull(conn, got)
	return err == nil && got[0] == 7
}

// boundedEcho serves an echo at a bounded listener.
func boundedEcho(t *testing.T, limits Limits) *Listener {
	t.Helper()
	l, err := Listen("address", "127.0.0.1:0", "1", limits)
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				io.Copy(conn, conn)
				conn.Close()
				conn.Close() // counts once
			})
		}
	})
	t.Cleanup(func() { l.Close(); serving.Wait() })
	return l
}

// TestIdleConnectionsOfOneAddressStopNoOther opens more connections from one address than the
// bound allows.
func TestIdleConnectionsOfOneAddressStopNoOther(t *testing.T) {
	var log bytes.Buffer
	l := boundedEcho(t, Limits{Total: 5, PerAddress: 3, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	address := l.Addr().String()
	var first []net.Conn
	for range 3 {
		first = append(first, dialFrom(t, "127.0.0.1", address))
		if !served(t, first[len(first)-1]) {
			t.Fatal("a connection within the bound is not served")
		}
	}
	for range 20 {
		if served(t, dialFrom(t, "127.0.0.1", address)) {
			t.Fatal("a connection beyond the bound of its address is served")
		}
	}
	for range 2 {
		if !served(t, dialFrom(t, "127.0.0.2", address)) {
			t.Fatal("another address is not served")
		}
	}
	if served(t, dialFrom(t, "127.0.0.3", address)) {
		t.Fatal("a connection beyond the bound in all is served")
	}
	if l.Refused() != 21 || l.Open() != 5 {
		t.Errorf("%d refused, %d open", l.Refused(), l.Open())
	}
	// The server closes its end after it has read the end of the stream, and then the client's
	// read returns.
	first[0].(*net.TCPConn).CloseWrite()
	io.Copy(io.Discard, first[0])
	for l.Open() == 5 {
		runtime.Gosched()
	}
	if !served(t, dialFrom(t, "127.0.0.3", address)) {
		t.Error("the place of a closed connection is not free")
	}
	if lines := strings.Count(log.String(), "connection refused"); lines < 1 || lines > 20 {
		t.Errorf("%d lines in the log:\n%s", lines, &log)
	}
}

// TestProxiesShareTheirAddress opens more connections from a proxy than one address may have.
func TestProxiesShareTheirAddress(t *testing.T) {
	var log bytes.Buffer
	limits := PageLimits(slog.New(slog.NewTextHandler(&log, nil))).BehindProxies([]string{"127.0.0.2/32", "nonsense"})
	limits.Total, limits.PerAddress = 4, 1
	l := boundedEcho(t, limits)
	address := l.Addr().String()
	for range 3 {
		if !served(t, dialFrom(t, "127.0.0.2", address)) {
			t.Fatal("a connection of the proxy is not served")
		}
	}
	if !served(t, dialFrom(t, "127.0.0.1", address)) || served(t, dialFrom(t, "127.0.0.2", address)) {
		t.Error("the bound in all is not 4")
	}
	if served(t, dialFrom(t, "127.0.0.1", address)) {
		t.Error("a second connection of an address that is no proxy is served")
	}
}

// TestLimitsAreReplaced lowers the limits below the connections that are open, and raises them.
func TestLimitsAreReplaced(t *testing.T) {
	l := boundedEcho(t, Limits{Total: 3, PerAddress: 3})
	address := l.Addr().String()
	var open []net.Conn
	for range 3 {
		open = append(open, dialFrom(t, "127.0.0.1", address))
		if !served(t, open[len(open)-1]) {
			t.Fatal("a connection within the bound is not served")
		}
	}
	l.SetLimits(Limits{Total: 2, PerAddress: 1})
	if served(t, dialFrom(t, "127.0.0.2", address)) {
		t.Error("a connection beyond the lower bound is served")
	}
	for _, conn := range open {
		if !served(t, conn) {
			t.Error("a connection was closed by the lower bound")
		}
	}
	l.SetLimits(Limits{Total: 10, PerAddress: 4})
	if !served(t, dialFrom(t, "127.0.0.1", address)) || served(t, dialFrom(t, "127.0.0.1", address)) {
		t.Error("the higher bound of an address is not 4")
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

func TestConnectionsAreCountedBySource(t *testing.T) {
	for address, want := range map[string]string{
		"10.0.0.1:5": "10.0.0.1", "[::ffff:10.0.0.1]:6": "10.0.0.1", "[2001:db8:1:2:3::4]:7": "2001:db8:1:2::", "[fe80::1%lo]:8": "fe80::",
	} {
		remote := net.TCPAddrFromAddrPort(netip.MustParseAddrPort(address))
		if got := sourceOf(addressOf(remote)); got.String() != want {
			t.Errorf("%s counts as %v, want %s", address, got, want)
		}
	}
	if got := sourceOf(addressOf(&net.UnixAddr{})); got.IsValid() {
		t.Errorf("an address of another kind counts as %v", got)
	}
}

// TestFilesReachBoundedConnections checks that a bounded connection can take a file by
// sendfile, for which it must implement io.ReaderFrom.
func TestFilesReachBoundedConnections(t *testing.T) {
	l, err := Listen("address", "127.0.0.1:0", "1", Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	client := dialFrom(t, "127.0.0.1", l.Addr().String())
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	_, err = conn.(io.ReaderFrom).ReadFrom(file)
	if err = errors.Join(err, conn.Close()); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(client); err != nil || string(got) != "content" {
		t.Errorf("%q, %v", got, err)
	}
}
