package jobmaster

import (
	"fmt"
	"strings"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/preempt"
)

// setPreemption sets how slots may be taken from a job's tasks, and whether slots are
// taken for them: what its properties do not allow, and what its client reports that
// its code cannot bear.
func setPreemption(out *cluster.JobSpec, spec *wire.JobSpec) error {
	c, err := conf.FromMap(spec.Properties)
	if err != nil {
		return nil // setLimits reports it
	}
	out.Passive = !c.Bool(conf.MayPreempt)
	allowed := map[dag.SlotKind]preempt.ModeSet{
		dag.SlotMap:    modesNamed(c.Strings(conf.MapPreemption)),
		dag.SlotReduce: modesNamed(c.Strings(conf.ReducePreemption)) | preempt.SetOf(preempt.Split), // no reduce is split anyway
	}
	var union preempt.ModeSet
	disallowed := make([]preempt.ModeSet, len(out.Graph.Stages))
	for i, s := range out.Graph.Stages {
		disallowed[i] = preempt.AllModes&^allowed[out.Graph.SlotsOf(s.Name)] | modesNamed(strings.Split(spec.Barred[s.Name], ","))
		union |= disallowed[i]
	}
	if union != 0 {
		out.DisallowedModes = disallowed
	}
	for stage, names := range spec.Barred {
		if out.Graph.StageIndex(stage) < 0 {
			return fmt.Errorf("jobmaster: preemption modes %s disallowed for stage %q, which is not in the graph", names, stage)
		}
		for name := range strings.SplitSeq(names, ",") {
			if mode := preempt.Mode(name); mode != preempt.Wait && preempt.SetOf(mode) == 0 {
				return fmt.Errorf("jobmaster: preemption mode %q, disallowed for stage %s: unknown", name, stage)
			}
		}
	}
	return nil
}

// modesNamed is the set of the modes of those names, in any case of letters. Names that
// are not known add nothing.
func modesNamed(names []string) (s preempt.ModeSet) {
	for _, name := range names {
		s |= preempt.SetOf(preempt.Mode(strings.ToLower(name)))
	}
	return s
}
