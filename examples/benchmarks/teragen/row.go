package teragen

import (
	"encoding/binary"
	"math/bits"
)

// A row is laid out so:
//
//	 0  10  key: the high bytes of the row's random number
//	10   2  00 11
//	12  32  number of the row, in hexadecimal
//	44   4  88 99 AA BB
//	48  48  filler: the last 12 hexadecimal digits of the random number, four
//	        times each
//	96   4  CC DD EE FF
const (
	RowSize = 100 // bytes
	KeySize = 10
)

// rows generates rows. The zero value is positioned before row 0.
type rows struct {
	next   int64   // number of the row after the last one made
	random uint128 // random number of the row before next
	row    [RowSize]byte
}

// at returns row n, which is valid until the next call. It is fastest if rows are requested in
// order.
func (r *rows) at(n int64) []byte {
	if n != r.next {
		r.random = randomAt(uint64(n))
	}
	r.random = generator.of(r.random)
	r.next = n + 1

	row := r.row[:]
	binary.BigEndian.PutUint64(row, r.random.hi)
	binary.BigEndian.PutUint16(row[8:], uint16(r.random.lo>>48))
	copy(row[10:], "\x00\x11")
	putHex(row[12:28], 0)
	putHex(row[28:44], uint64(n))
	copy(row[44:], "\x88\x99\xAA\xBB")
	for i := range 12 {
		digit := digits[r.random.lo>>(44-4*i)&15]
		binary.LittleEndian.PutUint32(row[48+4*i:], uint32(digit)*0x01010101)
	}
	copy(row[96:], "\xCC\xDD\xEE\xFF")
	return row
}

const digits = "0123456789ABCDEF"

// putHex writes the 16 hexadecimal digits of n.
func putHex(dst []byte, n uint64) {
	for i := range 16 {
		dst[i] = digits[n>>(60-4*i)&15]
	}
}

// uint128 is a number below 2^128. Sums and products are taken modulo 2^128.
type uint128 struct{ hi, lo uint64 }

func (x uint128) plus(y uint128) uint128 {
	lo, carry := bits.Add64(x.lo, y.lo, 0)
	hi, _ := bits.Add64(x.hi, y.hi, carry)
	return uint128{hi, lo}
}

func (x uint128) times(y uint128) uint128 {
	hi, lo := bits.Mul64(x.lo, y.lo)
	return uint128{hi + x.hi*y.lo + x.lo*y.hi, lo}
}

// step maps x to a*x + c. The composition of two steps is a step.
type step struct{ a, c uint128 }

func (s step) of(x uint128) uint128 { return s.a.times(x).plus(s.c) }

// after returns the step that does first and then s.
func (s step) after(first step) step { return step{s.a.times(first.a), s.of(first.c)} }

// generator is the linear congruential generator of the sort benchmark, which
// starts at 0. The bytes of its increment begin with "JimGrayRIP".
var generator = step{
	a: uint128{0x2360ED051FC65DA4, 0x4385DF649FCCF645},
	c: uint128{0x4A696D4772617952, 0x4950202020202001},
}

// randomAt returns the generator's number after n steps. By squaring, it needs only 2 log n
// compositions.
func randomAt(n uint64) uint128 {
	var x uint128
	for power := generator; n > 0; n >>= 1 {
		if n&1 == 1 {
			x = power.of(x)
		}
		power = power.after(power)
	}
	return x
}
