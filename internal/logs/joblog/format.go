package joblog

import (
	"errors"
	"fmt"
	"strings"
)

// The layout of a file, version 1:
//
//	magic | log | log | … | index | footer
//
// The logs have no gaps between them, so the offset of a log is the sum of the lengths before
// it. The footer has the length of the index and its checksum.
const (
	magic      = "HAMMRLOG"
	version    = 1
	footerSize = 8 + 4 + 4 + 8 + len(magic)
	minEntry   = 1 + 1 + 1 + 1 + 1 + 8 // bytes of the shortest entry of the index: two names of one byte
	maxName    = 255                   // bytes of the name of an attempt or of a stream

	// MaxIndex limits the index of a file, in bytes. It has space for about 900,000 logs.
	MaxIndex = 64 << 20
)

// ErrFull is the error of a log that finds no space in the index of its file.
var ErrFull = errors.New("joblog: the index has no space for more logs")

// key names a log.
type key struct{ attempt, stream string }

// checkName returns an error if a name cannot be in an index.
func checkName(name string) error {
	if name == "" || len(name) > maxName {
		return fmt.Errorf("joblog: name %.300q has %d bytes, not 1 to %d", name, len(name), maxName)
	}
	return nil
}

// suffix ends the name of a file.
const suffix = ".logs"

// FileName returns the name of a machine's file in the directory of a job. Bytes that a file
// system may refuse are written as % and two hexadecimal digits, and so is a leading dot,
// because names that begin with a dot are those of incomplete files.
func FileName(machine string) string {
	var b strings.Builder
	for i := range len(machine) {
		c := machine[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '.' && i > 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	return b.String() + suffix
}
