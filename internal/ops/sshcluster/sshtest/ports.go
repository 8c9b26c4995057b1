package sshtest

import (
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"testing"
)

// Ports are below the range of outgoing connections.
const (
	firstPort = 18000
	lastPort  = 31000
)

// FreePort returns a port that is free on all machines, as are those at the given distances from
// it. Another process may take one before it is used; ports are random, so that this is unlikely.
func FreePort(t testing.TB, distances ...int) int {
	t.Helper()
	for range 1000 {
		port := firstPort + rand.IntN(lastPort-firstPort)
		if !slices.ContainsFunc(append(distances, 0), func(d int) bool { return taken(port + d) }) {
			return port
		}
	}
	t.Fatalf("no free ports within %d to %d", firstPort, lastPort)
	return 0
}

// taken reports whether a port is in use on any machine.
func taken(port int) bool {
	return slices.ContainsFunc(Hosts, func(host string) bool {
		l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err != nil {
			return true
		}
		return l.Close() != nil
	})
}
