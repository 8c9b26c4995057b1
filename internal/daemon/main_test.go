package daemon_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain ignores the goroutines of logs in files, which live as long as the process.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("gopkg.in/natefinch/lumberjack%2ev2.(*Logger).millRun"))
}
