package httpserver

import (
	"context"
	"net"
	"net/netip"
)

// Conn is a connection that its listener bounds as long as it has no identity.
//
//	stranger ── Identify ──► identified
//	 │    ▲
//	Retain release
//	 ▼    │
//	retained
//
// A stranger is closed after some time, and earlier if its place is needed. The other two are not.
type Conn interface {
	// Identify says that the peer has shown a secret.
	Identify()
	// Identified reports whether Identify was called.
	Identified() bool
	// Retain keeps a connection that has no identity until release is called, which must be called once.
	Retain() (release func())
}

// connKey is the key of a Conn in the context of a request.
type connKey struct{}

// connOf returns the Conn below the layers of a connection, nil if there is none.
func connOf(c net.Conn) Conn {
	for {
		if found, ok := c.(Conn); ok {
			return found
		}
		layer, ok := c.(interface{ NetConn() net.Conn }) // as *tls.Conn
		if !ok {
			return nil
		}
		c = layer.NetConn()
	}
}

// of returns the connection of a request, nil if its listener has no bounds.
func of(ctx context.Context) Conn {
	c, _ := ctx.Value(connKey{}).(Conn)
	return c
}

// Identify says that the caller of a request, given by its context, has shown a secret.
func Identify(ctx context.Context) {
	if c := of(ctx); c != nil {
		c.Identify()
	}
}

// IdentifyConn says that the peer of a connection has shown a secret.
func IdentifyConn(conn net.Conn) {
	if c := connOf(conn); c != nil {
		c.Identify()
	}
}

// Retain keeps the connection of a request whose caller needs no secret, as for pages that everybody may
// view, until release is called. The caller bounds how many requests are answered at once.
func Retain(ctx context.Context) (release func()) {
	if c := of(ctx); c != nil {
		return c.Retain()
	}
	return func() {}
}

// SourceOf returns the network that counts as one caller: an IPv4 address, 56 bits of IPv6, which one
// customer of a provider often has, and all of 127.0.0.0/8, which every process of this machine has.
func SourceOf(address netip.Addr) netip.Addr {
	address = address.Unmap().WithZone("")
	switch {
	case address.Is6() && !address.IsLoopback():
		return netip.PrefixFrom(address, 56).Masked().Addr()
	case address.IsLoopback():
		return netip.IPv6Loopback()
	}
	return address
}
