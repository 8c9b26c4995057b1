package boardhttp

import (
	"fmt"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/jobmaster/board"
)

var (
	jobStates = []cluster.JobState{
		cluster.JobPrep, cluster.JobRunning, cluster.JobCommitting, cluster.JobAborting, cluster.JobSucceeded, cluster.JobFailed, cluster.JobKilled,
	}
	taskStates = []cluster.TaskState{
		cluster.TaskPending, cluster.TaskRunning, cluster.TaskCheckpointed, cluster.TaskSucceeded, cluster.TaskFailed, cluster.TaskKilled,
	}
)

// text is a word that oneOf reads.
type text string

func (t text) String() string { return string(t) }

// unknown returns the error of a job that the board does not have.
func unknown(id cluster.JobID) error { return fmt.Errorf("%w: %v", cluster.ErrUnknown, id) }

// Times in the views are ms since the epoch. They are left out while they are not known.

// list is a list, or a part of one.
type list[T any] struct {
	At    int64  `json:"at"`    // when the master knew this
	Total int    `json:"total"` // rows of the whole list
	Next  string `json:"next,omitempty"`
	Rows  []T    `json:"rows"`
}

type jobView struct {
	ID        string      `json:"id"`
	Name      string      `json:"name,omitempty"`
	User      string      `json:"user,omitempty"`
	Pool      string      `json:"pool,omitempty"`
	Priority  int         `json:"priority,omitempty"`
	State     string      `json:"state"`
	Cause     string      `json:"cause,omitempty"`
	Suspended bool        `json:"suspended,omitempty"`
	Archived  bool        `json:"archived,omitempty"`
	Submitted int64       `json:"submitted"`
	Started   int64       `json:"started,omitempty"`
	Committed int64       `json:"tasksFinished,omitempty"`
	Finished  int64       `json:"finished,omitempty"`
	Duration  int64       `json:"durationMillis"`
	Stages    []stageView `json:"stages,omitempty"`
}

type stageView struct {
	Code       string `json:"code"`
	Name       string `json:"name"`
	Slot       string `json:"slot"`
	Tasks      int    `json:"tasks"`
	Finished   int    `json:"finished"`
	Running    int    `json:"running"`
	Waiting    int    `json:"waiting"`
	Suspended  int    `json:"suspended"`
	InSlots    int    `json:"inSlots"`
	Launched   int    `json:"launched"`
	Local      int    `json:"launchedLocal"`
	Rack       int    `json:"launchedInRack"`
	Failed     int    `json:"failedAttempts"`
	Killed     int    `json:"killedAttempts"`
	SlotMillis int64  `json:"slotMillis"`
	Started    int64  `json:"started,omitempty"`
	Ended      int64  `json:"ended,omitempty"`

	Preemptions      int   `json:"preemptions"`
	Checkpoints      int   `json:"checkpoints"`
	CheckpointBytes  int64 `json:"checkpointBytes"`
	CheckpointMillis int64 `json:"checkpointMillis"`
	KeptMillis       int64 `json:"keptMillis"`
	LostMillis       int64 `json:"lostMillis"`
}

func viewOfJob(j *board.Job, now int64) jobView {
	v := jobView{
		ID: j.ID.String(), Name: j.Name, User: j.User, Pool: j.Pool, Priority: j.Priority, State: j.State.String(), Cause: j.Cause,
		Suspended: j.Suspended, Archived: j.Archived, Submitted: j.SubmittedAt, Started: j.StartedAt, Committed: j.CommitAt,
		Finished: j.FinishedAt, Duration: j.Duration(now),
	}
	for _, s := range j.Stages {
		p := s.Preemption
		v.Stages = append(v.Stages, stageView{
			Code: s.Code, Name: s.Name, Slot: s.Slot.String(), Tasks: s.Tasks, Finished: s.Finished, Running: s.Running, Waiting: s.Waiting,
			Suspended: s.Suspended, InSlots: s.InSlots, Launched: s.Launched, Local: s.LocalStarts, Rack: s.RackStarts,
			Failed: s.Failed, Killed: s.Killed, SlotMillis: s.SlotMillis, Started: s.StartedAt, Ended: s.FinishedAt,
			Preemptions: p.Requested, Checkpoints: p.Checkpoints, CheckpointBytes: p.CheckpointBytes,
			CheckpointMillis: p.CheckpointMillis, KeptMillis: p.KeptMillis, LostMillis: p.LostMillis,
		})
	}
	return v
}

type taskView struct {
	ID       string `json:"id"`
	State    string `json:"state"`
	Part     int    `json:"part"`
	Attempts int    `json:"attempts"`
	Winner   *int   `json:"winner,omitempty"`
	Machine  string `json:"machine,omitempty"`
	Place    string `json:"place,omitempty"`
	Start    int64  `json:"start,omitempty"`
	End      int64  `json:"end,omitempty"`
	Duration int64  `json:"durationMillis"`
	Bytes    int64  `json:"bytes"`
	Records  int64  `json:"records"`
	In       int64  `json:"inputRecords"`
	Spilled  int64  `json:"spilledRecords"`
}

func viewOfTask(t board.Task) taskView {
	v := taskView{
		ID: t.ID.String(), State: t.State.String(), Part: t.Part, Attempts: t.Attempts, Machine: t.Machine, Start: t.Start, End: t.End,
		Duration: t.Duration, Bytes: t.Bytes, Records: t.Records, In: t.In, Spilled: t.Spilled,
	}
	if t.Attempts > 0 {
		v.Place = t.Place.String()
	}
	if t.Winner >= 0 {
		v.Winner = &t.Winner
	}
	return v
}

type attemptView struct {
	ID              string `json:"id"`
	State           string `json:"state"`
	Machine         string `json:"machine"`
	MovedTo         string `json:"movedTo,omitempty"`
	Place           string `json:"place"`
	ResumedFrom     string `json:"resumedFrom,omitempty"`
	Start           int64  `json:"start"`
	End             int64  `json:"end,omitempty"`
	SuspendedAt     int64  `json:"suspendedAt,omitempty"`
	SuspendedMillis int64  `json:"suspendedMillis,omitempty"`
}

func viewOfAttempt(a board.Attempt) attemptView {
	v := attemptView{
		ID: a.ID.String(), State: a.State.String(), Machine: a.Machine, MovedTo: a.MovedTo, Place: a.Place.String(),
		Start: a.Start, End: a.End, SuspendedAt: a.SuspendedAt, SuspendedMillis: a.Suspended,
	}
	if a.From > 0 {
		v.ResumedFrom = cluster.AttemptID{Task: a.ID.Task, Number: a.From - 1}.String()
	}
	return v
}

// eventList is a list of events. If it is not complete, events of the time that was asked for are
// missing: the master does not know them any more, or there were too many.
type eventList struct {
	At       int64       `json:"at"`
	Complete bool        `json:"complete"`
	Rows     []eventView `json:"rows"`
}

type eventView struct {
	At      int64  `json:"at"`
	Kind    string `json:"kind"`
	Attempt string `json:"attempt"`
	Machine string `json:"machine"`
	Mode    string `json:"mode,omitempty"`
	Bytes   int64  `json:"bytes,omitempty"`
	Source  string `json:"source,omitempty"`
	Rest    string `json:"rest,omitempty"`
}

func viewOfEvent(e board.Event) eventView {
	v := eventView{At: e.At, Kind: e.Kind.String(), Attempt: e.Attempt.String(), Machine: e.Machine, Mode: string(e.Mode), Bytes: e.Bytes}
	switch e.Kind {
	case board.EventContinue:
		v.Source = e.Source.String()
	case board.EventSplit:
		v.Rest = e.Rest.String()
	}
	return v
}
