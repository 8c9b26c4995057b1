package jobmaster

import (
	"testing"

	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/preempt"
)

// TestHeadroomOfHeartbeat checks heartbeats with and without memory values.
func TestHeadroomOfHeartbeat(t *testing.T) {
	for name, tt := range map[string]struct {
		beat *wire.Report_Heartbeat
		want preempt.MemHeadroom // the zero one for none
	}{
		"known":    {&wire.Report_Heartbeat{MemoryAvailable: 5, SwapFree: 3}, preempt.MemHeadroom{Free: 5, Swap: 3}},
		"no swap":  {&wire.Report_Heartbeat{MemoryAvailable: 5}, preempt.MemHeadroom{Free: 5}},
		"nonsense": {&wire.Report_Heartbeat{MemoryAvailable: 5, SwapFree: -3}, preempt.MemHeadroom{Free: 5}},
		"unknown":  {beat: new(wire.Report_Heartbeat)},
		"no beat":  {},
	} {
		got := headroomOf(tt.beat)
		if known := got != nil; known != (tt.want != preempt.MemHeadroom{}) || known && *got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}
