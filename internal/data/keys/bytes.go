package keys

import (
	"bytes"
	"unsafe"
)

// The part form of a string escapes its zeros and ends in a terminator:
//
//	a \x00 b   is   'a' 00 FF 'b' 00 01
//
// In a part, 0x00 is written as escape, escaped and the end as escape, terminator.
// terminator < escaped makes a string sort before its extensions.
const (
	escape     = 0x00
	terminator = 0x01
	escaped    = 0xFF
)

// Bytes encodes byte slices. Nil and empty encode alike and decode to empty.
// Decode returns a view of src.
type Bytes struct{}

// Append appends v itself: the length of a whole key is known from outside.
func (Bytes) Append(dst, v []byte) []byte       { return append(dst, v...) }
func (Bytes) Decode(src []byte) ([]byte, error) { return src, nil }

// AppendPart appends the escaped form.
func (Bytes) AppendPart(dst, v []byte) []byte       { return appendEscaped(dst, v) }
func (Bytes) partLen(s []byte, m byte) (int, error) { return escapedLen(s, m) }

// DecodePart returns a view of src when the slice holds no 0x00, else a copy.
func (Bytes) DecodePart(src []byte) (v, rest []byte, err error) { return unescape(src) }

// String encodes strings by their bytes. Decode copies.
type String struct{}

func (String) Append(dst []byte, v string) []byte     { return append(dst, v...) }
func (String) Decode(src []byte) (string, error)      { return string(src), nil }
func (String) AppendPart(dst []byte, v string) []byte { return appendEscaped(dst, stringBytes(v)) }
func (String) partLen(s []byte, m byte) (int, error)  { return escapedLen(s, m) }

// DecodePart copies.
func (String) DecodePart(src []byte) (v string, rest []byte, err error) {
	b, rest, err := unescape(src)
	return string(b), rest, err
}

// StringView encodes like String, but its Decode does not copy: the string is valid until
// src is modified.
type StringView struct{ String }

// Decode returns a view of src. It saves the copy for a loop that only compares or looks up
// its key.
func (StringView) Decode(src []byte) (string, error) {
	return unsafe.String(unsafe.SliceData(src), len(src)), nil
}

// stringBytes returns a view of s, which must not be modified. It saves a copy per record.
func stringBytes(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// appendEscaped appends v with its zeros escaped, and the terminator. It copies the bytes
// between zeros at once, because few strings contain zeros.
func appendEscaped(dst, v []byte) []byte {
	for {
		i := bytes.IndexByte(v, escape)
		if i < 0 {
			break
		}
		dst = append(dst, v[:i]...)
		dst = append(dst, escape, escaped)
		v = v[i+1:]
	}
	dst = append(dst, v...)
	return append(dst, escape, terminator)
}

// escapedLen returns the length of the escaped part that src begins with, its terminator
// included.
func escapedLen(src []byte, mask byte) (int, error) {
	for n := 0; ; {
		i := bytes.IndexByte(src[n:], escape^mask)
		if i < 0 || n+i+1 >= len(src) {
			return 0, malformed("unterminated string part", len(src))
		}
		n += i + 2
		switch src[n-1] ^ mask {
		case terminator:
			return n, nil
		case escaped:
		default:
			return 0, malformed("string part with a bad escape", len(src))
		}
	}
}

// unescape decodes the part that src begins with, and returns the bytes after it. v is a
// view of src if nothing was escaped.
func unescape(src []byte) (v, rest []byte, err error) {
	n, err := escapedLen(src, 0)
	if err != nil {
		return nil, nil, err
	}
	v, rest = src[:n-2:n-2], src[n:]
	if bytes.IndexByte(v, escape) < 0 {
		return v, rest, nil
	}
	plain := make([]byte, 0, len(v))
	for i := bytes.IndexByte(v, escape); i >= 0; i = bytes.IndexByte(v, escape) {
		plain = append(plain, v[:i+1]...)
		v = v[i+2:]
	}
	return append(plain, v...), rest, nil
}
