package hdfs

import (
	"reflect"

	"github.com/colinmarc/hdfs/v2"
)

// unchecked reports whether the bytes of the last Read of r may be wrong although
// it returned no error: the module then has broken off its stream from the
// DataNode, which nothing it exports tells. See BlockReader.Read there: an error
// that comes with bytes is kept to itself. A test fails when the module's fields
// change.
func unchecked(r *hdfs.FileReader) bool {
	block := reflect.ValueOf(r).Elem().FieldByIndex(blockReaderField)
	return !block.IsNil() && block.Elem().FieldByIndex(streamField).IsNil()
}

// blockReaderField and streamField are where FileReader keeps its block reader
// and that its stream, nil after a fault.
var blockReaderField, streamField = fieldsOfModule()

func fieldsOfModule() (block, stream []int) {
	b, _ := reflect.TypeFor[hdfs.FileReader]().FieldByName("blockReader")
	s, _ := b.Type.Elem().FieldByName("stream")
	return b.Index, s.Index
}
