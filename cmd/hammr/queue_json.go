package main

import "github.com/hammr/hammr/internal/wire"

// queueDocument is a queue as JSON.
type queueDocument struct {
	Name    string     `json:"name"`
	State   string     `json:"state"` // RUNNING, or DRAINING when no more jobs may be put into it
	Jobs    queueJobs  `json:"jobs"`
	Running slotCounts `json:"running"` // slots that its jobs hold
	Waiting slotCounts `json:"waiting"` // slots that their tasks wait for

	Allotment *allotment `json:"allotment,omitempty"` // when the policy divides the cluster among queues
}

type queueJobs struct {
	Running int32     `json:"running"`
	Waiting int32     `json:"waiting"`
	List    []summary `json:"list,omitempty"`
}

type slotCounts struct {
	Map    int32 `json:"map"`
	Reduce int32 `json:"reduce"`
}

// allotment is what a queue may have and ought to have.
type allotment struct {
	Order    string      `json:"order"`
	Weight   float64     `json:"weight"`
	Min      slotCounts  `json:"min"`
	Max      slotCounts  `json:"max"`     // -1: no limit
	MaxJobs  int32       `json:"maxJobs"` // likewise
	HeldJobs int32       `json:"heldJobs"`
	Share    shareCounts `json:"share"` // slots
}

type shareCounts struct {
	Map    float64 `json:"map"`
	Reduce float64 `json:"reduce"`
}

func queueOf(q *wire.Queue) queueDocument {
	out := queueDocument{
		Name: q.Name, State: q.State, Jobs: queueJobs{Running: q.JobsRunning, Waiting: q.JobsWaiting},
		Running: countsOf(q.Running), Waiting: countsOf(q.Waiting),
	}
	if q.Divided {
		out.Allotment = &allotment{
			Order: q.Order, Weight: q.Weight, Min: countsOf(q.Min), Max: countsOf(q.Max), MaxJobs: q.MaxJobs, HeldJobs: q.HeldJobs,
			Share: shareCounts{q.MapShare, q.ReduceShare},
		}
	}
	return out
}

func countsOf(s *wire.Queue_Slots) slotCounts { return slotCounts{s.GetMap(), s.GetReduce()} }
