package cluster

import (
	"fmt"
	"math"

	"github.com/fxamacker/cbor/v2"
)

// The codecs write CBOR (RFC 8949). Structures that commands and snapshots share
// with the rest of the package are maps under the names in their fields' cbor tags.
// A field may be renamed in Go, but its tag never changes. A field may be added
// later: old data decodes with its zero value. Removing one, or changing a tag, is
// another format, which the golden files of the tests detect. Constants are written
// as their numbers.
//
// A field, a command or a version that is not known here is an error. Masters
// that passed over what they do not understand would come to different states.

// encoding and decoding hold the rules of both codecs. They never change.
var (
	encoding = must(cbor.EncOptions{Sort: cbor.SortNone}.EncMode())
	decoding = must(cbor.DecOptions{
		DupMapKey:         cbor.DupMapKeyEnforcedAPF,
		IndefLength:       cbor.IndefLengthForbidden,
		TagsMd:            cbor.TagsForbidden,
		ExtraReturnErrors: cbor.ExtraDecErrorUnknownField,
		// Paths and last words of programs need not be UTF-8.
		UTF8: cbor.UTF8DecodeInvalid,
		// An array cannot be longer than the bytes that hold it, which is
		// checked before anything is allocated; jobs of a million tasks are
		// welcome.
		MaxArrayElements: math.MaxInt32,
	}.DecMode())
)

func must[M any](mode M, err error) M {
	if err != nil {
		panic(fmt.Sprintf("cluster: options of the codec: %v", err))
	}
	return mode
}
