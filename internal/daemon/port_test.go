package daemon_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/testing/must"
)

func port(t *testing.T, cfg daemon.PortConfig) *daemon.Port {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	p := daemon.NewPort(l, cfg)
	t.Cleanup(func() { p.Close() })
	return p
}

var ours = daemon.PortConfig{Cluster: "17", Token: "secret"}

func TestPortServesBothKinds(t *testing.T) {
	p := port(t, ours)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "page") })}
	var serving sync.WaitGroup
	serving.Go(func() { server.Serve(p.Clients()) })
	serving.Go(func() { // echoes
		for {
			conn, err := p.Masters().Accept()
			if err != nil {
				return
			}
			io.Copy(conn, conn)
			conn.Close()
		}
	})
	address := p.Clients().Addr().String()
	conn, err := p.Masters().Dial(address, 5*time.Second)
	must.Do(t, err)
	text := bytes.Repeat([]byte("raft\x00"), 100_000)
	go func() { conn.Write(text); conn.(*net.TCPConn).CloseWrite() }()
	if got, err := io.ReadAll(conn); err != nil || !bytes.Equal(got, text) {
		t.Errorf("%d bytes echoed of %d, %v", len(got), len(text), err)
	}
	conn.Close()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get("http://" + address)
	must.Do(t, err)
	if page, err := io.ReadAll(answer.Body); err != nil || string(page) != "page" {
		t.Errorf("page %q, %v", page, err)
	}
	answer.Body.Close()
	server.Close()
	p.Close()
	serving.Wait()
	if _, err := p.Masters().Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("accepted after the end: %v", err)
	}
}

// restores is how often the state of a master was restored.
type restores int

func (r restores) Number() int { return int(r) }

func (r restores) Accept(number int) error {
	if number != int(r) {
		return fmt.Errorf("restored %d times, not %d", r, number)
	}
	return nil
}

func TestPortRefusesMasters(t *testing.T) {
	var refused []string
	var mu sync.Mutex
	strict := ours
	strict.Refused = func(_ net.Addr, err error) {
		mu.Lock()
		defer mu.Unlock()
		refused = append(refused, err.Error())
	}
	p := port(t, strict)
	for want, cfg := range map[string]daemon.PortConfig{
		"the master is one of cluster 18, not of 17":      {Cluster: "18", Token: "secret"},
		"the master's token is not that of cluster 17":    {Cluster: "17", Token: "guess"},
		"the master uses another version of the protocol": {Cluster: "17", Token: ""},
	} {
		_, err := port(t, cfg).Masters().Dial(p.Clients().Addr().String(), 5*time.Second)
		if err == nil || !strings.Contains(err.Error(), "refused: "+want) {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
	restored := ours
	restored.Restores = restores(2)
	_, err := port(t, restored).Masters().Dial(p.Clients().Addr().String(), 5*time.Second)
	if err == nil || !strings.Contains(err.Error(), "one of a cluster that was restored 2 times") {
		t.Errorf("a master of a restored cluster: %v", err)
	}
	_, err = p.Masters().Dial(port(t, restored).Clients().Addr().String(), 5*time.Second)
	if err == nil || !strings.Contains(err.Error(), "not 0") {
		t.Errorf("a master of the cluster before: %v", err)
	}
	conn, err := port(t, restored).Masters().Dial(port(t, restored).Clients().Addr().String(), 5*time.Second)
	if err != nil {
		t.Errorf("two masters of the restored cluster: %v", err)
	} else {
		conn.Close()
	}
	mu.Lock()
	defer mu.Unlock()
	if len(refused) != 4 {
		t.Errorf("refused %q", refused)
	}
}

// TestPortClosesSilentConnections checks that a connection is closed if its caller sends
// nothing.
func TestPortClosesSilentConnections(t *testing.T) {
	p := port(t, ours)
	address := p.Clients().Addr().String()
	var conns []net.Conn
	for _, begin := range []string{"", "\x00hammr-mas"} {
		conn, err := net.Dial("tcp", address)
		must.Do(t, err)
		defer conn.Close()
		io.WriteString(conn, begin)
		conns = append(conns, conn)
	}
	garbage, err := net.Dial("tcp", address)
	must.Do(t, err)
	defer garbage.Close()
	go garbage.Write(bytes.Repeat([]byte{0}, 1<<20))
	if n, _ := io.Copy(io.Discard, garbage); n != 0 {
		t.Errorf("%d bytes answered to garbage", n)
	}
	p.Close()
	for _, conn := range conns {
		conn.SetReadDeadline(time.Now().Add(5 * time.Second))
		if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, net.ErrClosed) {
			t.Errorf("a silent connection after the end: %v", err)
		}
	}
}
