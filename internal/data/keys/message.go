package keys

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/hammr/hammr/internal/data/lossless"
)

// TypeChecker is a codec that does not suit all values of its type.
type TypeChecker interface {
	// CheckType returns why the codec would lose or change values of its type, whatever they
	// are; nil if it would not. The error names the field.
	CheckType() error
}

// CheckType returns the result of codec.CheckType; nil if the codec does not have it.
func CheckType(codec any) error {
	if c, ok := codec.(TypeChecker); ok {
		return c.CheckType()
	}
	return nil
}

// JSON encodes values with encoding/json, without a newline. Its byte order has no meaning,
// so JSON suits values, and keys that only need to be grouped. It refuses what would decode
// to another value: see package lossless.
type JSON[T any] struct{}

// CheckType implements TypeChecker.
func (JSON[T]) CheckType() error {
	_, err := lossless.JSONOf(reflect.TypeFor[T]())
	return err
}

// Append panics with an *EncodeError if encoding/json cannot encode v, for example a
// channel, or would change it, such as a string that is not UTF-8. It encodes a pointer to
// v, so that encoding/json finds the methods of *T.
func (c JSON[T]) Append(dst []byte, v T) []byte {
	b, err := c.Encode(v)
	if err != nil {
		panic(&EncodeError{"json", fmt.Sprintf("%T", v), err})
	}
	return append(dst, b...)
}

// Encode returns the encoding of v, or the error with which Append panics.
func (JSON[T]) Encode(v T) ([]byte, error) {
	t, err := lossless.JSONOf(reflect.TypeFor[T]())
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(&v)
	if err != nil {
		return nil, err
	}
	return b, t.Check(reflect.ValueOf(&v).Elem(), b)
}

func (JSON[T]) Decode(src []byte) (v T, err error) {
	if err := json.Unmarshal(src, &v); err != nil {
		return v, fmt.Errorf("%w of JSON for %T: %w", ErrMalformed, v, err)
	}
	return v, nil
}

// Proto encodes protobuf messages; T is the pointer type of a generated message. Fields are
// encoded in a deterministic order, so equal messages have equal bytes within one version of
// the program. The byte order has no meaning.
func Proto[T proto.Message]() Codec[T] {
	var zero T
	return protobuf[T]{zero.ProtoReflect().Type()}
}

// protobuf is the codec of Proto. It keeps the message's type, so that Decode can make
// messages without reflection on T.
type protobuf[T any] struct{ message protoreflect.MessageType }

var errNilMessage = errors.New("a nil message, which would decode as an empty one")

// Append panics with an *EncodeError if a required field is missing, or if v is nil: a nil
// message would decode as an empty one.
func (c protobuf[T]) Append(dst []byte, v T) []byte {
	m := any(v).(proto.Message)
	var b []byte
	err := errNilMessage
	if m.ProtoReflect().IsValid() {
		b, err = proto.MarshalOptions{Deterministic: true}.MarshalAppend(dst, m)
	}
	if err != nil {
		panic(&EncodeError{"proto", fmt.Sprintf("%T", v), err})
	}
	return b
}

func (c protobuf[T]) Decode(src []byte) (T, error) {
	m := c.message.New().Interface()
	if err := proto.Unmarshal(src, m); err != nil {
		return m.(T), fmt.Errorf("%w of protobuf for %T: %w", ErrMalformed, m, err)
	}
	return m.(T), nil
}
