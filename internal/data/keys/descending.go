package keys

import "sync"

// Desc is a key that sorts in the reverse order of its Value.
type Desc[T any] struct{ Value T }

// Descending returns the codec of Desc[T]: the part form of inner with every bit flipped.
// Parts are self-delimiting, so a string still sorts after its extensions. The codec is a
// Grouper if inner is one.
func Descending[T any](inner Ordered[T]) Ordered[Desc[T]] {
	n, fixed := fixedSize(inner)
	d := descending[T]{inner: inner}
	if fixed && n <= len(scratch{}) {
		d.fixed = true
	}
	if _, ok := inner.(maskedGrouper); ok {
		return descendingTuple[T]{d}
	}
	return d
}

// descending complements the part form of inner. Because no part is a prefix of another, the
// complement of all bits reverses the order:
//
//	inner       1 < 2        01 < 02
//	descending  1 > 2        FE > FD
type descending[T any] struct {
	inner Ordered[T] // codec of the reversed order
	fixed bool       // encodings fit a scratch and values do not refer to them
}

// scratch holds the flipped bytes of a short key while it is decoded.
type scratch [32]byte

// scratches is a pool, since a buffer on the stack would escape through the interface of
// inner.
var scratches = sync.Pool{New: func() any { return new(scratch) }}

// Append appends the part form of inner and complements what it has appended.
func (c descending[T]) Append(dst []byte, v Desc[T]) []byte {
	from := len(dst)
	dst = c.inner.AppendPart(dst, v.Value)
	for i := from; i < len(dst); i++ {
		dst[i] = ^dst[i]
	}
	return dst
}

// Decode refuses bytes after the part: the top-level form of a descending key is its part
// form.
func (c descending[T]) Decode(src []byte) (Desc[T], error) {
	v, rest, err := c.DecodePart(src)
	if err == nil && len(rest) > 0 {
		err = malformed("a descending key with bytes after its end", len(src))
	}
	return v, err
}

func (c descending[T]) AppendPart(dst []byte, v Desc[T]) []byte { return c.Append(dst, v) }

// DecodePart finds the end of the part, complements its bytes into a buffer, and decodes the
// buffer. Values of a fixed codec do not refer to the buffer, so the buffer is pooled.
func (c descending[T]) DecodePart(src []byte) (v Desc[T], rest []byte, err error) {
	n, err := partLen(c.inner, src, 0xFF)
	if err != nil {
		return v, nil, err
	}
	if c.fixed {
		s := scratches.Get().(*scratch)
		v.Value, _, err = c.inner.DecodePart(appendXOR(s[:0], src[:n], 0xFF))
		scratches.Put(s)
		return v, src[n:], err
	}
	v.Value, _, err = c.inner.DecodePart(appendXOR(make([]byte, 0, n), src[:n], 0xFF))
	return v, src[n:], err
}

// partLen measures the inner part with the mask complemented, without writing the plain
// bytes anywhere.
func (c descending[T]) partLen(src []byte, mask byte) (int, error) {
	return partLen(c.inner, src, ^mask)
}

// size returns the size of inner, since complementing keeps the length.
func (c descending[T]) size() int { return sizeOf(c.inner) }

// maskedGrouper is a Grouper that can read flipped bytes.
type maskedGrouper interface {
	groupLen(key []byte, mask byte) (int, error)
}

// descendingTuple is a descending codec of tuples: it finds the groups in the complemented
// bytes.
type descendingTuple[T any] struct{ descending[T] }

// GroupLen implements Grouper.
func (c descendingTuple[T]) GroupLen(key []byte) (int, error) { return c.groupLen(key, 0) }

// groupLen implements maskedGrouper, for a descending codec of descending tuples.
func (c descendingTuple[T]) groupLen(key []byte, mask byte) (int, error) {
	return c.inner.(maskedGrouper).groupLen(key, ^mask)
}
