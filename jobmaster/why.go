package jobmaster

import (
	"cmp"
	"fmt"
	"os"
	"strconv"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// cause is a cause for which a job, or tasks of a stage, have no slot. Waited times and metrics
// use the class. Users read the texts, and programs do not. Each text says what is missing. If the
// user can act, it also says which command or setting to use.
//
// A text names the facts that why.facts has.
type cause struct {
	class       sched.WaitClass
	status      string // shown as what the job waits for; "" if the status shows nothing
	explanation string // shown by Explain; "" if it is the text of the status
}

const (
	hdfsText     = "waiting for HDFS since $since: $error"
	gangText     = "$gangs gangs of $stages wait, each for $maps map and $reduces reduce slots at once; "
	reservedText = "the policy does not offer them the free $slot slots: see its details of the job"
	limitText    = "a limit of running jobs or of slots holds them back: see what the policy knows of the job"
)

// The causes of all waits. The first block is of jobs, the second of stages whatever the machines have,
// the third of what the machines lack, and the last of the policy.
var (
	storageDown     = cause{sched.WaitOutage, hdfsText, ""}
	storageDownLate = cause{sched.NotWaiting, hdfsText, ""} // the job is aborting, so its tasks need no slots
	preparing       = cause{sched.WaitLoading, "its splits are being loaded and its output is being set up", ""}
	aborting        = cause{sched.NotWaiting, "its tasks are ending and its temporary files are being removed", ""}
	committing      = cause{sched.WaitCommit, "", "all of its tasks have finished and its output is being committed"}
	userSuspended   = cause{sched.WaitSuspended, "it is suspended ('hammr job resume $job')$attempts", ""}
	paused          = cause{sched.WaitOutage, "waiting for HDFS since $since: its attempts fail because HDFS is not available; they start again and cost no try", ""}

	loading           = cause{sched.WaitLoading, "its splits are being loaded", ""}
	attemptsSuspended = cause{sched.WaitSuspended, "", "no slot is free where its attempts are suspended"}
	notReady          = cause{sched.WaitNotReady, "", "$finished of $tasks $upstream tasks have finished: all must finish first, because they may need the slots in which these would wait"}
	slowStart         = cause{sched.WaitNotReady, "", "$finished of $tasks $upstream tasks have finished, $early must finish before they start (mapreduce.job.reduce.slowstart.completedmaps)"}

	noMachine = cause{sched.WaitNoNode, "$waiting $stage tasks wait for tasknodes; there is none", "no tasknode that takes tasks has $slot slots"}
	noSlots   = cause{sched.WaitNoNode, "$waiting $stage tasks wait for $slot slots; no tasknode that takes tasks has any", "no tasknode that takes tasks has $slot slots"}
	tooLarge  = cause{sched.WaitTooLarge, "$waiting $stage tasks wait for $memory MiB of memory each ($property); the largest machine has $largest MiB: " +
		"submit the job with less, or add a larger machine ('hammr job kill $job')", ""}
	slotsInUse    = cause{sched.WaitNoSlot, "$waiting $stage tasks wait for $slot slots; all $all are in use", "no $slot slot is free, and the policy preempts nothing for them"}
	noMemory      = cause{sched.WaitMemory, "$waiting $stage tasks wait for $memory MiB of memory each ($property); machines with free slots have at most $left MiB left", reservedText}
	slotsReserved = cause{sched.WaitNoSlot, "$waiting $stage tasks wait for other $slot slots than the $free that are free", reservedText}
	gangNoMachine = cause{sched.WaitNoNode, gangText + "the cluster has $otherMaps and $otherReduces", ""}
	gangTooLarge  = cause{sched.WaitTooLarge, gangText + "the cluster has $otherMaps and $otherReduces", ""}
	gangOverPool  = cause{sched.WaitTooLarge, gangText + "pool $pool may use $otherMaps and $otherReduces: raise its maximum in the allocation file, " +
		"or that of a parent pool, or move the job to a pool that may use more ('hammr job move $job POOL')", ""}
	gangWaits      = cause{sched.WaitGang, gangText + "$otherMaps and $otherReduces are free", ""}
	gangIncomplete = cause{sched.WaitGang, "", reservedText} // other tasks of the gang are running or not ready

	overLimit  = cause{sched.WaitLimit, "", limitText}
	shareUsed  = cause{sched.WaitShare, "", "no $slot slot is free, and the pool uses its whole fair share"}
	notLocal   = cause{sched.WaitLocality, "", reservedText}
	allAvoided = cause{sched.WaitAvoided, "", reservedText}
)

// why is a cause with the facts that its texts name. The zero value is the why of what does not wait.
type why struct {
	cause
	facts []any // names and values, alternately
}

// reason says why tasks have no slot.
type reason struct {
	class sched.WaitClass
	text  string
}

// explain returns the reason that Explain shows.
func (w why) explain() reason { return reason{w.class, w.expand(cmp.Or(w.explanation, w.status))} }

// expand puts the facts into a text.
func (w why) expand(text string) string {
	return os.Expand(text, func(name string) string {
		for i := 0; i < len(w.facts); i += 2 {
			if w.facts[i] == name {
				return fmt.Sprint(w.facts[i+1])
			}
		}
		return "$" + name
	})
}

// occupying are the attempts of a suspended job that still use slots. They are counted only if a text
// names them.
type occupying struct{ job *cluster.Job }

func (o occupying) String() (text string) {
	ending, running := 0, 0
	for _, a := range o.job.Attempts() {
		switch {
		case !a.OccupiesSlot():
		case a.Preempting() || !a.Active():
			ending++
		default:
			running++
		}
	}
	if ending > 0 {
		text += fmt.Sprintf("; %d attempts are ending", ending)
	}
	if running > 0 {
		text += fmt.Sprintf("; %d attempts cannot be preempted and will run to their end", running)
	}
	return text
}

// maximum is a number of slots that may be unlimited.
type maximum int

func (n maximum) String() string {
	if n == sched.Unlimited {
		return "any number"
	}
	return strconv.Itoa(int(n))
}
