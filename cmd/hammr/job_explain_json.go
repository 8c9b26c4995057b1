package main

import "github.com/hammr/hammr/internal/wire"

// explanation is why a job has or lacks slots, as JSON. Times are ms since the
// epoch.
type explanation struct {
	JobID    string             `json:"jobId"`
	State    string             `json:"state"`
	Queue    string             `json:"queue"`
	Priority string             `json:"priority"`
	Policy   string             `json:"policy,omitempty"`
	Submit   int64              `json:"submitTime,omitempty"`
	Finish   int64              `json:"finishTime,omitempty"` // of a job that is over
	Cause    string             `json:"cause,omitempty"`
	Reasons  []string           `json:"reasons,omitempty"`
	Facts    []explainedFact    `json:"facts,omitempty"`
	Stages   []explainedStage   `json:"stages"`
	Taken    []explainedAttempt `json:"taken,omitempty"`
	Task     *explainedTask     `json:"task,omitempty"`
}

// explainedFact is something that the policy knows.
type explainedFact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type explainedStage struct {
	Name      string   `json:"name"`
	Slot      string   `json:"slot"`
	Tasks     int32    `json:"tasks"`
	Finished  int32    `json:"finished"`
	Running   int32    `json:"running"`
	Suspended int32    `json:"suspended"`
	Waiting   int32    `json:"waiting"`
	Free      int32    `json:"freeSlots"`
	Slots     int32    `json:"slots"`
	Reasons   []string `json:"reasons,omitempty"`
	Until     int64    `json:"until,omitempty"`
	Avoids    []string `json:"avoids,omitempty"`

	Past *explainedPast `json:"past,omitempty"` // of a job that is over
}

// explainedPast is what slots tasks had.
type explainedPast struct {
	MapSlots          int32           `json:"mapSlots"` // of each attempt
	ReduceSlots       int32           `json:"reduceSlots"`
	Attempts          int32           `json:"attempts"`
	Preempted         int32           `json:"preempted"`
	WaitedMillis      int64           `json:"waitedMillis"`
	LongestWaitMillis int64           `json:"longestWaitMillis"`
	LongestWaitTask   string          `json:"longestWaitTask,omitempty"`
	Nodes             []explainedNode `json:"nodes,omitempty"`
}

// explainedNode is a tasknode where attempts ran.
type explainedNode struct {
	Name       string `json:"name"`
	Attempts   int32  `json:"attempts"`
	SlotMillis int64  `json:"slotMillis"`
}

type explainedAttempt struct {
	ID    string `json:"id"`
	Node  string `json:"node"`
	State string `json:"state"`
	Since int64  `json:"since"`
	Cause string `json:"cause,omitempty"`

	Start  int64 `json:"startTime,omitempty"`
	Waited int64 `json:"waitedMillis,omitempty"`
}

type explainedTask struct {
	ID       string             `json:"id"`
	Stage    string             `json:"stage"`
	State    string             `json:"state"`
	Reasons  []string           `json:"reasons,omitempty"`
	FailedOn []string           `json:"failedOn,omitempty"`
	Attempts []explainedAttempt `json:"attempts,omitempty"`
	Spots    []explainedSpot    `json:"spots,omitempty"`
}

// explainedSpot is a tasknode that has room for a task.
type explainedSpot struct {
	Node        string `json:"node"`
	Place       string `json:"place"`
	LocalBytes  int64  `json:"localBytes"`
	RackBytes   int64  `json:"rackBytes"`
	RemoteBytes int64  `json:"remoteBytes"`
	Cost        int64  `json:"cost"`
	Avoided     bool   `json:"avoided"`
}

func explanationOf(e *wire.Explanation) explanation {
	out := explanation{
		JobID: e.JobId, State: e.State, Queue: e.Queue, Priority: e.Priority, Policy: e.Policy, Reasons: e.Reasons,
		Stages: []explainedStage{}, Taken: explainedAttempts(e.Taken), Submit: e.SubmitTime, Finish: e.FinishTime, Cause: e.Cause,
	}
	for _, f := range e.Facts {
		out.Facts = append(out.Facts, explainedFact{f.Name, f.Value})
	}
	for _, s := range e.Stages {
		out.Stages = append(out.Stages, explainedStage{
			Name: s.Name, Slot: s.Slot, Tasks: s.Tasks, Finished: s.Finished, Running: s.Running - s.Suspended, Suspended: s.Suspended, Waiting: s.Waiting,
			Free: s.Free, Slots: s.Slots, Reasons: s.Reasons, Until: s.Until, Avoids: s.Avoids,
			Past: pastOf(s.Past),
		})
	}
	if t := e.Task; t != nil {
		out.Task = &explainedTask{
			ID: t.Id, Stage: t.Stage, State: t.State, Reasons: t.Reasons, FailedOn: t.FailedOn, Attempts: explainedAttempts(t.Attempts),
		}
		for _, s := range t.Spots {
			out.Task.Spots = append(out.Task.Spots, explainedSpot{s.Node, s.Place, s.LocalBytes, s.RackBytes, s.RemoteBytes, s.Cost, s.Avoided})
		}
	}
	return out
}

func explainedAttempts(attempts []*wire.Explanation_Attempt) (out []explainedAttempt) {
	for _, a := range attempts {
		out = append(out, explainedAttempt{a.Id, a.Node, a.State, a.Since, a.Cause, a.StartTime, a.WaitedMillis})
	}
	return out
}

func pastOf(p *wire.Explanation_Past) *explainedPast {
	if p == nil {
		return nil
	}
	out := &explainedPast{
		MapSlots: p.MapSlots, ReduceSlots: p.ReduceSlots, Attempts: p.Attempts, Preempted: p.Preempted,
		WaitedMillis: p.WaitedMillis, LongestWaitMillis: p.LongestWaitMillis, LongestWaitTask: p.LongestWaitTask,
	}
	for _, n := range p.Nodes {
		out.Nodes = append(out.Nodes, explainedNode{n.Name, n.Attempts, n.SlotMillis})
	}
	return out
}
