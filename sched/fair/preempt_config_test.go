package fair

import (
	"testing"

	"github.com/hammr/hammr/preempt"
)

// TestPreemptConfig takes five of ten slots in the configured mode.
func TestPreemptConfig(t *testing.T) {
	for way, want := range map[preempt.Mode]string{
		preempt.Kill: "[kill kill kill kill kill]", preempt.Suspend: "[suspend suspend suspend suspend suspend]",
		preempt.Checkpoint: "[checkpoint checkpoint checkpoint checkpoint checkpoint]", preempt.Wait: "[]",
	} {
		s := newScene(t, "", in("b", 9, 0))
		s.policy.conf.Preempt.Map = way
		s.Now = s.begin + 120_001
		var how []preempt.Mode
		for _, p := range s.policy.Decide(s.Now, s.PolicyView()).Preempts {
			how = append(how, p.Mode)
		}
		wantLine(t, how, want)
	}
}
