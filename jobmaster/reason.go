package jobmaster

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// The texts below show users why a job has no slots. Each text says what is missing. If the
// user can act, it also says which command or setting to use. Programs do not read the
// texts, but the numbers of the status.

// reason returns what a job waits for, "" if it does not wait.
//
// It is part of every status and must be fast. So it visits stages and not tasks, unless the
// job is suspended or waits for a gang. Explain gives more details.
//
// waits is what the latest work of the job waits for. A follower does not know it.
func (m *Master) reason(j *cluster.Job, waits outage) string {
	switch {
	case !waits.since.IsZero() && !j.State.Final():
		return waits.reason()
	case j.State == cluster.JobPrep:
		return "its splits are being loaded and its output is being set up"
	case j.State == cluster.JobAborting:
		return "its tasks are ending and its temporary files are being removed"
	case j.State != cluster.JobRunning:
		return ""
	case j.Suspended:
		return suspension(j)
	}
	if o := j.Outage; o.PausedUntil != 0 {
		return fmt.Sprintf("waiting for HDFS since %s: its attempts fail because HDFS is not available; they start again and cost no try",
			time.UnixMilli(o.Since).UTC().Format(time.RFC3339))
	}
	for _, stage := range j.Stages {
		if stage.Running > 0 {
			return ""
		}
	}
	for _, stage := range j.Stages {
		switch {
		case stage.Waiting() == 0 || !j.Ready(stage):
		case stage.Source && !j.Loaded() && m.lead != nil: // a follower loads none
			return "its splits are being loaded"
		case !stage.StartsAlone():
			if numbers := j.WaitingBundles(stage.Bundle); len(numbers) > 0 {
				return m.bundleReason(j, stage.Bundle, numbers)
			}
		default:
			return fmt.Sprintf("%d %s tasks wait for %s", stage.Waiting(), stage.Name, m.shortage(j, stage))
		}
	}
	return ""
}

// suspension says that a job is suspended, and which of its attempts still use slots.
func suspension(j *cluster.Job) string {
	ending, running := 0, 0
	for _, a := range j.Attempts() {
		switch {
		case !a.OccupiesSlot():
		case a.Preempting() || !a.Active():
			ending++
		default:
			running++
		}
	}
	text := fmt.Sprintf("it is suspended ('hammr job resume %v')", j.ID)
	if ending > 0 {
		text += fmt.Sprintf("; %d attempts are ending", ending)
	}
	if running > 0 {
		text += fmt.Sprintf("; %d attempts cannot be preempted and will run to their end", running)
	}
	return text
}

// bundleReason returns what the waiting bundles of a job wait for. If the first bundle was
// preempted before, it needs fewer slots than the others.
func (m *Master) bundleReason(j *cluster.Job, b *cluster.Bundle, waiting []int) string {
	var names []string
	for _, stage := range b.Stages {
		names = append(names, stage.Name)
	}
	need := b.NeedOf(waiting[0])
	supply := m.tooLarge(j, need)
	if supply == "" {
		free := m.slots().free
		supply = fmt.Sprintf("%d and %d are free", free[cluster.MapSlot], free[cluster.ReduceSlot])
	}
	return fmt.Sprintf("%d gangs of %s wait, each for %d map and %d reduce slots at once; %s",
		len(waiting), strings.Join(names, "+"), need[cluster.MapSlot], need[cluster.ReduceSlot], supply)
}

// tooLarge returns why a bundle that needs these slots can never start at present: the
// cluster has too few slots, or the job may use too few. It returns "" if the bundle can
// start.
func (m *Master) tooLarge(j *cluster.Job, need cluster.Slots) string {
	all := m.slots().all
	if need.AtMost(all) != need {
		return fmt.Sprintf("the cluster has %d and %d", all[cluster.MapSlot], all[cluster.ReduceSlot])
	}
	if m.lead == nil {
		return "" // only the leader knows the limits of its policy
	}
	most := m.brain.Limit(j)
	switch {
	case need.AtMost(most) != need:
		return fmt.Sprintf("pool %s may use %s and %s: raise its maximum in the allocation file, or that of a parent pool, "+
			"or move the job to a pool that may use more ('hammr job move %v POOL')",
			j.Spec.Pool, limitName(most[cluster.MapSlot]), limitName(most[cluster.ReduceSlot]), j.ID)
	}
	return ""
}

// limitName formats a maximum.
func limitName(most int) string {
	if most == sched.Unlimited {
		return "any number"
	}
	return strconv.Itoa(most)
}

// slotFacts are sums and maxima over all machines.
type slotFacts struct {
	alive     int // machines that are not lost
	all, free cluster.Slots

	largestMB int64    // most memory that a machine offers to tasks, in MiB
	present   bool     // a machine takes tasks
	freeMB    [2]int64 // most memory that is left on a machine with a free slot, by kind, in MiB; 0 without such a machine
}

// slots returns them. They are computed once for each applied batch, because a list of
// jobs needs them for each job that waits.
func (m *Master) slots() *slotFacts {
	if m.facts == nil {
		f := new(slotFacts)
		for machine := range m.view.Machines() {
			f.all, f.free = f.all.Plus(machine.Slots), f.free.Plus(machine.FreeSlots())
			if !machine.Lost {
				f.alive++
			}
			if machine.TakesTasks() {
				f.largestMB, f.present = max(f.largestMB, machine.TotalMemoryMB()), true
			}
		}
		for kind := range f.freeMB {
			for machine := range m.view.MachinesWithFree(cluster.Slot(kind)) {
				f.freeMB[kind] = max(f.freeMB[kind], machine.FreeMemoryMB())
			}
		}
		m.facts = f
	}
	return m.facts
}

// shortage returns why a task of a stage has no slot. If slots are free, their machines lack
// memory, the task avoids them, or the policy keeps them for other jobs.
func (m *Master) shortage(j *cluster.Job, stage *cluster.Stage) string {
	kind := stage.Slot
	alive, slots, free := m.slots().alive, m.slots().all[kind], m.slots().free[kind]
	switch {
	case alive == 0:
		return "tasknodes; there is none"
	case slots == 0:
		return fmt.Sprintf("%v slots; no tasknode that takes tasks has any", kind)
	case free == 0:
		return fmt.Sprintf("%v slots; all %d are in use", kind, slots)
	}
	if lack := m.memoryShortage(j, stage); lack != "" {
		return lack
	}
	return fmt.Sprintf("other %v slots than the %d that are free", kind, free)
}
