package jobmaster

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// reason tells what a job waits for, "" when it does not wait.
func (m *Master) reason(j *cluster.Job) string {
	switch {
	case j.State == cluster.JobPrep:
		return "its splits are being loaded and its output is set up"
	case j.State == cluster.JobAborting:
		return "its tasks are being stopped and its output removed"
	case j.State != cluster.JobRunning:
		return ""
	case j.Suspended:
		return suspension(j)
	}
	for _, stage := range j.Stages {
		if stage.Running > 0 {
			return ""
		}
	}
	for _, stage := range j.Stages {
		switch {
		case stage.Waiting() == 0 || !j.Ready(stage):
		case stage.Source && !j.Loaded():
			return "its splits are being loaded"
		case !stage.StartsAlone():
			if numbers := j.WaitingBundles(stage.Bundle); len(numbers) > 0 {
				return m.bundleReason(j, stage.Bundle, numbers)
			}
		default:
			return fmt.Sprintf("%d %s tasks wait for %s", stage.Waiting(), stage.Name, m.shortage(stage.Slot))
		}
	}
	return ""
}

// suspension tells that a job is suspended, and what of it still has slots.
func suspension(j *cluster.Job) string {
	ending, going := 0, 0
	for _, stage := range j.Stages {
		for _, t := range stage.Tasks {
			for _, a := range t.Attempts {
				switch {
				case !a.HoldsSlot():
				case a.Preempting() || !a.Active():
					ending++
				default:
					going++
				}
			}
		}
	}
	text := fmt.Sprintf("it is suspended ('hammr job resume %v')", j.ID)
	if ending > 0 {
		text += fmt.Sprintf("; %d attempts are ending", ending)
	}
	if going > 0 {
		text += fmt.Sprintf("; %d attempts cannot be preempted and run to their end", going)
	}
	return text
}

// bundleReason tells what bundles of a job wait for, whose tasks start together. The
// first of them may have been paused, and need less than the others.
func (m *Master) bundleReason(j *cluster.Job, b *cluster.Bundle, waiting []int) string {
	var names []string
	for _, stage := range b.Stages {
		names = append(names, stage.Name)
	}
	need := b.NeedOf(waiting[0])
	supply := m.tooLarge(j, need)
	if supply == "" {
		free := m.freeSlots()
		supply = fmt.Sprintf("%d and %d are free", free[cluster.MapSlot], free[cluster.ReduceSlot])
	}
	return fmt.Sprintf("%d gangs of %s wait, each for %d map and %d reduce slots at once; %s",
		len(waiting), strings.Join(names, "+"), need[cluster.MapSlot], need[cluster.ReduceSlot], supply)
}

// tooLarge tells why a bundle that needs so many slots can never start, as things are:
// the cluster has fewer, or the job may have fewer. "" is that it may.
func (m *Master) tooLarge(j *cluster.Job, need [2]int) string {
	var all [2]int
	for machine := range m.view.Machines() {
		for kind := range all {
			all[kind] += machine.Slots[kind]
		}
	}
	most := m.brain.Limit(j)
	for kind := range need {
		if need[kind] > all[kind] {
			return fmt.Sprintf("the cluster has %d and %d", all[cluster.MapSlot], all[cluster.ReduceSlot])
		}
	}
	for kind := range need {
		if need[kind] > most[kind] {
			return fmt.Sprintf("pool %s may have %s and %s: raise its maximum in the allocation file, or that of a pool around it, "+
				"or move the job to a pool that may have more ('hammr job move %v POOL')",
				j.Spec.Pool, limitName(most[cluster.MapSlot]), limitName(most[cluster.ReduceSlot]), j.ID)
		}
	}
	return ""
}

// limitName is a maximum as people read it.
func limitName(most int) string {
	if most == sched.Unlimited {
		return "any number"
	}
	return strconv.Itoa(most)
}

func (m *Master) freeSlots() (free [2]int) {
	for machine := range m.view.Machines() {
		for kind := range free {
			free[kind] += max(machine.Free(cluster.Slot(kind)), 0)
		}
	}
	return free
}

// shortage tells why slots of a kind are not given out.
func (m *Master) shortage(kind cluster.Slot) string {
	alive, slots, free := 0, 0, m.freeSlots()[kind]
	for machine := range m.view.Machines() {
		if !machine.Lost {
			alive++
		}
		slots += machine.Slots[kind]
	}
	switch {
	case alive == 0:
		return "tasknodes; none is there"
	case slots == 0:
		return fmt.Sprintf("%v slots; no tasknode that takes tasks has any", kind)
	case free == 0:
		return fmt.Sprintf("%v slots; all %d are taken", kind, slots)
	}
	return fmt.Sprintf("other %v slots than the %d that are free", kind, free)
}
