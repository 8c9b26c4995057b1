package keys

// Pair is a key of two components, ordered by First, then Second. Jobs with a secondary sort
// group by First and receive the values in the order of Second.
type Pair[A, B any] struct {
	First  A
	Second B
}

// Triple is a key of three components, ordered by First, then Second, then
// Third.
type Triple[A, B, C any] struct {
	First  A
	Second B
	Third  C
}

// PairOf returns the codec of pairs whose components have the codecs a and b: the part form
// of First, then the top-level form of Second. It is a Grouper.
func PairOf[A, B any](a Ordered[A], b Ordered[B]) Ordered[Pair[A, B]] { return pair[A, B]{a, b} }

// pair is the codec of PairOf. The last component has no part form at the top level, because
// the end of the key ends it:
//
//	Pair{"a", "b"}    'a' 00 01 'b'
//	its part form     'a' 00 01 'b' 00 01
type pair[A, B any] struct {
	a Ordered[A]
	b Ordered[B]
}

// Append appends the part of First and the whole of Second.
func (c pair[A, B]) Append(dst []byte, v Pair[A, B]) []byte {
	return c.b.Append(c.a.AppendPart(dst, v.First), v.Second)
}

// Decode decodes the part of First; the remaining bytes are the whole of Second.
func (c pair[A, B]) Decode(src []byte) (v Pair[A, B], err error) {
	if v.First, src, err = c.a.DecodePart(src); err != nil {
		return v, err
	}
	v.Second, err = c.b.Decode(src)
	return v, err
}

// AppendPart appends the part forms of both.
func (c pair[A, B]) AppendPart(dst []byte, v Pair[A, B]) []byte {
	return c.b.AppendPart(c.a.AppendPart(dst, v.First), v.Second)
}

func (c pair[A, B]) DecodePart(src []byte) (v Pair[A, B], rest []byte, err error) {
	if v.First, src, err = c.a.DecodePart(src); err != nil {
		return v, nil, err
	}
	v.Second, rest, err = c.b.DecodePart(src)
	return v, rest, err
}

// partLen measures both parts; for mask see partLen in codec.go.
func (c pair[A, B]) partLen(src []byte, mask byte) (int, error) {
	first, err := partLen(c.a, src, mask)
	if err != nil {
		return 0, err
	}
	second, err := partLen(c.b, src[first:], mask)
	return first + second, err
}

// size returns -1 unless both components have a fixed size.
func (c pair[A, B]) size() int { return sumSize(c.a, c.b) }

// GroupLen returns the length of the part of First.
func (c pair[A, B]) GroupLen(key []byte) (int, error) { return partLen(c.a, key, 0) }

// groupLen returns GroupLen of a key whose bytes are XORed with mask.
func (c pair[A, B]) groupLen(key []byte, mask byte) (int, error) { return partLen(c.a, key, mask) }

// TripleOf returns the codec of triples; see PairOf.
func TripleOf[A, B, C any](a Ordered[A], b Ordered[B], c Ordered[C]) Ordered[Triple[A, B, C]] {
	return triple[A, B, C]{a, pair[B, C]{b, c}}
}

// triple is the codec of TripleOf: First, and a pair of the others.
type triple[A, B, C any] struct {
	a  Ordered[A]
	bc pair[B, C]
}

// Append appends the part of First and the pair of the others.
func (c triple[A, B, C]) Append(dst []byte, v Triple[A, B, C]) []byte {
	return c.bc.Append(c.a.AppendPart(dst, v.First), Pair[B, C]{v.Second, v.Third})
}

// Decode decodes the part of First; the remaining bytes are the pair of the others.
func (c triple[A, B, C]) Decode(src []byte) (v Triple[A, B, C], err error) {
	if v.First, src, err = c.a.DecodePart(src); err != nil {
		return v, err
	}
	bc, err := c.bc.Decode(src)
	v.Second, v.Third = bc.First, bc.Second
	return v, err
}

func (c triple[A, B, C]) AppendPart(dst []byte, v Triple[A, B, C]) []byte {
	return c.bc.AppendPart(c.a.AppendPart(dst, v.First), Pair[B, C]{v.Second, v.Third})
}

func (c triple[A, B, C]) DecodePart(src []byte) (v Triple[A, B, C], rest []byte, err error) {
	if v.First, src, err = c.a.DecodePart(src); err != nil {
		return v, nil, err
	}
	bc, rest, err := c.bc.DecodePart(src)
	v.Second, v.Third = bc.First, bc.Second
	return v, rest, err
}

// partLen measures all three parts.
func (c triple[A, B, C]) partLen(src []byte, mask byte) (int, error) {
	first, err := partLen(c.a, src, mask)
	if err != nil {
		return 0, err
	}
	others, err := c.bc.partLen(src[first:], mask)
	return first + others, err
}

// size returns -1 unless all components have a fixed size.
func (c triple[A, B, C]) size() int { return sumSize(c.a, c.bc) }

// GroupLen returns the length of the part of First.
func (c triple[A, B, C]) GroupLen(key []byte) (int, error) { return partLen(c.a, key, 0) }

// groupLen returns GroupLen of a key whose bytes are XORed with mask.
func (c triple[A, B, C]) groupLen(key []byte, mask byte) (int, error) {
	return partLen(c.a, key, mask)
}

// sumSize returns the size of both components together, or -1 if it varies.
func sumSize(a, b any) int {
	first, ok1 := fixedSize(a)
	second, ok2 := fixedSize(b)
	if !ok1 || !ok2 {
		return -1
	}
	return first + second
}
