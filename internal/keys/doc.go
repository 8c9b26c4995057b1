// Package keys turns keys and values into bytes and back. The engine compares
// keys as bytes and nothing else, so an Ordered codec gives bytes whose order
// is the order of the values.
//
// An encoding has two forms. The top-level form is a whole key or value: its
// end is known from outside, so a string is just its bytes. The part form
// tells its own end and stands inside tuples; no part form of a codec is a
// prefix of another, hence the order of concatenated parts is tuple order and
// the order of complemented parts is the reverse order.
//
// A codec is looked up once, when a job is built (For, OrderedFor), and used
// for every record; it is stateless and may be used by many goroutines.
//
// Who owns what: Append copies v into dst and keeps nothing. Bytes.Decode and
// StringView.Decode return views of src, which are good for as long as src is;
// all other codecs return values that stand alone.
//
// docs/formats/keys.md gives the encodings byte by byte.
package keys
