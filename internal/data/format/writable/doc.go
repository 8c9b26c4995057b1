// Package writable implements Hadoop's Writable encodings: it converts between Go values and
// the bytes of keys and values in a SequenceFile.
//
// A Codec combines the Java class name with both directions:
//
//	b = writable.Long.Append(b[:0], 42)
//	n, err := writable.Long.Decode(b)
//
// Decode decodes exactly one value; trailing bytes are an error, as in Hadoop. No decoder
// allocates by a length that it has not checked against the available bytes. Text and Bytes
// decode to a slice of the input, which is valid as long as the input.
//
// Printer returns the toString of a class for `hammr fs -text`.
package writable
