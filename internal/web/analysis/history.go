package analysis

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/hammr/hammr/internal/docs/apidoc"
)

// State is what an attempt did with a slot in a span of time.
type State uint8

const (
	Running      State = iota // it runs, and is active still
	Finished                  // it ran, and has finished
	Checkpointed              // it ran until it had written a checkpoint: its work is kept
	Failed                    // it ran, and has failed
	Killed                    // it ran until it was killed
	Preempted                 // it ran until it was preempted by kill: its work is lost
	Lost                      // it ran until its machine was lost
	Suspended                 // it was suspended: it had no slot
	Stopping                  // it was ordered to give up its slot, and had it still
)

// StateNames are the names of the states, by their numbers.
var StateNames = []string{"running", "finished", "checkpointed", "failed", "killed", "preempted", "lost", "suspended", "stopping"}

// endStates are the states by the kind of the event that ends an attempt.
var endStates = map[string]State{
	"finish": Finished, "checkpoint": Checkpointed, "fail": Failed, "kill": Killed, "preempt": Preempted, "lose": Lost,
}

// never is the end of a span that has not ended.
const never = math.MaxInt64

// Attempt is an attempt as its events describe it. Times are ms since the epoch.
type Attempt struct {
	ID    string
	Node  string
	Stage string // code of its stage, as in its id
	Task  int    // place in the tasks of the History
	Start int64  // time of its first known event
	End   int64  // when it ended; 0 while it is active
	State State  // Running, or how it ended
	Bytes int64  // of its output or checkpoint; 0 if it has none

	number   int
	lost     int64 // when its output was lost after it had finished; 0 if it was not
	previous int32 // attempt before it at the same task, counted from 1; 0 for none
	span     int32 // its latest span, counted from 1
}

// Short returns the id without the job, as m_000001_0.
func (a *Attempt) Short() string {
	at := strings.LastIndex(a.ID, "_"+a.Stage+"_")
	return a.ID[at+1:]
}

// Span is a time in which an attempt did one thing.
type Span struct {
	Attempt  int32
	From, To int64 // ms since the epoch; To is the greatest int64 if it has not ended
	state    State // Running, Suspended or Stopping
}

// Arrow leads from what an attempt left to the attempt that continues it. Its kinds are
//
//	split      the rest of the range became a new task, which has started
//	continue   a new attempt resumed from the checkpoint, on the same tasknode
//	move       a new attempt resumed from the checkpoint, on another tasknode
//	resume     the attempt has a slot again after a suspension
//	speculate  a second attempt at a slow task
//	retry      the task was started over
type Arrow struct {
	Kind       string
	Source     int32 // span
	Target     int32 // span
	SourceTime int64 // ms since the epoch
	TargetTime int64
	Mode       string // how the slot of the source was given up: split, checkpoint, suspend, fail, kill, preempt, lose; "" of a speculation
	Bytes      int64  // of the checkpoint; 0 if there is none
}

// mark is an event that is drawn as a sign. Starts and normal ends are not: their spans show them.
type mark struct{ event, span int32 }

// History is what has happened to the attempts of a job.
type History struct {
	Since    int64 // events before this time are unknown, ms since the epoch; 0 if none are missing
	Now      int64 // time of the question, ms since the epoch
	Attempts []Attempt
	Spans    []Span // ascending by From
	Arrows   []Arrow

	events []apidoc.Event
	of     []int32 // attempt of each event, -1 for none
	marks  []mark
	tasks  []task
	types  map[string]string // MAP or REDUCE, by code of a stage

	byNode, byTask func() *layout
}

// task is a task with an attempt, or one that a split has made.
type task struct {
	stage     string
	number    int
	last      int32 // latest attempt, counted from 1; 0 for none
	splitSpan int32 // span that has made it by a split, counted from 1; 0 for none
	splitTime int64
}

// NewHistory returns the history of events. types has MAP or REDUCE for each code of a stage; now
// is the time of the question, ms since the epoch. It keeps the events, which must not change.
func NewHistory(events apidoc.Events, types map[string]string, now int64) *History {
	h := &History{Since: events.Since, Now: now, events: events.Events, of: make([]int32, len(events.Events)), types: types}
	half := len(h.events) / 2 // most attempts start and end, and nothing else
	h.Attempts, h.Spans, h.tasks = make([]Attempt, 0, half), make([]Span, 0, half), make([]task, 0, half)
	b := builder{History: h}
	for i := range h.events {
		b.add(int32(i))
	}
	h.byNode, h.byTask = sync.OnceValue(h.layoutByNode), sync.OnceValue(h.layoutByTask)
	return h
}

// At returns the history as it is seen at a later time, ms since the epoch, if nothing has happened
// since.
func (h *History) At(now int64) *History {
	later := *h
	later.Now = now
	return &later
}

// Begin returns the time of the first event, ms since the epoch; 0 if there is none.
func (h *History) Begin() int64 {
	if len(h.events) == 0 {
		return 0
	}
	return h.events[0].At
}

// End returns the time of the last event, or the time of the question while an attempt is active; 0
// if there is no event.
func (h *History) End() int64 {
	if len(h.events) == 0 {
		return 0
	}
	end := h.events[len(h.events)-1].At
	for i := range h.Attempts {
		if h.Attempts[i].End == 0 {
			return max(end, h.Now)
		}
	}
	return end
}

// State returns what is shown of a span: a span in which the attempt ran shows how it has ended.
func (h *History) State(s *Span) State {
	if s.state == Running {
		return h.Attempts[s.Attempt].State
	}
	return s.state
}

// isReduce reports whether the tasks of a stage use reduce slots. Stages that the columns do not
// have are those of a plain job.
func (h *History) isReduce(stage string) bool {
	if t := h.types[stage]; t != "" {
		return t == "REDUCE"
	}
	return stage == "r"
}

// builder makes a History.
type builder struct {
	*History
	stages  []string
	numbers [][]int32 // by stage and number of a task: its place in tasks, counted from 1; 0 for none
}

// maxTask bounds the number of a task. Events of others are ignored, so that a wrong id costs no
// memory.
const maxTask = 1 << 22

// ref is an id of a task or an attempt.
type ref struct {
	stage        string
	task, number int // number is that of the attempt
}

// parseTask splits the id of a task from behind, since that costs less than looking it up in a map.
func parseTask(id string) (r ref, ok bool) {
	at := strings.LastIndexByte(id, '_')
	if at < 0 {
		return r, false
	}
	task, err := strconv.Atoi(id[at+1:])
	r.stage, r.task = id[strings.LastIndexByte(id[:at], '_')+1:at], task
	return r, err == nil && task >= 0 && task < maxTask
}

func parseAttempt(id string) (r ref, ok bool) {
	at := strings.LastIndexByte(id, '_')
	if at < 0 {
		return r, false
	}
	number, err := strconv.Atoi(id[at+1:])
	if r, ok = parseTask(id[:at]); err != nil {
		ok = false
	}
	r.number = number
	return r, ok
}

// task returns the place of a task.
func (b *builder) task(r ref) int {
	stage := slices.Index(b.stages, r.stage)
	if stage < 0 {
		stage = len(b.stages)
		b.stages, b.numbers = append(b.stages, r.stage), append(b.numbers, nil)
	}
	numbers := b.numbers[stage]
	if r.task >= len(numbers) {
		numbers = append(numbers, make([]int32, r.task+1-len(numbers))...)
		b.numbers[stage] = numbers
	}
	if numbers[r.task] == 0 {
		b.tasks = append(b.tasks, task{stage: r.stage, number: r.task})
		numbers[r.task] = int32(len(b.tasks))
	}
	return int(numbers[r.task] - 1)
}

// find returns the place of an attempt, -1 if no event was about it.
func (b *builder) find(task, number int) int32 {
	n := b.tasks[task].last
	for n > 0 && b.Attempts[n-1].number != number {
		n = b.Attempts[n-1].previous
	}
	return n - 1
}

// open ends the present span of an attempt and begins the next one.
func (b *builder) open(n int32, at int64, state State) {
	b.close(n, at)
	b.Spans = append(b.Spans, Span{Attempt: n, From: at, To: never, state: state})
	b.Attempts[n].span = int32(len(b.Spans))
}

// close ends the present span of an attempt.
func (b *builder) close(n int32, at int64) {
	if s := b.Attempts[n].span; s > 0 && b.Spans[s-1].To == never {
		b.Spans[s-1].To = at
	}
}

// add adds an event. Events with ids that are none are ignored.
func (b *builder) add(i int32) {
	e := &b.events[i]
	b.of[i] = -1
	r, ok := parseAttempt(e.Attempt)
	if !ok {
		return
	}
	at := b.task(r)
	n := b.find(at, r.number)
	if n < 0 {
		t := &b.tasks[at]
		n = int32(len(b.Attempts))
		b.Attempts = append(b.Attempts, Attempt{ID: e.Attempt, Node: e.Node, Stage: t.stage, Task: at, Start: e.At, number: r.number, previous: t.last})
		t.last = n + 1
		if e.Kind != "move" {
			b.open(n, e.At, Running)
			b.addStart(n, e)
		}
	}
	b.of[i] = n
	a := &b.Attempts[n]
	switch e.Kind {
	case "start", "finish", "exit":
	default:
		if a.span > 0 {
			b.marks = append(b.marks, mark{i, a.span - 1})
		}
	}
	if state, ends := endStates[e.Kind]; ends && a.End == 0 {
		a.State, a.End, a.Bytes = state, e.At, e.Bytes
		b.close(n, e.At)
		return
	}
	switch e.Kind {
	case "lose", "revoke":
		a.lost = e.At
	case "restore": // one that was lost with its machine has finished there
		if a.State == Lost {
			a.State, a.End, a.Bytes = Finished, e.At, e.Bytes
			b.Spans[a.span-1].To = e.At
		}
	case "order":
		b.open(n, e.At, Stopping)
	case "decline":
		b.open(n, e.At, Running)
	case "suspend":
		b.open(n, e.At, Suspended)
	case "resume":
		source := a.span - 1
		b.open(n, e.At, Running)
		b.Arrows = append(b.Arrows, Arrow{Kind: "resume", Source: source, Target: a.span - 1, SourceTime: b.Spans[source].From, TargetTime: e.At, Mode: "suspend"})
	case "split":
		if r, ok := parseTask(e.Rest); ok {
			t := &b.tasks[b.task(r)]
			t.splitSpan, t.splitTime = a.span, e.At
		}
	case "exit": // the process had its slot until now
		if a.span > 0 {
			b.Spans[a.span-1].To = e.At
		}
	}
}

// addStart adds the arrow to an attempt that has started.
func (b *builder) addStart(n int32, e *apidoc.Event) {
	a, t := &b.Attempts[n], &b.tasks[b.Attempts[n].Task]
	arrow := Arrow{Target: a.span - 1, TargetTime: e.At}
	from := func(source int32, kind string) {
		s := &b.Attempts[source]
		if s.span == 0 {
			return
		}
		arrow.Kind, arrow.Source, arrow.SourceTime = kind, s.span-1, max(s.End, s.lost)
		if s.End == 0 {
			arrow.SourceTime = e.At
		}
		b.Arrows = append(b.Arrows, arrow)
	}
	switch {
	case e.Kind == "continue":
		r, _ := parseAttempt(e.Source)
		source := b.find(a.Task, r.number)
		if source < 0 {
			return
		}
		arrow.Mode, arrow.Bytes = "checkpoint", b.Attempts[source].Bytes
		if b.Attempts[source].Node != a.Node {
			from(source, "move")
		} else {
			from(source, "continue")
		}
	case e.Kind == "speculate":
		for p := a.previous; p > 0; p = b.Attempts[p-1].previous {
			if b.Attempts[p-1].End == 0 {
				from(p-1, "speculate")
				return
			}
		}
	case e.Kind != "start":
	case a.previous > 0:
		arrow.Mode = retryModes[b.Attempts[a.previous-1].State]
		from(a.previous-1, "retry")
	case t.splitSpan > 0:
		arrow.Kind, arrow.Source, arrow.SourceTime, arrow.Mode = "split", t.splitSpan-1, t.splitTime, "split"
		b.Arrows = append(b.Arrows, arrow)
	}
}

// retryModes says why a task was started over, by the state of its last attempt. Output of a finished
// attempt is lost with its machine.
var retryModes = map[State]string{Finished: "lose", Checkpointed: "lose", Failed: "fail", Killed: "kill", Preempted: "preempt", Lost: "lose"}
