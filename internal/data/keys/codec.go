package keys

import (
	"errors"
	"fmt"
)

// ErrMalformed marks bytes that are not the encoding of any value of the codec's type.
var ErrMalformed = errors.New("keys: malformed encoding")

// Codec turns values of T into bytes and back. It is called for each record, by any number
// of goroutines, so it has no state. Decode of the bytes from Append gives an equal value.
type Codec[T any] interface {
	// Append appends the encoding of v to dst and returns the extended slice.
	// A codec whose values can fail to encode (JSON, gob, Proto) panics with
	// an *EncodeError.
	Append(dst []byte, v T) []byte

	// Decode returns the value whose encoding is exactly src. Errors wrap ErrMalformed.
	Decode(src []byte) (T, error)
}

// Ordered is a Codec whose byte order is the order of the values, with a form for the
// components of tuples. Equal values have equal bytes, since the engine groups by bytes.
type Ordered[T any] interface {
	Codec[T]

	// AppendPart appends the self-delimiting form of v.
	AppendPart(dst []byte, v T) []byte

	// DecodePart decodes the part that src begins with and returns the bytes after it.
	DecodePart(src []byte) (v T, rest []byte, err error)
}

// Grouper is a codec of tuples: it finds the bytes that all keys with the same first
// component share. A secondary sort groups by them, while the whole key decides the order.
type Grouper interface {
	// GroupLen returns the length in bytes of the first component's encoding at the start of
	// key, found without decoding the component.
	GroupLen(key []byte) (int, error)
}

// EncodeError is the value with which Append panics if a value has no encoding. The engine
// turns the panic into a failure of the record.
type EncodeError struct {
	Codec string // "json", "gob", "proto"
	Type  string // Go type of the value
	Err   error  // error of the encoder
}

func (e *EncodeError) Error() string {
	return fmt.Sprintf("keys: %s encoding of %s: %v", e.Codec, e.Type, e.Err)
}

func (e *EncodeError) Unwrap() error { return e.Err }

// malformed returns an ErrMalformed with the type and the length of the bytes.
func malformed(what string, length int) error {
	return fmt.Errorf("%w of %s in %d bytes", ErrMalformed, what, length)
}

// measurer is an Ordered codec that finds the end of a part without decoding it. Each byte
// of src is XORed with mask before it is examined: mask is 0xFF within a descending part, 0
// elsewhere.
type measurer interface {
	partLen(src []byte, mask byte) (int, error)
}

// partLen returns the length of the part at the start of src, encoded by c.
func partLen[T any](c Ordered[T], src []byte, mask byte) (int, error) {
	if m, ok := c.(measurer); ok {
		return m.partLen(src, mask)
	}
	if mask != 0 {
		src = appendXOR(make([]byte, 0, len(src)), src, mask)
	}
	_, rest, err := c.DecodePart(src)
	return len(src) - len(rest), err
}

// appendXOR appends src to dst with each byte XORed with mask.
func appendXOR(dst, src []byte, mask byte) []byte {
	for _, b := range src {
		dst = append(dst, b^mask)
	}
	return dst
}

// sized is a codec whose encodings all have one length; its decoded values
// never refer to the encoded bytes.
type sized interface {
	size() int // bytes
}

// fixedSize returns the length that all encodings of c have. It returns false if the length
// varies or is unknown.
func fixedSize(c any) (int, bool) {
	s, ok := c.(sized)
	if !ok {
		return 0, false
	}
	n := s.size()
	return n, n >= 0
}

// sizeOf is fixedSize for codecs that are sized only if c is: it returns -1 for a length that
// varies.
func sizeOf(c any) int {
	if n, ok := fixedSize(c); ok {
		return n
	}
	return -1
}

// Detacher is a codec whose decoded values never refer to the encoded bytes.
type Detacher interface{ Detached() }

// Detached reports whether values that c decodes never refer to the encoded bytes. It is false if
// that is unknown.
func Detached[T any](c Codec[T]) bool {
	switch any(c).(type) {
	case String, JSON[T], protobuf[T], Detacher:
		return true
	}
	_, fixed := fixedSize(c)
	return fixed
}
