package cluster

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Errors of commands that are refused and change nothing.
var (
	ErrUnknown  = errors.New("not found")
	ErrRetired  = errors.New("cluster: the job is over and retired to its history")
	ErrRefused  = errors.New("refused")
	ErrTooLate  = errors.New("cluster: sequence number too old")
	errTooEarly = fmt.Errorf("%w: job is not at that point yet", ErrRefused)
)

// State is the replicated state of a cluster. One goroutine at a time uses it. Other packages read it through a View.
//
// Snapshots are written from the structs of the state themselves: a field with a number in its cbor tag is in snapshots,
// and every other field is derived from those (index.go). A number is never reused, and a new field gets a new one.
type State struct {
	ID         string              `cbor:"1,keyasint"`            // id of the cluster, the middle part of all ids
	Version    int                 `cbor:"2,keyasint"`            // cluster version; from FirstVersion to FormatVersion
	Policy     string              `cbor:"3,keyasint"`            // name of the scheduling policy
	PolicyConf []Setting           `cbor:"4,keyasint,omitempty"`  // settings of the policy; replaced as a whole
	Limits     Limits              `cbor:"5,keyasint"`            // what jobs may occupy in the state
	Pools      []string            `cbor:"6,keyasint"`            // pools for jobs, ascending, including DefaultPool; replaced as a whole
	Submitted  int                 `cbor:"7,keyasint,omitempty"`  // number of jobs that were ever submitted; their numbers are 1 to Submitted
	Machines   []*Machine          `cbor:"8,keyasint,omitempty"`  // in order of their first joining
	Sessions   map[string]*session `cbor:"9,keyasint,omitempty"`  // by client
	Forgotten  int64               `cbor:"10,keyasint,omitempty"` // time of the newest entry of a dropped session, ms since the epoch; 0: none was dropped
	SweptAt    int64               `cbor:"11,keyasint,omitempty"` // when silent clients were last searched for, ms since the epoch
	Restores   int                 `cbor:"12,keyasint,omitempty"` // how often the state was restored from a backup, see MarkRestored

	jobs jobList // in snapshots as items of their own, see snapshot.go

	lost      int                  // number of lost machines
	byName    map[string]*Machine  // machines by name
	results   int                  // remembered requests of all sessions
	free      [slotKinds]numberSet // machines with a free slot, by index
	suspected []*Machine           // machines that have a Suspicion, also an old one, in no particular order
	applying  *transition          // Apply in progress or, if it has panicked, until repair; else nil
}

// New returns the state of an empty cluster with the newest cluster version. The id is the
// middle part of all ids; every '_' in it becomes '-'.
func New(id string) *State { return NewAt(id, FormatVersion) }

// NewAt returns the state of an empty cluster with a cluster version. A state to which a log is
// applied from its beginning has FirstVersion: the log contains SetVersion.
func NewAt(id string, version int) *State {
	return &State{
		Version: version,
		ID:      strings.ReplaceAll(id, "_", "-"), Policy: "fifo", Pools: []string{DefaultPool}, Limits: DefaultLimits(),
		byName: make(map[string]*Machine), Sessions: make(map[string]*session),
	}
}

// Entry is a command in the log.
type Entry struct {
	At       int64  // ms since the epoch, by the clock of the master that proposed it
	Client   string // client that requested it; "" for a command that is not deduplicated
	Sequence uint64 // request number of the client; a second entry with the same number has no effect
	Command  Command
	By       string // user who asked for it, as the caller claims; "" for none. For readers: Apply ignores it.
}

// Command is a requested change. Each kind of command has a type, in a file apply_….go.
type Command interface {
	// subject is the JobID, TaskID or AttemptID that the command names; nil for a command
	// about machines or the cluster. Apply refuses the command if its subject does not
	// exist.
	subject() any

	// apply changes the subject, p, and what depends on it. It checks everything before it
	// changes anything.
	apply(tx *transition, p taskRef) error
}

// Delta lists what an entry changed. A job, attempt or machine may occur in several lists
// and more than once in each.
type Delta struct {
	Submitted     JobID       // job of a SubmitJob, even if it was submitted before; else zero
	Jobs          []JobID     // jobs that are new, or whose state, effective priority or pool changed
	Started       []AttemptID // attempts that their machine has to start
	Ended         []AttemptID // attempts whose status is not RUNNING any more
	OrdersChanged []AttemptID // attempts for which a machine needs a new order: kill, preempt, suspend, resume or truncate
	Freed         []AttemptID // attempts whose process is gone
	Published     []AttemptID // attempts whose output other tasks may read
	Revoked       []AttemptID // attempts whose output does not count any more
	Moved         []AttemptID // attempts whose output lies on another machine than before
	Machines      []string    // machines that joined, expired, were excluded, admitted or forgotten
	Archived      []JobID     // finished jobs whose tasks left the state
	Retired       []JobID     // jobs that left the state
	Policy        bool        // the policy or its settings changed
}

// transition is one Apply in progress.
type transition struct {
	*State                  // the state, which the command changes
	at             int64    // time of the entry, ms since the epoch; the only clock that Apply knows
	delta          *Delta   // what has changed so far
	lostCheckpoint []TaskID // tasks that wait and have lost their checkpoint

	rollingBack bool     // rollBackGang is in progress
	touched     *Job     // job that is being changed, for repair; nil for none
	losing      *Machine // machine that is being marked as lost, for repair; nil for none
}

// Apply applies one entry. On error the command was refused and nothing changed. If Apply
// panics, the state must not be used any more. Programs call ApplyContained.
func (s *State) Apply(e Entry) (Delta, error) {
	if e.Client == "" {
		return s.applyOnce(e)
	}
	return s.applyRequest(e)
}

// applyOnce applies an entry that is not a repetition. After the command it revokes lost
// output that tasks need again because of it.
func (s *State) applyOnce(e Entry) (Delta, error) {
	p, err := s.resolve(e.Command.subject())
	if err != nil {
		return Delta{}, err
	}
	var delta Delta
	tx := &transition{State: s, at: e.At, delta: &delta, touched: p.job}
	s.applying = tx
	if err = e.Command.apply(tx, p); err == nil {
		tx.rerunLost()
	}
	s.applying = nil
	return delta, err
}

// resolve finds the subject of a command.
func (s *State) resolve(subject any) (p taskRef, err error) {
	switch id := subject.(type) {
	case JobID:
		p.job, err = s.job(id)
	case TaskID:
		p, err = s.task(id)
	case AttemptID:
		p, err = s.attempt(id)
	}
	return p, err
}

// job returns a job by its id. A retired job is distinguished from one that never existed:
// clients that ask for a retired job are referred to its history.
func (s *State) job(id JobID) (*Job, error) {
	if id.Number < 1 || id.Number > s.Submitted || id.Cluster != s.ID {
		return nil, fmt.Errorf("%w: %v", ErrUnknown, id)
	}
	if j := s.jobs.get(id.Number); j != nil {
		return j, nil
	}
	return nil, fmt.Errorf("%w: %v", ErrRetired, id)
}

// taskRef is a task or an attempt, with the objects that contain it.
type taskRef struct {
	job     *Job
	stage   *Stage
	task    *Task
	attempt *Attempt
}

// ref returns the taskRef of an attempt at a task of a stage of the job.
func (j *Job) ref(s *Stage, a *Attempt) taskRef {
	return taskRef{j, s, s.Tasks[a.ID.Task.Number], a}
}

// task returns a task with its job and stage.
func (s *State) task(id TaskID) (taskRef, error) {
	j, err := s.job(id.Job)
	if err != nil {
		return taskRef{}, err
	}
	if j.Archived {
		return taskRef{}, fmt.Errorf("%w: %v", ErrRetired, id)
	}
	i := slices.IndexFunc(j.Stages, func(st *Stage) bool { return st.Code == id.Stage })
	if i < 0 || id.Number < 0 || id.Number >= len(j.Stages[i].Tasks) {
		return taskRef{}, fmt.Errorf("%w: %v", ErrUnknown, id)
	}
	return taskRef{job: j, stage: j.Stages[i], task: j.Stages[i].Tasks[id.Number]}, nil
}

// attempt returns an attempt with its task, job and stage.
func (s *State) attempt(id AttemptID) (taskRef, error) {
	p, err := s.task(id.Task)
	if err != nil {
		return taskRef{}, err
	}
	if p.attempt = p.task.Attempt(id.Number); p.attempt == nil {
		return taskRef{}, fmt.Errorf("%w: %v", ErrUnknown, id)
	}
	return p, nil
}
