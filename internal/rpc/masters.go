package rpc

import (
	"net/http"
	"slices"
	"sync"

	"connectrpc.com/connect"
	"github.com/hammr/hammr/internal/rpc/wire/wireconnect"
)

// Masters calls the masters of one cluster. Its methods may be called by several goroutines
// at once. It starts goroutines for its connections; Close ends these goroutines.
type Masters struct {
	cfg       Config
	transport *transport

	mu struct {
		sync.Mutex
		known  []string // addresses of masters, as configured and as learned
		leader string   // address of the last known leader, an element of known; "" if unknown
		open   map[string]*Master
	}
}

// Master is one master.
type Master struct {
	Address string // host:port
	wireconnect.JobmasterClient
	wireconnect.TasknodesClient
}

// New returns a Masters. It connects at the first call.
func New(cfg Config) (*Masters, error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	c := &Masters{cfg: cfg, transport: newTransport(&cfg)}
	c.mu.open = make(map[string]*Master)
	for _, address := range cfg.Masters {
		c.learnLocked(address)
	}
	return c, nil
}

// Close closes the connections. No call may be in progress.
func (c *Masters) Close() error {
	c.transport.http.CloseIdleConnections()
	return nil
}

// Learn adds the address of a master, unless Config.Only is set.
func (c *Masters) Learn(address string) {
	if c.cfg.Only {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.learnLocked(address)
}

// learnLocked adds an address, unless it is known or malformed. Masters report addresses of
// other masters, and a misconfigured master may report wrong addresses.
func (c *Masters) learnLocked(address string) {
	if checkAddress(address) == nil && !slices.Contains(c.mu.known, address) {
		c.mu.known = append(c.mu.known, address)
	}
}

// setLeader remembers the leader, unless Config.Only is set.
func (c *Masters) setLeader(address string) {
	if c.cfg.Only {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.learnLocked(address)
	c.mu.leader = address
}

// askLast moves a master to the end of the search order. If the master was the last known
// leader, the leader becomes unknown.
func (c *Masters) askLast(address string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.Index(c.mu.known, address); i >= 0 {
		c.mu.known = append(slices.Delete(c.mu.known, i, i+1), address)
	}
	if c.mu.leader == address {
		c.mu.leader = ""
	}
}

// searchOrder returns the masters in the order in which a search asks them. The last known
// leader comes first.
func (c *Masters) searchOrder() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	order := slices.Clone(c.mu.known)
	if i := slices.Index(order, c.mu.leader); i > 0 {
		order = slices.Insert(slices.Delete(order, i, i+1), 0, c.mu.leader)
	}
	return order
}

// master returns the master at an address. It makes each master once, so that all stubs of
// an address share connections.
func (c *Masters) master(address string) *Master {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.mu.open[address]
	if m == nil {
		scheme := "http://"
		if c.cfg.TLS != nil {
			scheme = "https://"
		}
		client := &http.Client{Transport: c.transport}
		options := []connect.ClientOption{connect.WithReadMaxBytes(maxAnswerBytes), connect.WithAcceptCompression("gzip", nil, nil)}
		m = &Master{
			address,
			wireconnect.NewJobmasterClient(client, scheme+address, options...),
			wireconnect.NewTasknodesClient(client, scheme+address, options...),
		}
		c.mu.open[address] = m
	}
	return m
}
