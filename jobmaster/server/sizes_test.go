package server

import (
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/testing/must"
)

// TestMessageSizesAgree checks that what one end of a connection may send, the next one accepts.
// A message that is passed on gets a few bytes longer.
func TestMessageSizesAgree(t *testing.T) {
	const wrapping = 64 << 10
	c, err := conf.FromMap(nil)
	must.Do(t, err)
	for _, hop := range []struct {
		what          string
		sends, accept int
	}{
		{"the report of a task, from its tasknode to the master", taskproc.MaxFromTaskBytes + wrapping, rpc.MaxMessageBytes},
		{"a job, from its client to the master", rpc.MaxJobBytes + wrapping, rpc.MaxMessageBytes},
		{"the Start of a job, from its tasknode to the task", rpc.MaxJobBytes + maxOrdersBytes, taskproc.MaxMessageBytes},
		{"the highest value of hammr.limits.spec.bytes", c.Int("hammr.limits.spec.bytes"), rpc.MaxJobBytes},
		{"the default of hammr.limits.spec.bytes", cluster.DefaultLimits().SpecBytes, rpc.MaxJobBytes},
	} {
		if hop.sends > hop.accept {
			t.Errorf("%s: %d bytes, and %d are accepted", hop.what, hop.sends, hop.accept)
		}
	}
	c.Set("hammr.limits.spec.bytes", "8388609")
	if c.Validate() == nil {
		t.Error("a limit above what messages may have is accepted")
	}
}
