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

// errWordless is how a server of TLS treats callers without, but also one that
// is just being stopped.
var errWordless = errors.New("closes connections without a word; is this the RPC address of a hammr jobmaster?")

// listeningConn checks how the other side begins to speak: in HTTP/2 with the
// head of a frame of settings,
//
//	length 3 bytes | type 4 | flags 0 | stream 0, 4 bytes
//
// so that a server of another kind is known as such, instead of by what the
// HTTP/2 library makes of its words.
type listeningConn struct {
	net.Conn
	address string
	heard   []byte      // the first bytes, until they are as many as settingsHead
	note    func(error) // hears why the other side is none of us
}

const settingsHead = 9 // bytes

// Read implements net.Conn.
func (c *listeningConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if len(c.heard) == settingsHead {
		return n, err
	}
	if strange := c.listen(p[:n], err); strange != nil {
		c.note(strange)
		return 0, strange
	}
	return n, err
}

// listen is what is strange about the first words, nil while nothing is.
func (c *listeningConn) listen(words []byte, end error) error {
	c.heard = append(c.heard, words[:min(len(words), settingsHead-len(c.heard))]...)
	switch {
	case len(c.heard) == 0 && (errors.Is(end, io.EOF) || errors.Is(end, syscall.ECONNRESET)):
		return errWordless
	case !beginsSettings(c.heard):
		return &ForeignError{c.address, speaker(c.heard)}
	}
	return nil
}

// beginsSettings reports whether b can be the begin of a frame of settings.
func beginsSettings(b []byte) bool {
	for i, got := range b[:min(len(b), settingsHead)] {
		switch {
		case i == 1 || i == 2: // of the length
		case i == 3 && got != 4, i != 3 && got != 0:
			return false
		}
	}
	return true
}

// speaker guesses what begins to speak like this.
func speaker(heard []byte) string {
	switch {
	case bytes.HasPrefix(heard, []byte("HTTP/")):
		return "an HTTP/1 server"
	case bytes.HasPrefix(heard, []byte("SSH-")):
		return "an SSH server"
	}
	return "a server of another protocol"
}
