// Package mrgob encodes values with encoding/gob:
//
//	stage.ValueCodec(mrgob.Codec[visit]())
//
// It is a package of its own, so that a program that does not use gob does not contain it. Each
// value carries its own type description, some tens of bytes; for small values JSON or a tuple
// is smaller and faster.
package mrgob

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"reflect"

	"github.com/hammr/hammr/internal/data/keys"
	"github.com/hammr/hammr/internal/data/lossless"
	"github.com/hammr/hammr/mr"
)

// Codec returns a codec for values that encoding/gob can encode. Like mr.JSON, it refuses what
// would decode to another value.
func Codec[T any]() mr.Codec[T] { return codec[T]{} }

type codec[T any] struct{}

// CheckType implements keys.TypeChecker.
func (codec[T]) CheckType() error { return lossless.CheckGobType(reflect.TypeFor[T]()) }

// Detached implements keys.Detacher.
func (codec[T]) Detached() {}

// Append panics with a *keys.EncodeError if gob cannot encode v, or would change it, such as a
// slice that is empty and not nil.
func (c codec[T]) Append(dst []byte, v T) []byte {
	w := bytes.NewBuffer(dst)
	err := c.CheckType()
	if err == nil {
		err = lossless.CheckGob(reflect.ValueOf(&v).Elem())
	}
	if err == nil {
		err = gob.NewEncoder(w).Encode(&v)
	}
	if err != nil {
		panic(&keys.EncodeError{Codec: "gob", Type: fmt.Sprintf("%T", v), Err: err})
	}
	return w.Bytes()
}

// Decode refuses bytes after the value, which gob itself would ignore.
func (codec[T]) Decode(src []byte) (v T, err error) {
	r := bytes.NewReader(src)
	if err := gob.NewDecoder(r).Decode(&v); err != nil {
		return v, fmt.Errorf("%w of gob for %T: %w", keys.ErrMalformed, v, err)
	}
	if r.Len() > 0 {
		return v, fmt.Errorf("%w: gob with %d bytes after its end", keys.ErrMalformed, r.Len())
	}
	return v, nil
}
