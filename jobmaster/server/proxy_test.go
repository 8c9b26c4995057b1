package server_test

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"
)

// proxy forwards connections to a master and can break them.
type proxy struct {
	t        *testing.T
	listener net.Listener
	target   string
	pumps    sync.WaitGroup

	mu struct {
		sync.Mutex
		open map[net.Conn]bool
		// after, unless nil, are bytes of a call: the connection that carries them is
		// cut as soon as the master answers.
		after []byte
		cuts  int  // number of cuts that after has caused
		still bool // nothing is forwarded, but connections stay open
	}
}

// newProxy starts a proxy for a master, until the test ends. The master then advertises
// the proxy's address.
func newProxy(t *testing.T, m *master) *proxy {
	p := &proxy{t: t, listener: listen(t), target: m.address}
	m.address = p.address()
	p.mu.open = make(map[net.Conn]bool)
	p.pumps.Go(p.accept)
	t.Cleanup(func() {
		p.listener.Close()
		p.cut()
		p.pumps.Wait()
	})
	return p
}

func (p *proxy) address() string { return p.listener.Addr().String() }

func (p *proxy) accept() {
	for {
		caller, err := p.listener.Accept()
		if err != nil {
			return
		}
		master, err := net.Dial("tcp", p.target)
		if err != nil {
			caller.Close()
			continue
		}
		p.mu.Lock()
		p.mu.open[caller], p.mu.open[master] = true, true
		p.mu.Unlock()
		marked := make(chan struct{})
		p.pumps.Go(func() { p.calls(caller, master, marked) })
		p.pumps.Go(func() { p.answers(caller, master, marked) })
	}
}

// calls forwards the caller's bytes. It closes marked at the first call to lose.
func (p *proxy) calls(caller, master net.Conn, marked chan struct{}) {
	defer p.drop(caller, master)
	seen := false
	buf := make([]byte, 64<<10)
	for {
		n, err := caller.Read(buf)
		p.mu.Lock()
		hit := p.mu.after != nil && bytes.Contains(buf[:n], p.mu.after)
		p.mu.Unlock()
		if hit && !seen {
			seen = true
			close(marked)
		}
		if !p.pass(master, buf[:n]) || err != nil {
			return
		}
	}
}

// answers forwards the master's bytes. To lose a call, it reads the answer and then cuts the
// connection instead of forwarding it.
func (p *proxy) answers(caller, master net.Conn, marked chan struct{}) {
	defer p.drop(caller, master)
	buf := make([]byte, 64<<10)
	for {
		n, err := master.Read(buf)
		select {
		case <-marked:
			if isAnswer(buf[:n]) {
				p.mu.Lock()
				p.mu.cuts++
				p.mu.after = nil
				p.mu.Unlock()
				return
			}
		default:
		}
		if !p.pass(caller, buf[:n]) || err != nil {
			return
		}
	}
}

// pass writes bytes and reports whether that succeeded.
func (p *proxy) pass(to net.Conn, words []byte) bool {
	p.mu.Lock()
	still := p.mu.still
	p.mu.Unlock()
	if still {
		return true
	}
	_, err := to.Write(words)
	return err == nil
}

// stall stops forwarding without closing connections.
func (p *proxy) stall() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.still = true
}

// isAnswer reports whether HTTP/2 frames include headers or data.
func isAnswer(frames []byte) bool {
	for r := bytes.NewReader(frames); ; {
		var head [9]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return false
		}
		if kind := head[3]; kind <= 1 {
			return true
		}
		length := int64(head[0])<<16 | int64(head[1])<<8 | int64(head[2])
		if _, err := r.Seek(length, io.SeekCurrent); err != nil {
			return false
		}
	}
}

func (p *proxy) drop(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		c.Close()
		delete(p.mu.open, c)
	}
}

// cut closes every connection.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.mu.open {
		c.Close()
		delete(p.mu.open, c)
	}
}

// loseAnswerTo loses the answer to the next call that carries these bytes.
func (p *proxy) loseAnswerTo(bytes string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.after = []byte(bytes)
}

func (p *proxy) cuts() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mu.cuts
}
