package daemon_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain lets the goroutines of logs in files be, which live as long as the
// process.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("gopkg.in/natefinch/lumberjack%2ev2.(*Logger).millRun"))
}
