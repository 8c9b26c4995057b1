// Package keys converts keys and values to bytes and back. The engine compares keys as bytes
// only, so an Ordered codec produces bytes whose order is the order of the values.
//
// An encoding has two forms. The top-level form is a whole key or value: its length is known
// from outside, so a string is just its bytes. The part form is self-delimiting and is used
// inside tuples. No part form of a codec is a prefix of another; therefore the order of
// concatenated parts is tuple order, and the order of complemented parts is the reverse
// order.
//
// A codec is looked up once, when a job is built (For, OrderedFor), and used for every
// record. It is stateless and safe for concurrent use.
//
// Ownership: Append copies v into dst and keeps no reference. Bytes.Decode and
// StringView.Decode return views of src, which are valid as long as src. The values that
// other codecs return do not refer to src.
//
// docs/formats/keys.md defines the encodings byte by byte.
package keys
