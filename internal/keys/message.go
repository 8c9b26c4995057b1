package keys

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// JSON encodes values with encoding/json, without a newline. Its byte order has no meaning,
// so JSON suits values, and keys that only need to be grouped.
type JSON[T any] struct{}

// Append panics with an *EncodeError if encoding/json cannot encode v, for example a
// channel.
func (JSON[T]) Append(dst []byte, v T) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(&EncodeError{"json", fmt.Sprintf("%T", v), err})
	}
	return append(dst, b...)
}

func (JSON[T]) Decode(src []byte) (v T, err error) {
	if err := json.Unmarshal(src, &v); err != nil {
		return v, fmt.Errorf("%w of JSON for %T: %w", ErrMalformed, v, err)
	}
	return v, nil
}

// Gob encodes values with encoding/gob. Each value carries its own type
// description, some tens of bytes; for small values JSON or a tuple is
// smaller and faster.
type Gob[T any] struct{}

// Append panics with an *EncodeError if gob cannot encode v.
func (Gob[T]) Append(dst []byte, v T) []byte {
	w := bytes.NewBuffer(dst)
	if err := gob.NewEncoder(w).Encode(&v); err != nil {
		panic(&EncodeError{"gob", fmt.Sprintf("%T", v), err})
	}
	return w.Bytes()
}

// Decode refuses bytes after the value, which gob itself would ignore.
func (Gob[T]) Decode(src []byte) (v T, err error) {
	r := bytes.NewReader(src)
	if err := gob.NewDecoder(r).Decode(&v); err != nil {
		return v, fmt.Errorf("%w of gob for %T: %w", ErrMalformed, v, err)
	}
	if r.Len() > 0 {
		return v, malformed("gob with bytes after its end", len(src))
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

// Append panics with an *EncodeError if a required field is missing.
func (c protobuf[T]) Append(dst []byte, v T) []byte {
	b, err := proto.MarshalOptions{Deterministic: true}.MarshalAppend(dst, any(v).(proto.Message))
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
