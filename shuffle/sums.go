package shuffle

import (
	"math/bits"

	"github.com/cespare/xxhash/v2"
)

// Sums show whether two attempts at one task have collected the same records. A deterministic
// program emits the same records each time, in the same order. But where the records are cut
// into runs depends on the memory of the process and on checkpoints, and so does what a combiner
// gets at once. So the data files may differ.
//
//	Emitted differs                  other records
//	Emitted and Cuts are equal       the same records have the same index (Index.Checksum)
//	only Emitted is equal            the same records, as far as Emitted shows
//
// Neither sum costs time for each record of a SortBuffer. A FoldTable adds twice.
type Sums struct {
	// Emitted is a sum over the records, whose order does not matter. Without a combiner it
	// covers the number of records and bytes of each partition; with one, the keys, each as
	// often as it was emitted. It is 1 without records, and 0 if it is not known.
	Emitted uint64
	// Cuts covers where the records were cut into runs; 0 if the outputs of two attempts cannot
	// be compared.
	Cuts uint64
}

// Join returns the sums of the records of both. Attempts before and after a checkpoint have cut
// them.
func (s Sums) Join(t Sums) Sums {
	if s.Emitted == 0 || t.Emitted == 0 {
		return Sums{}
	}
	return Sums{Emitted: s.Emitted + t.Emitted - 1}
}

// mix is a multiply-and-fold hash of two numbers that is the same in every process.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^0x9e3779b97f4a7c15, b^0xd1b54a32d192ed03)
	return hi ^ lo
}

// sumKey joins the two numbers of a key. It is less than a hash, which would cost a tenth of the time of a word
// count: keys that exchange their second halves have an equal sum. It is a method because
// those of a generic type are inlined in other packages too.
func (t *FoldTable[V]) sumKey(a, b uint64) uint64 { return a + bits.RotateLeft64(b, 29) }

// sumEncodedKey returns what touch adds for a key that is not loaded as two numbers.
func (t *FoldTable[V]) sumEncodedKey(key []byte) uint64 {
	if len(key) <= inlineKey {
		return t.sumKey(loadKey(key))
	}
	return t.sumKey(xxhash.Sum64(key), uint64(len(key))+1)
}

// emitted returns Sums.Emitted for records that were not combined.
func (x *Index) emitted() uint64 {
	sum := uint64(1)
	for p, runs := range x.Partitions {
		records, bytes := mix(uint64(p), 1), mix(uint64(p), 2)
		for _, r := range runs {
			sum += uint64(r.Records)*records + uint64(r.RawLength)*bytes
		}
	}
	return sum
}

// noteCut adds to Sums.Cuts that a spill follows, which has n of the emitted records, or that
// runs are merged by n at once.
func (f *spillFile) noteCut(n int64) { f.cuts = mix(f.cuts+1, uint64(n)) }
