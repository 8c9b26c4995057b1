package fleet_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hammr/hammr/bench/fleet"
	"github.com/hammr/hammr/hammrtest"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestMixedFleet runs jobs on machines that come and go, while leaders are killed and stopped: 40 machines for
// 10 s in the gate, 200 for three minutes at night. It asserts only that every job finishes, and that no task is
// lost or runs twice without a cause: times depend on the machine.
func TestMixedFleet(t *testing.T) {
	hammr := filepath.Join(t.TempDir(), "hammr")
	must.Do(t, hammrtest.PlaceProgram(hammr))
	ctx, cancel := context.WithTimeoutCause(t.Context(), 15*time.Minute, fmt.Errorf("the fleet has not ended in time"))
	defer cancel()
	r, err := fleet.Run(ctx, fleet.Options{
		Config: fleet.Config{Machines: testlevel.Choose(40, 200), MapSlots: 4, ReduceSlots: 1, Expiry: 12 * time.Second, SlowPercent: 5},
		Hammr:  hammr, Dir: t.TempDir(), Scenario: "mixed", Duration: testlevel.Choose(10*time.Second, 3*time.Minute), Logf: t.Logf,
	})
	must.Do(t, err)
	r.Print(t.Output())
	for _, m := range r.Measures {
		if (m.Name == "faults of leaders" || m.Name == "tasks ended") && m.Value < 1 {
			t.Errorf("%s: %v", m.Name, m.Value)
		}
	}
	for _, v := range r.Violations {
		t.Error(v)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, o := range []fleet.Options{
		{Config: fleet.Config{Machines: 10}, Scenario: "nothing"},
		{Config: fleet.Config{Machines: 1}, Scenario: "mixed"},
		{Config: fleet.Config{Machines: 10}, Scenario: "mixed", Duration: time.Second},
	} {
		if _, err := fleet.Run(t.Context(), o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}
