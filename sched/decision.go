package sched

import (
	"encoding/json"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
)

// Decision is one scheduling decision, for tracing. Fields that do not apply to its
// kind are zero.
type Decision struct {
	At     int64 // ms since the epoch
	Kind   DecisionKind
	Policy string // name of the policy, "" if there is only one

	Pool    string
	Job     cluster.JobID
	Stage   string // as in cluster.Stage.Name
	Task    cluster.TaskID
	Attempt cluster.AttemptID
	Machine string

	Slot  cluster.Slot // kind of the slots
	Slots int          // number of tasks, or of bundles
	Share float64      // share in slots of that kind

	Locality Locality     // for a launch: how near the task is to its input
	Mode     preempt.Mode // mode of a preemption
	Until    int64        // for a skip: when the stage is offered slots again if nothing changes, ms since the epoch
	Cause    string       // shown to users
	Class    WaitClass    // of the cause of a skip

	For     cluster.JobID // of a preemption: job that gets the slot; zero if unknown
	ForPool string        // of a preemption: pool that gets the slot; "" if unknown
}

// DecisionKind is the kind of a decision.
type DecisionKind string

const (
	// DecisionOffer offers Slots to the tasks of a stage, or to the bundles of a
	// class.
	DecisionOffer DecisionKind = "offer"
	// DecisionSkip reports how many tasks or bundles of an offer got no slots, and why.
	DecisionSkip DecisionKind = "skip"
	// DecisionLaunch starts an attempt at a task on a machine.
	DecisionLaunch DecisionKind = "launch"
	// DecisionResume resumes a suspended attempt.
	DecisionResume DecisionKind = "resume"
	// DecisionPreempt takes the slot of an attempt.
	DecisionPreempt DecisionKind = "preempt"
	// DecisionShare is the share of a pool or a job from now on.
	DecisionShare DecisionKind = "share"
)

// Locality says how near a task is to its input; "" if the input is in another rack.
type Locality string

const (
	MachineLocal Locality = "node"
	RackLocal    Locality = "rack"
)

// decisionLine is a Decision as JSON (docs/formats/decisions.md).
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
	For      string       `json:"for,omitempty"`
	ForPool  string       `json:"forPool,omitempty"`
	Class    string       `json:"class,omitempty"`
	Cause    string       `json:"cause,omitempty"`
}

// MarshalJSON implements json.Marshaler. The keys are always in the same order. Zero
// values are left out, except for the share of a DecisionShare.
func (d Decision) MarshalJSON() ([]byte, error) {
	line := decisionLine{
		At: d.At, Kind: d.Kind, Policy: d.Policy, Pool: d.Pool, Stage: d.Stage, Machine: d.Machine,
		Slot: d.Slot.String(), Slots: d.Slots, Locality: d.Locality, Mode: d.Mode, Until: d.Until, ForPool: d.ForPool, Class: d.Class.String(), Cause: d.Cause,
	}
	if d.Kind == DecisionShare {
		line.Share = &d.Share
	}
	if d.Job != (cluster.JobID{}) {
		line.Job = d.Job.String()
	}
	if d.For != (cluster.JobID{}) {
		line.For = d.For.String()
	}
	if d.Task != (cluster.TaskID{}) {
		line.Task = d.Task.String()
	}
	if d.Attempt != (cluster.AttemptID{}) {
		line.Attempt = d.Attempt.String()
	}
	return json.Marshal(line)
}
