package conf

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
)

// Ports of a NameNode whose address has no port.
const (
	defaultRPCPort   = "8020"
	defaultHTTPPort  = "9870"
	defaultHTTPSPort = "9871"
)

// NameNode holds the addresses of one NameNode of a nameservice.
type NameNode struct {
	ID   string // name in dfs.ha.namenodes; "" for a single NameNode
	RPC  string // host:port
	HTTP string // host:port of WebHDFS; "" if it is not configured
}

// NameNodes resolves the authority of an hdfs:// name. If it is a nameservice, its NameNodes
// are returned in the order of dfs.ha.namenodes, else the authority is a host:port. If there
// are several, the client asks them in this order until it finds the active one.
func (c *Conf) NameNodes(authority string) ([]NameNode, error) {
	if authority == "" {
		return nil, errors.New("no NameNode is named; write hdfs://host:port/path or set fs.defaultFS")
	}
	haKey := "dfs.ha.namenodes." + authority
	ids := c.Strings(haKey)
	switch {
	// High availability: several NameNodes, of which one is active.
	case len(ids) > 0:
		return c.namesOf(authority, ids)
	// A nameservice with one NameNode; the properties have the name of the service.
	case slices.Contains(c.Strings("dfs.nameservices"), authority):
		node, err := c.nameNode(authority, "")
		if err != nil {
			return nil, fmt.Errorf("nameservice %s has neither %s nor a single NameNode: %w", authority, haKey, err)
		}
		return []NameNode{node}, nil
	}
	rpc, err := withPort(authority, defaultRPCPort)
	if err != nil {
		return nil, fmt.Errorf("address %q of a NameNode: %w", authority, err)
	}
	return []NameNode{{RPC: rpc, HTTP: c.singleHTTP(authority, rpc)}}, nil
}

// namesOf reads the addresses of all NameNodes of a nameservice, and reports every one that is
// missing.
func (c *Conf) namesOf(nameservice string, ids []string) ([]NameNode, error) {
	var nodes []NameNode
	var errs []error
	for _, id := range ids {
		node, err := c.nameNode(nameservice, id)
		nodes, errs = append(nodes, node), append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("nameservice %s: %w", nameservice, err)
	}
	return nodes, nil
}

// nameNode reads the addresses of one NameNode. id is "" for the only one of its
// nameservice.
func (c *Conf) nameNode(nameservice, id string) (NameNode, error) {
	suffix := "." + nameservice
	if id != "" {
		suffix += "." + id
	}
	node := NameNode{ID: id}
	key := "dfs.namenode.rpc-address" + suffix
	// The property has no default: without it the nameservice cannot be reached.
	address := strings.TrimSpace(c.String(key))
	if address == "" {
		return node, fmt.Errorf("property %s is not set", key)
	}
	var err error
	if node.RPC, err = withPort(address, defaultRPCPort); err != nil {
		return node, fmt.Errorf("%s=%s: %w", key, address, err)
	}
	key = "dfs.namenode.http-address" + suffix
	if node.HTTP, err = httpAddress(c.String(key), node.RPC); err != nil {
		return node, fmt.Errorf("%s=%s: %w", key, c.String(key), err)
	}
	return node, nil
}

// singleHTTP returns dfs.namenode.http-address, which applies only to the NameNode of
// fs.defaultFS. It returns "" if the address is unset or malformed, because WebHDFS is
// optional.
func (c *Conf) singleHTTP(authority, rpc string) string {
	def := strings.TrimSuffix(strings.TrimPrefix(c.String("fs.defaultFS"), "hdfs://"), "/")
	if def != authority && def != rpc {
		return ""
	}
	address, err := httpAddress(c.String("dfs.namenode.http-address"), rpc)
	if err != nil {
		return ""
	}
	return address
}

// httpAddress completes an HTTP address. Site files often have 0.0.0.0, the address that the
// NameNode listens on. httpAddress replaces it by the host of the RPC address. The prefix
// https:// stays.
func httpAddress(address, rpc string) (string, error) {
	address, port := strings.TrimSpace(address), defaultHTTPPort
	if address == "" {
		return "", nil
	}
	scheme := ""
	if rest, secure := strings.CutPrefix(address, "https://"); secure {
		scheme, address, port = "https://", rest, defaultHTTPSPort
	}
	address, err := withPort(address, port)
	if err != nil {
		return "", err
	}
	host, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		host, _, err = net.SplitHostPort(rpc)
	}
	return scheme + net.JoinHostPort(host, port), err
}

// withPort adds a port to an address without one. An IPv6 host must be in brackets.
func withPort(address, port string) (string, error) {
	if _, _, err := net.SplitHostPort(address); err == nil {
		return address, nil
	}
	withPort := address + ":" + port
	if _, _, err := net.SplitHostPort(withPort); err != nil {
		return "", errors.New("expected host or host:port, an IPv6 host in brackets")
	}
	return withPort, nil
}
