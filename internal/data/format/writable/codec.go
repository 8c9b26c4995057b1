package writable

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Codec is one Writable class. Append and Decode are the inverse of each other for every value
// of T. Numbers have the byte order of Java's DataOutput.
//
//	Text, String       vint length, UTF-8
//	Bytes              int32 length, bytes
//	Int, Long, Short   4, 8 or 2 bytes, big-endian
//	Float, Double      the bits of IEEE 754, big-endian
//	VInt32, VLong64    see AppendVLong
//	Boolean, Byte      1 byte
//	Null               nothing
type Codec[T any] struct {
	// Class is the Java class name, as a SequenceFile's header has it.
	Class string
	// Append appends the encoding of v.
	Append func(dst []byte, v T) []byte
	// Decode decodes b, which holds one value and nothing else.
	Decode func(b []byte) (T, error)
}

// pkg is the Java package of all classes here.
const pkg = "org.apache.hadoop.io."

// The Writable classes that are usual in SequenceFiles.
var (
	// Text is UTF-8 text as a []byte, which is not checked to be UTF-8.
	Text = Codec[[]byte]{pkg + "Text", appendText[[]byte], decodeText}
	// String is the class Text as a Go string.
	String = Codec[string]{pkg + "Text", appendText[string], decodeString}
	// Bytes is any bytes.
	Bytes   = Codec[[]byte]{pkg + "BytesWritable", appendBytes, decodeBytes}
	Int     = Codec[int32]{pkg + "IntWritable", appendInt, decodeInt}
	Long    = Codec[int64]{pkg + "LongWritable", appendLong, decodeLong}
	VInt32  = Codec[int32]{pkg + "VIntWritable", appendVInt, decodeVInt}
	VLong64 = Codec[int64]{pkg + "VLongWritable", AppendVLong, decodeVLong}
	Short   = Codec[int16]{pkg + "ShortWritable", appendShort, decodeShort}
	Byte    = Codec[int8]{pkg + "ByteWritable", appendByte, decodeByte}
	Float   = Codec[float32]{pkg + "FloatWritable", appendFloat, decodeFloat}
	Double  = Codec[float64]{pkg + "DoubleWritable", appendDouble, decodeDouble}
	Boolean = Codec[bool]{pkg + "BooleanWritable", appendBool, decodeBool}
	// Null takes no bytes.
	Null = Codec[struct{}]{pkg + "NullWritable", appendNull, decodeNull}
)

// appendText writes the length in bytes, not characters, as Text.write does.
func appendText[T string | []byte](dst []byte, v T) []byte {
	return append(AppendVLong(dst, int64(len(v))), v...)
}

// decodeText returns a view of b. Trailing bytes are an error: the record would have more
// bytes than its class allows.
func decodeText(b []byte) ([]byte, error) {
	length, n, err := VInt(b)
	if err != nil {
		return nil, fmt.Errorf("length of Text: %w", err)
	}
	if int(length) != len(b)-n {
		return nil, fmt.Errorf("text of %d bytes in %d", length, len(b)-n)
	}
	return b[n:], nil
}

// decodeString copies the text.
func decodeString(b []byte) (string, error) {
	text, err := decodeText(b)
	return string(text), err
}

func appendBytes(dst, v []byte) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(v))), v...)
}

// decodeBytes returns a view of b. The capacity of Java's array is not stored.
func decodeBytes(b []byte) ([]byte, error) {
	if len(b) < 4 {
		return nil, fmt.Errorf("BytesWritable of %d bytes, 4 needed for its length", len(b))
	}
	length := int32(binary.BigEndian.Uint32(b))
	if int(length) != len(b)-4 {
		return nil, fmt.Errorf("BytesWritable of %d bytes in %d", length, len(b)-4)
	}
	return b[4:], nil
}

func appendInt(dst []byte, v int32) []byte { return binary.BigEndian.AppendUint32(dst, uint32(v)) }

func decodeInt(b []byte) (int32, error) {
	if len(b) != 4 {
		return 0, wrongSize("IntWritable", len(b), 4)
	}
	return int32(binary.BigEndian.Uint32(b)), nil
}

func appendLong(dst []byte, v int64) []byte { return binary.BigEndian.AppendUint64(dst, uint64(v)) }

func decodeLong(b []byte) (int64, error) {
	if len(b) != 8 {
		return 0, wrongSize("LongWritable", len(b), 8)
	}
	return int64(binary.BigEndian.Uint64(b)), nil
}

func appendVInt(dst []byte, v int32) []byte { return AppendVLong(dst, int64(v)) }

// decodeVInt decodes one vint and nothing else.
func decodeVInt(b []byte) (int32, error) {
	v, n, err := VInt(b)
	if err == nil && n != len(b) {
		err = wrongSize("VIntWritable", len(b), n)
	}
	return v, err
}

// decodeVLong decodes one vlong and nothing else.
func decodeVLong(b []byte) (int64, error) {
	v, n, err := VLong(b)
	if err == nil && n != len(b) {
		err = wrongSize("VLongWritable", len(b), n)
	}
	return v, err
}

func appendShort(dst []byte, v int16) []byte { return binary.BigEndian.AppendUint16(dst, uint16(v)) }

func decodeShort(b []byte) (int16, error) {
	if len(b) != 2 {
		return 0, wrongSize("ShortWritable", len(b), 2)
	}
	return int16(binary.BigEndian.Uint16(b)), nil
}

func appendByte(dst []byte, v int8) []byte { return append(dst, byte(v)) }

func decodeByte(b []byte) (int8, error) {
	if len(b) != 1 {
		return 0, wrongSize("ByteWritable", len(b), 1)
	}
	return int8(b[0]), nil
}

func appendFloat(dst []byte, v float32) []byte {
	return binary.BigEndian.AppendUint32(dst, math.Float32bits(v))
}

func decodeFloat(b []byte) (float32, error) {
	if len(b) != 4 {
		return 0, wrongSize("FloatWritable", len(b), 4)
	}
	return math.Float32frombits(binary.BigEndian.Uint32(b)), nil
}

func appendDouble(dst []byte, v float64) []byte {
	return binary.BigEndian.AppendUint64(dst, math.Float64bits(v))
}

func decodeDouble(b []byte) (float64, error) {
	if len(b) != 8 {
		return 0, wrongSize("DoubleWritable", len(b), 8)
	}
	return math.Float64frombits(binary.BigEndian.Uint64(b)), nil
}

// appendBool writes one byte, 0 or 1.
func appendBool(dst []byte, v bool) []byte {
	if v {
		return append(dst, 1)
	}
	return append(dst, 0)
}

// decodeBool takes any byte but 0 as true, as DataInput.readBoolean does.
func decodeBool(b []byte) (bool, error) {
	if len(b) != 1 {
		return false, wrongSize("BooleanWritable", len(b), 1)
	}
	return b[0] != 0, nil
}

// appendNull writes nothing.
func appendNull(dst []byte, _ struct{}) []byte { return dst }

// decodeNull refuses any byte: the class of the file is not NullWritable then.
func decodeNull(b []byte) (struct{}, error) {
	if len(b) != 0 {
		return struct{}{}, wrongSize("NullWritable", len(b), 0)
	}
	return struct{}{}, nil
}

// wrongSize returns the error for an encoding that is too short or too long.
func wrongSize(class string, got, want int) error {
	return fmt.Errorf("%s of %d bytes, %d expected", class, got, want)
}
