// Package writable is Hadoop's Writable encodings as transforms of bytes: what
// a key or a value of a SequenceFile looks like on disk, and the Go value it
// stands for.
//
// A Codec joins the Java class name with both directions:
//
//	b = writable.Long.Append(b[:0], 42)
//	n, err := writable.Long.Decode(b)
//
// Decode takes exactly one value: bytes that are left over are an error, as
// they are in Hadoop. No decoder allocates by a length that it has not checked
// against the bytes at hand. Text and Bytes decode to a slice of the input; it
// holds for as long as the input does.
//
// Printer gives the toString of a class for `hammr fs -text`.
package writable
