package hdfs

import (
	"reflect"
	"sync"
	"time"
	_ "unsafe" // for go:linkname

	"github.com/colinmarc/hdfs/v2"
)

// The module remembers in a process-wide variable which DataNodes have failed, without ever
// forgetting, and prefers the others: after one failure it would never read the local
// replica again. The module exports no access to that variable, so the linker binds these
// two names to it. TestPenaltyIsBound fails if the binding breaks.
//
//go:linkname datanodeFailures github.com/colinmarc/hdfs/v2/internal/transfer.datanodeFailures
var datanodeFailures map[string]time.Time

//go:linkname datanodeFailuresLock github.com/colinmarc/hdfs/v2/internal/transfer.datanodeFailuresLock
var datanodeFailuresLock sync.Mutex

// forgetFailures forgets the failures older than age.
func forgetFailures(age time.Duration) {
	datanodeFailuresLock.Lock()
	defer datanodeFailuresLock.Unlock()
	for address, at := range datanodeFailures {
		if time.Since(at) > age {
			delete(datanodeFailures, address)
		}
	}
}

// unchecked reports whether the bytes of the last Read of r may be wrong although it
// returned no error. The module has then closed its stream from the DataNode, which no
// exported method shows: its BlockReader.Read drops an error that comes with bytes. A test
// fails if the fields of the module change.
func unchecked(r *hdfs.FileReader) bool {
	block := reflect.ValueOf(r).Elem().FieldByIndex(blockReaderField)
	return !block.IsNil() && block.Elem().FieldByIndex(streamField).IsNil()
}

// blockReaderField is the path of the block reader within FileReader. streamField is the
// path of the stream within the block reader; the stream is nil after an error.
var blockReaderField, streamField = fieldsOfModule()

// fieldsOfModule returns the paths of the two fields for reflect. The module does not export
// them.
func fieldsOfModule() (block, stream []int) {
	b, _ := reflect.TypeFor[hdfs.FileReader]().FieldByName("blockReader")
	s, _ := b.Type.Elem().FieldByName("stream")
	return b.Index, s.Index
}
