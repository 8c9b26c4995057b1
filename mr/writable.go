package mr

import "github.com/hammr/hammr/internal/format/writable"

// Writable is one of Hadoop's Writable classes, for SequenceFile and
// SequenceOutput.
type Writable[T any] = writable.Codec[T]

// The Writable classes. Text is a []byte that is valid until the next record, TextString a
// string.
var (
	Text            = writable.Text
	TextString      = writable.String
	BytesWritable   = writable.Bytes
	IntWritable     = writable.Int
	LongWritable    = writable.Long
	FloatWritable   = writable.Float
	DoubleWritable  = writable.Double
	BooleanWritable = writable.Boolean
	NullWritable    = writable.Null
)
