package cluster

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Errors of commands that are refused. They change nothing.
var (
	ErrUnknown  = errors.New("cluster: no such thing")
	ErrRetired  = errors.New("cluster: the job is over and retired to its history")
	ErrRefused  = errors.New("cluster: command refused")
	ErrTooLate  = errors.New("cluster: sequence number long past")
	errTooEarly = fmt.Errorf("%w: job is not at that point yet", ErrRefused)
)

// State is the replicated state of a cluster. It is used by one goroutine at a
// time.
type State struct {
	id         string // the T in ids
	policy     string
	policyConf []Setting  // what it is set to; replaced as a whole
	pools      []string   // that jobs may be put into, ascending, DefaultPool among them; replaced as a whole
	jobs       []*Job     // by number, from 1 at index 0; nil once retired
	machines   []*Machine // in order of their first joining
	lost       int        // of the machines
	byName     map[string]*Machine
	sessions   map[string]*session
	free       [slotKinds]numberSet // machines with a free slot, by index
}

// New is the state of a cluster in which nothing has happened. id is the middle
// of all ids and holds no '_'.
func New(id string) *State {
	return &State{
		id: strings.ReplaceAll(id, "_", "-"), policy: "fifo", pools: []string{DefaultPool},
		byName: make(map[string]*Machine), sessions: make(map[string]*session),
	}
}

// Entry is a command as it stands in the log.
type Entry struct {
	At       int64  // ms since the epoch, by the clock of the master that proposed it
	Client   string // who asks; "" for a command that is not deduplicated
	Sequence uint64 // with Client: an entry that comes again does nothing
	Command  Command
}

// Command is a change that is asked for. Each verb has a type and a file.
type Command interface {
	// apply checks everything before it changes anything.
	apply(tx *transition) error
}

// Delta tells what an entry changed. A job, attempt or machine may stand in
// several lists and more than once in each.
type Delta struct {
	Submitted     JobID       // by SubmitJob, also when it came before; else zero
	Jobs          []JobID     // that are new or whose state, priority or pool changed
	Started       []AttemptID // that their machine is to start
	Ended         []AttemptID // with a verdict
	OrdersChanged []AttemptID // whose machine is to hear something: kill, stop or pause
	Freed         []AttemptID // that left their slot
	Published     []AttemptID // whose output other tasks may read
	Revoked       []AttemptID // whose output is gone
	Moved         []AttemptID // whose output lies on another machine than before
	Machines      []string    // that joined or expired, are excluded or admitted, or are forgotten and not there any more
	Retired       []JobID     // that left the state
	Policy        bool        // another policy gives out slots, or one that is set otherwise
}

// transition is one Apply under way.
type transition struct {
	*State
	at             int64
	delta          *Delta
	lostCheckpoint []TaskID // that wait and have lost their checkpoint

	rollingBack bool // a gang
}

// Apply applies one entry. An error means that the command was refused and
// that nothing changed.
func (s *State) Apply(e Entry) (Delta, error) {
	if e.Client == "" {
		return s.applyOnce(e)
	}
	se := s.session(e.Client)
	if delta, seen, err := se.recall(e.Sequence); seen || err != nil {
		return delta, err
	}
	delta, err := s.applyOnce(e)
	if err == nil {
		se.remember(e.Sequence, e.At, delta.Submitted)
	}
	return delta, err
}

func (s *State) applyOnce(e Entry) (Delta, error) {
	var delta Delta
	tx := &transition{State: s, at: e.At, delta: &delta}
	err := e.Command.apply(tx)
	if err == nil {
		tx.rerunLost()
	}
	return delta, err
}

func (s *State) job(id JobID) (*Job, error) {
	if id.Number < 1 || id.Number > len(s.jobs) || id.Cluster != s.id {
		return nil, fmt.Errorf("%w: %v", ErrUnknown, id)
	}
	if j := s.jobs[id.Number-1]; j != nil {
		return j, nil
	}
	return nil, fmt.Errorf("%w: %v", ErrRetired, id)
}

// taskRef is an attempt or a task and all that it belongs to.
type taskRef struct {
	job     *Job
	stage   *Stage
	task    *Task
	attempt *Attempt
}

func (s *State) task(id TaskID) (taskRef, error) {
	j, err := s.job(id.Job)
	if err != nil {
		return taskRef{}, err
	}
	i := slices.IndexFunc(j.Stages, func(st *Stage) bool { return st.Code == id.Stage })
	if i < 0 || id.Number < 0 || id.Number >= len(j.Stages[i].Tasks) {
		return taskRef{}, fmt.Errorf("%w: %v", ErrUnknown, id)
	}
	return taskRef{job: j, stage: j.Stages[i], task: j.Stages[i].Tasks[id.Number]}, nil
}

func (s *State) attempt(id AttemptID) (taskRef, error) {
	p, err := s.task(id.Task)
	if err != nil {
		return taskRef{}, err
	}
	if id.Number < 0 || id.Number >= len(p.task.Attempts) {
		return taskRef{}, fmt.Errorf("%w: %v", ErrUnknown, id)
	}
	p.attempt = p.task.Attempts[id.Number]
	return p, nil
}
