package calibrate

import (
	"context"
	"fmt"
	"time"

	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/registry"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/workload"
)

// settingsOf returns a policy's settings, the same for the cluster and the simulator. They
// switch preemption off.
func settingsOf(policy string) map[string]string {
	if policy == "hfsp" {
		return map[string]string{"mapred.hfsp-scheduler.preemption-strategy": "wait"}
	}
	return nil
}

// simulate plays a workload under a policy on a cluster like the real one, and returns the
// sojourn time of each job by its name. Preemption is off on both sides, because another
// benchmark measures its costs.
func simulate(ctx context.Context, cfg Config, w *workload.Workload, policy string) (map[string]time.Duration, error) {
	p, err := registry.New(policy, settingsOf(policy), sched.Setup{
		Placement: sched.DefaultPlacement(), Preempt: preempt.Config{Map: preempt.Wait, Reduce: preempt.Wait},
	})
	if err != nil {
		return nil, err
	}
	r, err := sim.Run(ctx, sim.Config{Policy: p, Machines: cfg.Tasknodes, MapSlots: cfg.MapSlots, ReduceSlots: cfg.ReduceSlots}, w)
	if err != nil {
		return nil, fmt.Errorf("policy %s in sim: %w", policy, err)
	}
	names := make(map[string]string)
	for i := range w.Jobs {
		names[w.Jobs[i].ID] = w.Jobs[i].Name
	}
	sojourns := make(map[string]time.Duration)
	for i := range r.Jobs {
		sojourns[names[r.Jobs[i].ID]] = time.Duration(r.Jobs[i].Sojourn()) * time.Millisecond
	}
	return sojourns, nil
}
