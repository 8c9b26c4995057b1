package jobmaster

import (
	"fmt"
	"strings"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/wire"
)

// ways are the names of ways to take slots, as properties and clients call them.
var ways = map[string]cluster.Ways{
	"wait": 0, "split": cluster.WaySplit, "checkpoint": cluster.WayCheckpoint, "suspend": cluster.WaySuspend, "kill": cluster.WayKill,
}

// setWays takes over how slots may be taken from a job's tasks and for them: what
// its properties do not allow, and what its client says that its code cannot bear.
func setWays(out *cluster.JobSpec, spec *wire.JobSpec) error {
	c, err := conf.FromMap(spec.Properties)
	if err != nil {
		return nil // setLimits has said so
	}
	out.Passive = !c.Bool(conf.MayPreempt)
	allowed := map[dag.SlotKind]cluster.Ways{
		dag.SlotMap:    waysNamed(c.Strings(conf.MapPreemption)),
		dag.SlotReduce: waysNamed(c.Strings(conf.ReducePreemption)) | cluster.WaySplit, // which reduces do not know
	}
	var all cluster.Ways
	barred := make([]cluster.Ways, len(out.Graph.Stages))
	for i, s := range out.Graph.Stages {
		barred[i] = cluster.AllWays&^allowed[out.Graph.SlotsOf(s.Name)] | waysNamed(strings.Split(spec.Barred[s.Name], ","))
		all |= barred[i]
	}
	if all != 0 {
		out.DisallowedModes = barred
	}
	for stage, names := range spec.Barred {
		if out.Graph.StageIndex(stage) < 0 {
			return fmt.Errorf("jobmaster: ways %s barred for stage %q, which is not in the graph", names, stage)
		}
		for name := range strings.SplitSeq(names, ",") {
			if _, known := ways[name]; !known {
				return fmt.Errorf("jobmaster: way %q to take a slot, barred for stage %s: unknown", name, stage)
			}
		}
	}
	return nil
}

// waysNamed are the ways of those names, in any case of letters; names that are not
// known are none.
func waysNamed(names []string) (w cluster.Ways) {
	for _, name := range names {
		w |= ways[strings.ToLower(name)]
	}
	return w
}
