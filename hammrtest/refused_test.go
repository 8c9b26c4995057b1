package hammrtest_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/hammr/hammr/hammrtest"
)

// stub is a testing.TB that records the message of Fatalf.
type stub struct {
	testing.TB
	why string
}

func (s *stub) Helper() {}

func (s *stub) Fatalf(format string, args ...any) {
	s.why = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// TestRefused checks that an invalid operation fails the test with a message that states the
// reason.
func TestRefused(t *testing.T) {
	s := &stub{TB: t}
	refused := func(want string, do func()) {
		t.Helper()
		s.why = ""
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			do()
		}()
		if <-ended; !strings.Contains(s.why, want) {
			t.Errorf("got %q, want %q", s.why, want)
		}
	}
	refused("expected at least one of each", func() { hammrtest.Cluster(s, 1, 0) })
	c := hammrtest.Cluster(s, 1, 1)
	refused(`no daemon "n9"`, func() { c.Kill("n9") })
	refused("it does not come there", func() { c.Failpoint("n1", "jobmaster/snapshot", "error") })
	refused("it does not come there", func() { c.Failpoint("m1", "task/spill", "error") })
	refused("expected error, crash or delay=TIME", func() { c.Failpoint("n1", "task/spill", "explode") })
	c.Kill("n1")
	refused("stop of n1: it does not run", func() { c.Stop("n1") })
}
