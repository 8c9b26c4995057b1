package cluster

import (
	"fmt"
	"math"

	"github.com/fxamacker/cbor/v2"
)

// The codecs write CBOR (RFC 8949). Structures that commands and snapshots share with the
// rest of the package are maps under the names in their fields' cbor tags. A field may be
// renamed in Go, but its tag never changes. A field may be added later: old data decodes
// with its zero value. Removing a field or changing a tag makes another format, which the
// golden files of the tests detect. Constants are written as their numbers. The keys of a map
// are sorted, so equal states give equal bytes.
//
// An unknown field, command or version is an error. Masters that ignored it would have
// different states. The cluster version (version.go) keeps it out of the log until all masters
// know it.

// encoding and decoding are the options of both codecs. They never change.
var (
	encoding = modeOf(cbor.EncOptions{Sort: cbor.SortCoreDeterministic}.EncMode())
	decoding = modeOf(decodingOptions(cbor.ExtraDecErrorUnknownField).DecMode())
	lenient  = modeOf(decodingOptions(cbor.ExtraDecErrorNone).DecMode()) // ignores unknown fields
)

func decodingOptions(refused cbor.ExtraDecErrorCond) cbor.DecOptions {
	return cbor.DecOptions{
		DupMapKey:         cbor.DupMapKeyEnforcedAPF,
		IndefLength:       cbor.IndefLengthForbidden,
		TagsMd:            cbor.TagsForbidden,
		ExtraReturnErrors: refused,
		// Paths and the last output of programs need not be UTF-8.
		UTF8: cbor.UTF8DecodeInvalid,
		// The decoder checks that an array is not longer than its bytes before it allocates
		// anything. Jobs may have a million tasks.
		MaxArrayElements: math.MaxInt32,
	}
}

// modeOf panics if the options contradict each other, which is a mistake in this file.
func modeOf[M any](mode M, err error) M {
	if err != nil {
		panic(fmt.Sprintf("cluster: options of the codec: %v", err))
	}
	return mode
}
