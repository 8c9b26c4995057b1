package hdfs

import (
	"sync"
	"time"
	_ "unsafe" // for go:linkname
)

// The module remembers for ever which DataNodes have failed, in a variable of
// the process, and prefers any other one: after one fault the local replica would
// never be read again. Nothing it exports reaches that memory, therefore these
// two names are bound to it by the linker. A test fails when the binding is lost.
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
