package hdfs

import (
	"sync"
	"time"
	_ "unsafe" // for go:linkname
)

// The module remembers in a process-wide variable which DataNodes have failed, without ever
// forgetting, and prefers other ones: after one failure it would never read the local
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
