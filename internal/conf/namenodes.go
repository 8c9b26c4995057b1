package conf

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
)

// defaultRPCPort is the port of a NameNode whose address has no port.
const defaultRPCPort = "8020"

// NameNodes returns the addresses, host:port, of the NameNodes that the authority of an hdfs://
// name means. If it is a nameservice, they are in the order of dfs.ha.namenodes, else the
// authority is a host:port. If there are several, the client asks them in this order until it
// finds the active one.
func (c *Conf) NameNodes(authority string) ([]string, error) {
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
		address, err := c.nameNode(authority)
		if err != nil {
			return nil, fmt.Errorf("nameservice %s has neither %s nor a single NameNode: %w", authority, haKey, err)
		}
		return []string{address}, nil
	}
	address, err := withPort(authority, defaultRPCPort)
	if err != nil {
		return nil, fmt.Errorf("address %q of a NameNode: %w", authority, err)
	}
	return []string{address}, nil
}

// namesOf reads the addresses of all NameNodes of a nameservice, and reports every one that is
// missing.
func (c *Conf) namesOf(nameservice string, ids []string) ([]string, error) {
	var addresses []string
	var errs []error
	for _, id := range ids {
		address, err := c.nameNode(nameservice + "." + id)
		addresses, errs = append(addresses, address), append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("nameservice %s: %w", nameservice, err)
	}
	return addresses, nil
}

// nameNode reads the address of one NameNode: NAMESERVICE for the only one of its nameservice, else
// NAMESERVICE.ID.
func (c *Conf) nameNode(name string) (string, error) {
	key := "dfs.namenode.rpc-address." + name
	// The property has no default: without it the nameservice cannot be reached.
	address := strings.TrimSpace(c.String(key))
	if address == "" {
		return "", fmt.Errorf("property %s is not set", key)
	}
	full, err := withPort(address, defaultRPCPort)
	if err != nil {
		return "", fmt.Errorf("%s=%s: %w", key, address, err)
	}
	return full, nil
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
