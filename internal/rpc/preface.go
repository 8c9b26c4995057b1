package rpc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
)

// ForeignError says that something else than a jobmaster listens at an address.
type ForeignError struct {
	Address string
	What    string // that listens there
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s: %s listens there, not a hammr jobmaster; name the masters' RPC addresses (their port is 7070 by default)", e.Address, e.What)
}

// errClosedSilently is how a server of TLS treats callers without, but also one that
// is just being stopped.
var errClosedSilently = errors.New("closes connections without a word; is this the RPC address of a hammr jobmaster?")

// prefaceConn checks how the other side begins to speak: in HTTP/2 with the
// head of a frame of settings,
//
//	length 3 bytes | type 4 | flags 0 | stream 0, 4 bytes
//
// so that a server of another kind is known as such, instead of by what the
// HTTP/2 library makes of its words.
type prefaceConn struct {
	net.Conn
	address string
	preface []byte      // the first bytes, until they are as many as settingsHeaderBytes
	reject  func(error) // hears why the other side is none of us
}

const settingsHeaderBytes = 9 // bytes

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

// checkPreface is what is strange about the first words, nil while nothing is.
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

// isSettingsPrefix reports whether b can be the begin of a frame of settings.
func isSettingsPrefix(b []byte) bool {
	for i, got := range b[:min(len(b), settingsHeaderBytes)] {
		switch {
		case i == 1 || i == 2: // of the length
		case i == 3 && got != 4, i != 3 && got != 0:
			return false
		}
	}
	return true
}

// guessProtocol guesses what begins to speak like this.
func guessProtocol(heard []byte) string {
	switch {
	case bytes.HasPrefix(heard, []byte("HTTP/")):
		return "an HTTP/1 server"
	case bytes.HasPrefix(heard, []byte("SSH-")):
		return "an SSH server"
	}
	return "a server of another protocol"
}
