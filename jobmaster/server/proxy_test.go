package server_test

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"
)

// proxy stands between callers and a master, and breaks what passes.
type proxy struct {
	t        *testing.T
	listener net.Listener
	target   string
	pumps    sync.WaitGroup

	mu struct {
		sync.Mutex
		open map[net.Conn]bool
		// after, unless nil, is what the calls of a connection carry after which
		// it is cut as soon as the master answers.
		after []byte
		cuts  int  // that after has led to
		still bool // nothing passes, though the connections stay
	}
}

// newProxy makes a proxy before a master that lasts as long as the test. From
// then on the master calls the proxy's address its own.
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

// calls passes on what the caller says, and closes marked at the first call that
// is to be lost.
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

// answers passes on what the master says, until a call is to be lost: its answer
// is read, and the connection cut instead.
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

// pass writes on what was read, and reports whether that went well.
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

// stall makes the proxy keep everything to itself.
func (p *proxy) stall() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.still = true
}

// isAnswer reports whether frames of HTTP/2 have headers or data among them.
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

// cut cuts every connection there is.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.mu.open {
		c.Close()
		delete(p.mu.open, c)
	}
}

// loseAnswerTo makes the proxy lose the answer to the next call that carries
// those bytes.
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
