package hdfs

import (
	"fmt"
	"reflect"
	"sync"
	"time"
	"unsafe" // also for go:linkname

	"github.com/colinmarc/hdfs/v2"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoregistry"
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

// The module's writer cannot leave out a DataNode that failed, and the module neither locates nor
// concatenates files. So this package does that itself, and needs the module's connection to the NameNode and its authentication of
// DataNodes. The module exports neither. The unsafe pointers stand for types of the module
// that this package cannot name.
//
//go:linkname executeCall github.com/colinmarc/hdfs/v2/internal/rpc.(*NamenodeConnection).Execute
func executeCall(connection unsafe.Pointer, method string, request, response proto.Message) error

//go:linkname wrapDial github.com/colinmarc/hdfs/v2.(*Client).wrapDatanodeDial
func wrapDial(c *hdfs.Client, dial dialFunc, token unsafe.Pointer) (dialFunc, error)

// connectionField is the path of a client's connection to the NameNode. fileIDField is the path
// of the number of a file within its writer.
var connectionField, fileIDField = fieldsOfWriters()

// fieldsOfWriters returns the paths of the two fields for reflect.
func fieldsOfWriters() (connection, fileID []int) {
	c, _ := reflect.TypeFor[hdfs.Client]().FieldByName("namenode")
	w, _ := reflect.TypeFor[hdfs.FileWriter]().FieldByName("fileId")
	return c.Index, w.Index
}

// execute calls a method of the NameNode over the connection of a client. Requests and
// responses are encoded as Hadoop's are.
func execute(c *hdfs.Client, method string, request, response proto.Message) error {
	return executeCall(reflect.ValueOf(c).Elem().FieldByIndex(connectionField).UnsafePointer(), method, request, response)
}

// idOf returns the number that the NameNode has given to a new file.
func idOf(w *hdfs.FileWriter) *uint64 {
	id := reflect.ValueOf(w).Elem().FieldByIndex(fileIDField)
	if id.IsNil() {
		return nil
	}
	return proto.Uint64(id.Elem().Uint())
}

// secure returns a dial function that also authenticates to a DataNode, and protects the
// connection, as the client's options and the NameNode demand. The token is encoded.
func secure(c *hdfs.Client, dial dialFunc, token []byte) (dialFunc, error) {
	kind, err := protoregistry.GlobalTypes.FindMessageByName("hadoop.common.TokenProto")
	if err != nil {
		return nil, fmt.Errorf("hdfs: token of a block: %w", err)
	}
	decoded := kind.New().Interface()
	if err := proto.Unmarshal(token, decoded); err != nil {
		return nil, fmt.Errorf("hdfs: token of a block: %w", err)
	}
	return wrapDial(c, dial, reflect.ValueOf(decoded).UnsafePointer())
}
