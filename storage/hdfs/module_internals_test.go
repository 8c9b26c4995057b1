package hdfs

import (
	"testing"
	"time"
)

// TestPenaltyIsBound fails if forgetFailures does not work on the module's memory of
// failures. TestDataNodeLostWhileReading tests the effect on a real cluster.
func TestPenaltyIsBound(t *testing.T) {
	if datanodeFailures == nil {
		t.Fatal("the module's map of failures is not bound; see module_internals.go")
	}
	datanodeFailuresLock.Lock()
	datanodeFailures["old"] = time.Now().Add(-time.Hour)
	datanodeFailures["new"] = time.Now()
	datanodeFailuresLock.Unlock()
	forgetFailures(time.Minute)
	datanodeFailuresLock.Lock()
	defer datanodeFailuresLock.Unlock()
	if _, ok := datanodeFailures["old"]; ok {
		t.Error("a failure an hour old is not forgotten")
	}
	if _, ok := datanodeFailures["new"]; !ok {
		t.Error("a new failure is forgotten")
	}
	delete(datanodeFailures, "new")
}
