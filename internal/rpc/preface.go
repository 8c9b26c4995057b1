package rpc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
)

// ForeignError says that the server at an address is not a jobmaster.
type ForeignError struct {
	Address string
	What    string // the kind of server
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s: %s listens there, not a hammr jobmaster; name the masters' RPC addresses (their port is 7070 by default)", e.Address, e.What)
}

// errClosedSilently is the error of a plain connection to a TLS server. A jobmaster that is
// about to stop causes it too.
var errClosedSilently = errors.New("closes connections without an answer; is this the RPC address of a hammr jobmaster?")

// prefaceConn checks the first bytes that the server sends. In HTTP/2 they are the
// header of a SETTINGS frame,
//
//	length 3 bytes | type 4 | flags 0 | stream 0, 4 bytes
//
// Without this check, another kind of server would be reported as a protocol error of the
// HTTP/2 library.
type prefaceConn struct {
	net.Conn
	address string
	preface []byte      // the first bytes, up to settingsHeaderBytes
	reject  func(error) // called with the reason why the server is not a jobmaster
}

const settingsHeaderBytes = 9

// Read implements net.Conn.
func (c *prefaceConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if len(c.preface) == settingsHeaderBytes {
		return n, err
	}
	if strange := c.checkPreface(p[:n], err); strange != nil {
		c.reject(strange)
		return 0, strange
	}
	return n, err
}

// checkPreface returns why a jobmaster cannot have sent the first bytes, nil if it can.
func (c *prefaceConn) checkPreface(words []byte, end error) error {
	c.preface = append(c.preface, words[:min(len(words), settingsHeaderBytes-len(c.preface))]...)
	switch {
	case len(c.preface) == 0 && (errors.Is(end, io.EOF) || errors.Is(end, syscall.ECONNRESET)):
		return errClosedSilently
	case !isSettingsPrefix(c.preface):
		return &ForeignError{c.address, guessProtocol(c.preface)}
	}
	return nil
}

// isSettingsPrefix reports whether b can be the start of a SETTINGS frame.
func isSettingsPrefix(b []byte) bool {
	for i, got := range b[:min(len(b), settingsHeaderBytes)] {
		switch {
		case i == 1 || i == 2: // these bytes are part of the length
		case i == 3 && got != 4, i != 3 && got != 0:
			return false
		}
	}
	return true
}

// guessProtocol returns the kind of server that sends these bytes.
func guessProtocol(received []byte) string {
	switch {
	case bytes.HasPrefix(received, []byte("HTTP/")):
		return "an HTTP/1 server"
	case bytes.HasPrefix(received, []byte("SSH-")):
		return "an SSH server"
	}
	return "a server of another protocol"
}
