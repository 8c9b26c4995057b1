package hdfs

import (
	"reflect"

	"github.com/colinmarc/hdfs/v2"
)

// unchecked reports whether the bytes of the last Read of r may be wrong although it
// returned no error. The module has then closed its stream from the DataNode, which no
// exported method shows: its BlockReader.Read drops an error that comes with bytes. A test
// fails if the fields of the module change.
func unchecked(r *hdfs.FileReader) bool {
	block := reflect.ValueOf(r).Elem().FieldByIndex(blockReaderField)
	return !block.IsNil() && block.Elem().FieldByIndex(streamField).IsNil()
}

// blockReaderField and streamField locate the block reader within FileReader, and the stream
// within the block reader, which is nil after an error.
var blockReaderField, streamField = fieldsOfModule()

func fieldsOfModule() (block, stream []int) {
	b, _ := reflect.TypeFor[hdfs.FileReader]().FieldByName("blockReader")
	s, _ := b.Type.Elem().FieldByName("stream")
	return b.Index, s.Index
}
