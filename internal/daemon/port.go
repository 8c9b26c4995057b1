package daemon

import (
	"bufio"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hammr/hammr/internal/rpc/httpserver"
)

// Port shares one listener between two kinds of callers: clients, which speak HTTP, and
// other masters, which begin with a handshake:
//
//	0x00 "hammr-master/1 " cluster " " token "\n"   the master that dials; in a cluster that
//	                                               was restored, " " restores before "\n"
//	"ok\n", or the reason of a refusal and "\n"     the master that accepts
//
// The bytes after the handshake belong to Raft. A connection that sends nothing for
// handshakeTimeout is closed.
//
// Goroutines: one accepts connections. Each connection has one until its first byte or its
// handshake has arrived. Close ends all of them.
//
// With one port instead of two, a configuration needs one address for each master, and a
// firewall needs one rule.
type Port struct {
	cfg      PortConfig
	listener net.Listener
	clients  *connQueue     // connections whose first byte is not masterMark
	masters  *connQueue     // connections of masters, after the handshake
	routing  sync.WaitGroup // the accepting goroutine, and one for each fresh connection

	mu struct {
		sync.Mutex
		closed bool
		fresh  map[net.Conn]bool // not routed yet
	}
}

// PortConfig says which masters a Port accepts.
type PortConfig struct {
	Cluster string // id of the cluster
	Token   string // of the cluster, one word; with "" every master is refused
	// Restores keeps masters apart that have the state from before and after a restore of the
	// cluster. Default: the number is 0, and others are refused.
	Restores Restores
	// Refused is called for each master that is refused; nil does nothing.
	Refused func(remote net.Addr, cause error)
}

// Restores says how often the state of a master was restored.
type Restores interface {
	// Number returns the number of this master.
	Number() int
	// Accept returns why a master of the cluster with this number is refused.
	Accept(number int) error
}

// never is Restores of a master whose state was never restored.
type never struct{}

func (never) Number() int { return 0 }

// Accept implements Restores.
func (never) Accept(number int) error {
	if number != 0 {
		return fmt.Errorf("the master is one of a cluster that was restored %d times, this one was not", number)
	}
	return nil
}

const (
	masterMark       = 0 // HTTP never begins with it
	masterProtocol   = "hammr-master/1"
	handshakeTimeout = 5 * time.Second
	maxHandshake     = 8 << 10 // bytes
)

// NewPort shares a listener. Close closes it.
func NewPort(l net.Listener, cfg PortConfig) *Port {
	if cfg.Refused == nil {
		cfg.Refused = func(net.Addr, error) {}
	}
	if cfg.Restores == nil {
		cfg.Restores = never{}
	}
	p := &Port{cfg: cfg, listener: l, clients: newConnQueue(l.Addr()), masters: newConnQueue(l.Addr())}
	p.mu.fresh = make(map[net.Conn]bool)
	p.routing.Go(p.accept)
	return p
}

// Clients accepts callers that speak HTTP.
func (p *Port) Clients() net.Listener { return p.clients }

// Masters accepts other masters, and dials them.
func (p *Port) Masters() *MasterStream { return &MasterStream{p.masters, p} }

// Close closes the listener and every connection that has not been accepted, and waits for
// the goroutines. Accepted connections stay open.
func (p *Port) Close() error {
	err := p.listener.Close()
	p.mu.Lock()
	p.mu.closed = true
	for conn := range p.mu.fresh {
		conn.Close()
	}
	p.mu.Unlock()
	p.clients.Close()
	p.masters.Close()
	p.routing.Wait()
	return err
}

// accept accepts connections until the listener is closed. Each is routed in a
// goroutine of its own, because a caller may take its time to send the first byte.
func (p *Port) accept() {
	for {
		conn, err := p.listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // a temporary error, for example too many open files
			time.Sleep(10 * time.Millisecond)
			continue
		}
		if p.track(conn) {
			p.routing.Go(func() { p.route(conn) })
		}
	}
}

// track records a connection that is not routed yet, so that Close can close it.
func (p *Port) track(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.closed {
		conn.Close()
		return false
	}
	p.mu.fresh[conn] = true
	return true
}

// route delivers a connection to clients or masters.
func (p *Port) route(conn net.Conn) {
	in := bufio.NewReaderSize(conn, maxHandshake)
	begun := &bufferedConn{conn, in}
	branch, err := p.classify(conn, in)
	p.mu.Lock()
	delete(p.mu.fresh, conn)
	p.mu.Unlock()
	if err == nil {
		err = conn.SetDeadline(time.Time{})
	}
	if err != nil || !branch.deliver(begun) {
		conn.Close()
	}
}

// classify reads the first bytes of a connection and returns the queue for it.
func (p *Port) classify(conn net.Conn, in *bufio.Reader) (*connQueue, error) {
	if err := conn.SetDeadline(time.Now().Add(handshakeTimeout)); err != nil {
		return nil, err
	}
	first, err := in.Peek(1)
	if err != nil {
		return nil, err
	}
	if first[0] != masterMark {
		return p.clients, nil
	}
	line, err := in.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	if err := p.cfg.checkHandshake(string(line[1:])); err != nil {
		p.cfg.Refused(conn.RemoteAddr(), err)
		_, writeErr := fmt.Fprintln(conn, err)
		return nil, errors.Join(err, writeErr)
	}
	httpserver.IdentifyConn(conn)
	_, err = io.WriteString(conn, "ok\n")
	return p.masters, err
}

// checkHandshake returns why a master is refused, nil if it is accepted.
//
// It compares hashes of the tokens in constant time, so that the response time does not
// reveal how much of a guessed token is right.
func (cfg *PortConfig) checkHandshake(introduction string) error {
	words, restores := strings.Fields(introduction), 0
	var err error
	if len(words) == 4 {
		restores, err = strconv.Atoi(words[3])
		words = words[:3]
	}
	switch {
	case err != nil || len(words) != 3 || words[0] != masterProtocol:
		return errors.New("the master uses another version of the protocol; use programs of the same release")
	case words[1] != cfg.Cluster:
		return fmt.Errorf("the master is one of cluster %s, not of %s", words[1], cfg.Cluster)
	}
	ours, theirs := sha256.Sum256([]byte(cfg.Token)), sha256.Sum256([]byte(words[2]))
	if cfg.Token == "" || subtle.ConstantTimeCompare(ours[:], theirs[:]) == 0 {
		return fmt.Errorf("the master's token is not that of cluster %s", cfg.Cluster)
	}
	return cfg.Restores.Accept(restores)
}

// MasterStream carries connections between masters. Closing it leaves the rest of the Port
// open.
type MasterStream struct {
	*connQueue
	port *Port
}

// Dial connects to another master and performs the handshake.
func (s *MasterStream) Dial(address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	deadline, _ := ctx.Deadline()
	if err := s.handshake(conn, deadline); err != nil {
		conn.Close()
		return nil, fmt.Errorf("master at %s: %w", address, err)
	}
	return conn, nil
}

// handshake introduces this master and waits for the answer until the deadline. Then it
// removes the deadline from the connection, because Raft sets its own.
func (s *MasterStream) handshake(conn net.Conn, deadline time.Time) error {
	if err := conn.SetDeadline(deadline); err != nil {
		return err
	}
	introduction := fmt.Sprintf("%c%s %s %s", masterMark, masterProtocol, s.port.cfg.Cluster, s.port.cfg.Token)
	if n := s.port.cfg.Restores.Number(); n > 0 { // masters of older versions know no fourth word
		introduction += fmt.Sprintf(" %d", n)
	}
	if _, err := io.WriteString(conn, introduction+"\n"); err != nil {
		return err
	}
	answer, err := readLine(conn)
	switch {
	case err != nil:
		return err
	case answer != "ok":
		return fmt.Errorf("refused: %s", answer)
	}
	return conn.SetDeadline(time.Time{})
}

// readLine reads up to a newline and no further, because the following bytes belong to Raft.
func readLine(r io.Reader) (string, error) {
	var line []byte
	var b [1]byte
	for len(line) < maxHandshake {
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return "", err
		}
		if b[0] == '\n' {
			return string(line), nil
		}
		line = append(line, b[0])
	}
	return "", errors.New("the answer to the handshake is too long")
}

// bufferedConn is a connection whose first bytes are in a buffer.
type bufferedConn struct {
	net.Conn
	in *bufio.Reader
}

// Read implements net.Conn.
func (c *bufferedConn) Read(p []byte) (int, error) { return c.in.Read(p) }

// NetConn returns the connection below, as that of *tls.Conn.
func (c *bufferedConn) NetConn() net.Conn { return c.Conn }
