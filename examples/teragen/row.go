package teragen

import "encoding/binary"

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

// rows makes rows. Its zero value stands before row 0.
type rows struct {
	next   int64   // number of the row that random leads to
	random uint128 // of the row before next
	row    [RowSize]byte
}

// at makes row n. It is fastest for one row after the other. What it returns
// holds until the next call.
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
