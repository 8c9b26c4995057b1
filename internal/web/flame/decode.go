// Package flame makes pictures and tables of profiles, and groups stacks:
//
//	p, err := flame.Decode(data)
//	tree, err := p.Tree("cpu")
//	rects := tree.Layout(frame, 1200)
//	table := tree.Top(frame, 50)
//
// Profiles come from the programs of users, so everything in them is bounded: bytes, messages, frames
// of a stack, frames of the tree, and names.
package flame

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/google/pprof/profile"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hammr/hammr/internal/clean"
)

// Bounds of a profile.
const (
	maxBytes    = 16 << 20  // without compression
	maxMessages = 1_000_000 // fields of the profile, and of the messages in it
	maxTypes    = 16        // of values
	maxName     = 200       // bytes of a name
)

// Profile is a decoded profile.
type Profile struct {
	profile *profile.Profile
	types   []Type
}

// Type is a type of the values of a profile.
type Type struct{ Name, Unit string }

// Decode decodes a profile as runtime/pprof writes it, compressed by gzip or not.
func Decode(data []byte) (*Profile, error) {
	raw, err := inflate(data)
	if err == nil {
		err = countMessages(raw)
	}
	if err != nil {
		return nil, fmt.Errorf("malformed profile: %w", err)
	}
	p, err := profile.ParseUncompressed(raw)
	if err == nil {
		err = p.CheckValid()
	}
	if err != nil {
		return nil, fmt.Errorf("malformed profile: %w", err)
	}
	if len(p.SampleType) > maxTypes {
		return nil, fmt.Errorf("malformed profile: %d types of values; at most %d are accepted", len(p.SampleType), maxTypes)
	}
	decoded := &Profile{profile: p}
	for _, t := range p.SampleType {
		decoded.types = append(decoded.types, Type{nameOf(t.Type), nameOf(t.Unit)})
	}
	return decoded, nil
}

// inflate returns the data without compression.
func inflate(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, checkSize(len(data))
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	return raw, cmp.Or(err, checkSize(len(raw)))
}

func checkSize(n int) error {
	if n > maxBytes {
		return fmt.Errorf("more than %d bytes without compression", maxBytes)
	}
	return nil
}

// countMessages returns an error if the profile has too many messages: one of two bytes takes a hundred
// bytes of memory when it is decoded.
func countMessages(raw []byte) error {
	n := 0
	err := eachField(raw, &n, func(kind protowire.Type, value []byte) {
		if kind == protowire.BytesType {
			inner, _ := protowire.ConsumeBytes(value) // it is complete
			_ = eachField(inner, &n, nil)             // it may be a text
		}
	})
	if n > maxMessages {
		return fmt.Errorf("more than %d messages", maxMessages)
	}
	return err
}

// eachField calls do, if it is not nil, for each field of a message until n of them have been counted.
func eachField(message []byte, n *int, do func(kind protowire.Type, value []byte)) error {
	for len(message) > 0 && *n <= maxMessages {
		number, kind, head := protowire.ConsumeTag(message)
		if head < 0 {
			return protowire.ParseError(head)
		}
		size := protowire.ConsumeFieldValue(number, kind, message[head:])
		if size < 0 {
			return protowire.ParseError(size)
		}
		*n++
		if do != nil {
			do(kind, message[head:head+size])
		}
		message = message[head+size:]
	}
	return nil
}

// nameOf returns a name of a profile as it may be shown.
func nameOf(name string) string { return clean.Line(name, maxName) }

// Types returns the types of values.
func (p *Profile) Types() []Type { return p.types }

// Default returns the name of the type that is shown first, "" for a profile without types.
func (p *Profile) Default() string {
	if name := nameOf(p.profile.DefaultSampleType); name != "" {
		if _, err := p.typeAt(name); err == nil {
			return name
		}
	}
	if len(p.types) == 0 {
		return ""
	}
	return p.types[len(p.types)-1].Name
}

// ErrNoType is wrapped by the error for a type of values that a profile does not have.
var ErrNoType = errors.New("no such type of values in the profile")

// typeAt returns the place of a type.
func (p *Profile) typeAt(name string) (int, error) {
	for i, t := range p.types {
		if t.Name == name {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%q: %w", name, ErrNoType)
}
