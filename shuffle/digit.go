package shuffle

import "math/bits"

// digit is a part of a sort key of at most eight bits, by which a radix sort distributes
// entries: a byte, or two bytes of the prefix together. Two bytes become one digit if entries
// differ in few of their bits. Decimal numbers of the same length, for example, differ in
// four bits of each byte:
//
//	'0'..'9' = 30..39   '0'..'9'
//	    0011 dddd       0011 eeee     digit: dddd eeee
//
// A byte of the rest, and a byte without a partner, have only the low part.
type digit struct {
	bytes    int    // bytes of the sort key that it covers
	inRest   bool   // it is a byte of the rest
	high     uint   // shift of the first byte's bits in the prefix
	highMask uint64 // mask of these bits once shifted; 0 without a second byte
	width    uint   // number of bits of the low part
	low      uint   // shift of the last byte's bits
	lowMask  uint64 // mask of these bits once shifted
}

// digitAt returns the digit that begins with byte at of sort keys that differ at most in the
// bits of varying.
func digitAt(varying *entry, at int) digit {
	if at >= 8 {
		return digit{bytes: 1, inRest: true, low: 88 - 8*uint(at), lowMask: 0xff}
	}
	first, second := byteOf(varying, at), uint8(0)
	if at < 7 {
		second = byteOf(varying, at+1)
	}
	low := 56 - 8*uint(at)
	if first == 0 || second == 0 || bitSpan(first)+bitSpan(second) > 8 {
		return digit{bytes: 1, low: low, lowMask: 0xff}
	}
	d := digit{bytes: 2, width: bitSpan(second)}
	d.high, d.highMask = low+uint(bits.TrailingZeros8(first)), 1<<bitSpan(first)-1
	d.low, d.lowMask = low-8+uint(bits.TrailingZeros8(second)), 1<<d.width-1
	return d
}

// bitSpan returns the number of bits from the lowest to the highest that is set in b.
func bitSpan(b uint8) uint { return uint(bits.Len8(b) - bits.TrailingZeros8(b)) }

// byteOf returns byte at of a sort key.
func byteOf(e *entry, at int) byte {
	if at < 8 {
		return byte(e.prefix >> (56 - 8*uint(at)))
	}
	return byte(e.rest >> (88 - 8*uint(at)))
}

// of returns the digit of one entry.
func (d *digit) of(e *entry) int {
	if d.inRest {
		return int(byte(e.rest >> d.low))
	}
	return int(d.ofPrefix(e.prefix))
}

// ofPrefix returns a digit of the prefix. The masks of the shifts save a comparison for each.
func (d *digit) ofPrefix(prefix uint64) byte {
	return byte(prefix>>(d.high&63)&d.highMask<<(d.width&7) | prefix>>(d.low&63)&d.lowMask)
}

// count counts the entries of digit i in starts[i+1].
func (d *digit) count(a []entry, starts *[257]uint32) {
	low := d.low & 63
	switch {
	case d.inRest:
		for i := range a {
			starts[int(byte(a[i].rest>>low))+1]++
		}
	case d.bytes == 1:
		for i := range a {
			starts[int(byte(a[i].prefix>>low))+1]++
		}
	default:
		pair := *d
		for i := range a {
			starts[int(pair.ofPrefix(a[i].prefix))+1]++
		}
	}
}

// scatter orders a by the digit. It replaces the counts in starts by the index where each
// digit begins.
func (d *digit) scatter(a, tmp []entry, starts *[257]uint32) {
	for i := 1; i <= 256; i++ {
		starts[i] += starts[i-1]
	}
	next := *starts
	tmp = tmp[:len(a)]
	low := d.low & 63
	switch {
	case d.inRest:
		for i := range a {
			to := &next[byte(a[i].rest>>low)]
			tmp[*to] = a[i]
			*to++
		}
	case d.bytes == 1:
		for i := range a {
			to := &next[byte(a[i].prefix>>low)]
			tmp[*to] = a[i]
			*to++
		}
	default:
		pair := *d
		for i := range a {
			to := &next[pair.ofPrefix(a[i].prefix)]
			tmp[*to] = a[i]
			*to++
		}
	}
	copy(a, tmp)
}

// differences returns the bits in which the sort keys of entries differ.
func differences(a []entry) entry {
	var diff entry
	for i := range a {
		diff.prefix |= a[i].prefix ^ a[0].prefix
		diff.rest |= a[i].rest ^ a[0].rest
	}
	return diff
}

// firstVarying returns the first byte, from at on, in which sort keys differ; sortKeyDigits if
// they do not.
func firstVarying(varying *entry, at int) int {
	for at < sortKeyDigits && byteOf(varying, at) == 0 {
		at++
	}
	return at
}
