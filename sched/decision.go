package sched

import (
	"encoding/json"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
)

// Decision is one thing that was decided about slots, for whoever wants to know
// why things are as they are. What a kind of decision says nothing about is
// zero.
type Decision struct {
	At     int64 // ms since the epoch
	Kind   DecisionKind
	Policy string // by whose rules, "" when that goes without saying

	Pool    string
	Job     cluster.JobID
	Stage   string // as in cluster.Stage.Name
	Task    cluster.TaskID
	Attempt cluster.AttemptID
	Machine string

	Slot  cluster.Slot // kind of the slots
	Slots int          // how many tasks get one, or do not; of bundles, how many bundles
	Share float64      // of the slots of that kind, in slots

	Locality Locality     // of a launch: how near the task is to its input
	Mode     preempt.Mode // of a preemption
	Until    int64        // of a skip: when it will be looked at again though nothing changes, ms since the epoch
	Cause    string       // for people
}

// DecisionKind is the verb of a decision.
type DecisionKind string

const (
	// DecisionOffer gives the tasks of a stage, or the bundles of a class, a
	// chance to get Slots.
	DecisionOffer DecisionKind = "offer"
	// DecisionSkip tells how many of those offered came to nothing, and why.
	DecisionSkip DecisionKind = "skip"
	// DecisionLaunch starts an attempt at a task on a machine.
	DecisionLaunch DecisionKind = "launch"
	// DecisionResume lets a suspended attempt go on.
	DecisionResume DecisionKind = "resume"
	// DecisionPreempt takes its slot from an attempt.
	DecisionPreempt DecisionKind = "preempt"
	// DecisionShare tells what a pool, or a job, ought to have from now on.
	DecisionShare DecisionKind = "share"
)

// Locality is how near a task is to its input, "" when that is of no interest.
type Locality string

const (
	MachineLocal Locality = "node"
	RackLocal    Locality = "rack"
)

// decisionLine is a Decision as JSON. docs/formats/decisions.md describes it.
type decisionLine struct {
	At       int64        `json:"at"`
	Kind     DecisionKind `json:"kind"`
	Policy   string       `json:"policy,omitempty"`
	Pool     string       `json:"pool,omitempty"`
	Job      string       `json:"job,omitempty"`
	Stage    string       `json:"stage,omitempty"`
	Task     string       `json:"task,omitempty"`
	Attempt  string       `json:"attempt,omitempty"`
	Machine  string       `json:"machine,omitempty"`
	Slot     string       `json:"slot"`
	Slots    int          `json:"slots,omitempty"`
	Share    *float64     `json:"share,omitempty"`
	Locality Locality     `json:"place,omitempty"`
	Mode     preempt.Mode `json:"how,omitempty"`
	Until    int64        `json:"until,omitempty"`
	Cause    string       `json:"cause,omitempty"`
}

// MarshalJSON implements json.Marshaler: the keys are always in the same order,
// and what is zero is left out, but for the share of a DecisionShare.
func (d Decision) MarshalJSON() ([]byte, error) {
	line := decisionLine{
		At: d.At, Kind: d.Kind, Policy: d.Policy, Pool: d.Pool, Stage: d.Stage, Machine: d.Machine,
		Slot: d.Slot.String(), Slots: d.Slots, Locality: d.Locality, Mode: d.Mode, Until: d.Until, Cause: d.Cause,
	}
	if d.Kind == DecisionShare {
		line.Share = &d.Share
	}
	if d.Job != (cluster.JobID{}) {
		line.Job = d.Job.String()
	}
	if d.Task != (cluster.TaskID{}) {
		line.Task = d.Task.String()
	}
	if d.Attempt != (cluster.AttemptID{}) {
		line.Attempt = d.Attempt.String()
	}
	return json.Marshal(line)
}
