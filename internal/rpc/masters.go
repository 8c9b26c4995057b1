package rpc

import (
	"net/http"
	"slices"
	"sync"

	"connectrpc.com/connect"
	"github.com/hammr/hammr/internal/wire/wireconnect"
)

// Masters is how to call the masters of one cluster. Its methods may be called
// by several goroutines at once. It starts goroutines for its connections,
// which Close ends.
type Masters struct {
	cfg       Config
	transport *transport

	mu struct {
		sync.Mutex
		known  []string // addresses of masters: as configured, then as heard of
		leader string   // that was the last to lead, "" for unknown; among known
		open   map[string]*Master
	}
}

// Master is one master as callers see it.
type Master struct {
	Address string // host:port
	wireconnect.JobmasterClient
	wireconnect.TasknodesClient
}

// New makes a Cluster; it connects at the first call.
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

// Close closes the connections. No call is under way.
func (c *Masters) Close() error {
	c.transport.http.CloseIdleConnections()
	return nil
}

// Learn adds an address of a master to those that are known.
func (c *Masters) Learn(address string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.learnLocked(address)
}

func (c *Masters) learnLocked(address string) {
	if checkAddress(address) == nil && !slices.Contains(c.mu.known, address) {
		c.mu.known = append(c.mu.known, address)
	}
}

// setLeader remembers which master leads.
func (c *Masters) setLeader(address string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.learnLocked(address)
	c.mu.leader = address
}

// askLast puts a master behind all others, and takes it for the leader no more.
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

// searchOrder is in which order to ask the masters.
func (c *Masters) searchOrder() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	order := slices.Clone(c.mu.known)
	if i := slices.Index(order, c.mu.leader); i > 0 {
		order = slices.Insert(slices.Delete(order, i, i+1), 0, c.mu.leader)
	}
	return order
}

// master is the master at an address.
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
