package control

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched/fifo"
)

var update = flag.Bool("update", false, "rewrite the scenarios with what happens now")

// TestScenarios plays the files of testdata. A line at the margin is an event; the indented
// lines below it are the controller's response:
//
//	> command, applied     x command, refused     = order     ! work
//
// Attempts are written "m0.1", the second try at map 0 of job 1, or "2:m0.1".
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			want, err := os.ReadFile(name)
			must.Do(t, err)
			got := play(t, string(want))
			if *update {
				must.Do(t, os.WriteFile(name, []byte(got), 0o644))
				return
			}
			if got != string(want) {
				t.Errorf("what happens is\n%s", got)
			}
		})
	}
}

// harness plays a scenario: it has a state, a controller, and a log that commits at once.
type harness struct {
	t     *testing.T
	state *cluster.State
	brain *Controller
	now   int64
	out   strings.Builder

	fetched map[cluster.AttemptID]map[source]bool // by reader: what it has fetched, in tests that use fetch
}

func newStage(t *testing.T) *harness {
	s := &harness{t: t, state: cluster.New("1"), now: 1}
	s.brain = New(s.state.View(), new(fifo.Policy))
	return s
}

func play(t *testing.T, script string) string {
	s := newStage(t)
	lines := bufio.NewScanner(strings.NewReader(script))
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "\t") {
			continue
		}
		fmt.Fprintln(&s.out, line)
		if line != "" && line[0] != '#' {
			s.run(s.event(strings.Fields(line)))
		}
	}
	return s.out.String()
}

// run calls Step until nothing more is proposed.
func (s *harness) run(events []Event) {
	for {
		out := s.brain.Step(s.now, events)
		for _, o := range out.Orders {
			s.print("=", o.String())
		}
		for _, w := range out.Work {
			s.print("!", w.String())
		}
		if len(out.Commands) == 0 {
			return
		}
		events = []Event{s.apply(out.Commands)}
	}
}

func (s *harness) apply(batch []cluster.Entry) Event {
	var done Applied
	for _, e := range batch {
		delta, err := s.state.Apply(e)
		mark := ">"
		if err != nil {
			mark = "x"
		}
		s.print(mark, describe(e.Command))
		if err := s.state.CheckInvariants(); err != nil {
			s.t.Fatalf("after %+v:\n%v", e.Command, err)
		}
		done.Results = append(done.Results, Result{e, delta, err})
	}
	return done
}

var attemptIDs = regexp.MustCompile(`(attempt|task)_1_0*(\d+)_([mr])_0*(\d+)(?:_(\d+))?`)

func (s *harness) print(mark, text string) {
	text = attemptIDs.ReplaceAllString(text, "$2:$3$4.$5")
	text = strings.ReplaceAll(text, ". ", " ") // a task has no number of an attempt
	fmt.Fprintf(&s.out, "\t%s %s\n", mark, strings.TrimSuffix(text, "."))
}

func describe(c cluster.Command) string {
	verb := strings.TrimPrefix(fmt.Sprintf("%T", c), "cluster.")
	switch c := c.(type) {
	case cluster.SubmitJob:
		return verb
	case cluster.FailAttempt:
		if c.BadCheckpoint {
			return fmt.Sprintf("%s %v %q bad checkpoint", verb, c.Attempt, c.Failure.Cause)
		}
		return fmt.Sprintf("%s %v %q uncharged=%v", verb, c.Attempt, c.Failure.Cause, c.Uncharged)
	case cluster.FinishAttempt:
		return fmt.Sprintf("%s %v %v", verb, c.Attempt, c.Range)
	case cluster.JoinMachine:
		return fmt.Sprintf("%s %s %v", verb, c.Name, [2]int(c.Slots)) + describeFetched(c.Fetched)
	case cluster.StartAttempt:
		return fmt.Sprintf("%s %v on %s %v", verb, c.Task, c.Machine, c.Range)
	case cluster.ExpireMachine:
		return fmt.Sprintf("%s {%s %d}", verb, c.Name, c.Epoch) + describeFetched(c.Fetched)
	case cluster.MoveOutput:
		return fmt.Sprintf("%s %v to %s", verb, c.Attempt, c.Machine)
	case cluster.MoveCheckpoint:
		return fmt.Sprintf("%s %v to %s", verb, c.Attempt, c.Machine)
	case cluster.ExitAttempt:
		return fmt.Sprintf("%s %v stuck=%v", verb, c.Attempt, c.Stuck != nil)
	case cluster.SpeculateTask:
		return fmt.Sprintf("%s %v on %s", verb, c.Task, c.Machine)
	case cluster.CheckpointAttempt:
		return fmt.Sprintf("%s %v", verb, c.Attempt)
	}
	if p, ok := c.(cluster.PreemptAttempt); ok {
		text := fmt.Sprintf("%s {%v %v %v}", verb, p.Attempt, p.Mode, p.Cause)
		if p.For.Job != (cluster.JobID{}) {
			text += fmt.Sprintf(" for job %d", p.For.Job.Number)
		}
		return text
	}
	return fmt.Sprintf("%s %v", verb, c)
}

func describeFetched(f cluster.Fetched) string {
	if len(f.Outputs) == 0 {
		return ""
	}
	return fmt.Sprintf(" fetched %v by %v", f.Outputs, f.Readers)
}

// event reads one line of a scenario.
func (s *harness) event(words []string) []Event {
	request := func(c cluster.Command) []Event { return []Event{Requested{Command: c}} }
	arg := func(i int) string {
		if i < len(words) {
			return words[i]
		}
		return ""
	}
	switch words[0] {
	case "at": // MILLISECONDS
		s.now = s.number(arg(1))
		return nil
	case "join": // NAME MAP-SLOTS REDUCE-SLOTS [INSTANCE [ATTEMPT whose files it has]...]
		join := cluster.JoinMachine{Name: arg(1), Instance: arg(4), Address: arg(1) + ":1", Hosts: []string{arg(1)}, Slots: cluster.Slots{int(s.number(arg(2))), int(s.number(arg(3)))}}
		for _, retained := range words[min(5, len(words)):] {
			join.Retained = append(join.Retained, s.attempt(retained))
		}
		return request(join)
	case "expire": // NAME EPOCH
		return request(cluster.ExpireMachine{Name: arg(1), Epoch: int(s.number(arg(2)))})
	case "reconnect": // NAME
		return []Event{MachineConnected{arg(1)}}
	case "submit": // MAPS REDUCES [gang=1] [timeout=MS] [skip=N] [slow=PPM] [tries=N]
		return request(cluster.SubmitJob{Spec: s.spec(words)})
	case "load": // JOB: its splits are [0,100) each
		return s.load(s.job(arg(1)))
	case "kill": // JOB
		return request(cluster.KillJob{Job: s.job(arg(1)), Cause: "by request"})
	case "committed": // JOB
		return request(cluster.CommitJob{Job: s.job(arg(1))})
	case "cleaned": // JOB
		return request(cluster.CloseJob{Job: s.job(arg(1))})
	case "suspend": // JOB [in-memory]
		return request(cluster.SuspendJob{Job: s.job(arg(1)), Cause: "later", Split: true, PreferSuspend: arg(2) == "in-memory"})
	case "resume": // JOB
		return request(cluster.ResumeJob{Job: s.job(arg(1))})
	case "lead": // a new controller leads
		s.brain = New(s.state.View(), new(fifo.Policy))
		return []Event{Leading{}}
	case "drain": // MACHINE
		return request(cluster.DrainMachine{Name: arg(1), Cause: "to be stopped"})
	case "output-copied": // ATTEMPT MACHINE [PROBLEM]
		id := s.attempt(arg(1))
		return []Event{OutputCopied{Attempt: id, Machine: arg(2), Problem: arg(3), Segments: s.segments(id).Segments}}
	case "checkpoint-copied": // ATTEMPT, its checkpoint, MACHINE [PROBLEM [useless]]
		return []Event{OutputCopied{Attempt: s.attempt(arg(1)), Machine: arg(2), Problem: arg(3), Useless: arg(4) != "", Checkpoint: new(cluster.Checkpoint)}}
	case "priority": // JOB NUMBER
		return request(cluster.SetPriority{Job: s.job(arg(1)), Priority: int(s.number(arg(2)))})
	case "suspend-attempt": // ATTEMPT: it is suspended
		return request(cluster.PreemptAttempt{Attempt: s.attempt(arg(1)), Mode: preempt.Suspend})
	case "checkpoint": // ATTEMPT
		return request(cluster.PreemptAttempt{Attempt: s.attempt(arg(1)), Mode: preempt.Checkpoint})
	case "split": // ATTEMPT OFFSET
		return request(cluster.SplitTask{Attempt: s.attempt(arg(1)), At: dag.Position{Offset: s.number(arg(2))}})
	case "progress": // ATTEMPT MARK [PERCENT]
		ev := AttemptProgressed{Attempt: s.attempt(arg(1)), Mark: uint64(s.number(arg(2)))}
		if len(words) == 4 {
			ev.Fraction = float64(s.number(arg(3))) / 100
		}
		return []Event{ev}
	case "fetched": // ATTEMPT BITS: of the only edge, as in EdgeFetched
		return []Event{AttemptProgressed{Attempt: s.attempt(arg(1)), Fraction: -1, Fetched: []EdgeFetched{{Nodes: []byte{byte(s.number(arg(2)))}}}}}
	case "finished": // ATTEMPT [FROM TO]
		r := s.rangeOf(s.attempt(arg(1)))
		if len(words) == 4 {
			r = dag.Range{Start: dag.Position{Offset: s.number(arg(2))}, End: dag.Position{Offset: s.number(arg(3))}}
		}
		return []Event{AttemptFinished{Attempt: s.attempt(arg(1)), Range: r, Output: s.segments(s.attempt(arg(1)))}}
	case "fail": // ATTEMPT [record=OFFSET | lost=ATTEMPT | unreached=ATTEMPT | checkpoint]
		return s.failure(s.attempt(arg(1)), arg(2))
	case "checkpointed": // ATTEMPT
		return []Event{Requested{Command: cluster.CheckpointAttempt{Attempt: s.attempt(arg(1)), Checkpoint: cluster.Checkpoint{Path: "checkpoint"}}}}
	case "declined": // ATTEMPT [can-suspend]
		return []Event{PreemptionDeclined{s.attempt(arg(1)), "disk full", arg(2) == "can-suspend"}}
	case "exited": // ATTEMPT [STACK]
		return []Event{AttemptExited{s.attempt(arg(1)), "", arg(2)}}
	}
	s.t.Fatalf("unknown line %q", words)
	return nil
}

func (s *harness) failure(id cluster.AttemptID, option string) []Event {
	ev := AttemptFailed{Attempt: id, Failure: cluster.Failure{Cause: "bad", Offset: -1}}
	name, value, _ := strings.Cut(option, "=")
	switch name {
	case "record":
		ev.Failure.Record = &dag.Position{Offset: s.number(value)}
	case "lost", "unreached":
		ev.LostOutput, ev.Unreached = s.attempt(value), name == "unreached"
	case "checkpoint":
		ev.BadCheckpoint = true
	}
	return []Event{ev}
}

func (s *harness) spec(words []string) cluster.JobSpec {
	spec := cluster.JobSpec{
		Graph: dag.MapReduce(int(s.number(words[1])), int(s.number(words[2]))), MaxAttempts: [2]int{2, 2}, SlowStartPPM: 1_000_000,
	}
	for _, w := range words[3:] {
		name, value, _ := strings.Cut(w, "=")
		n := s.number(value)
		switch name {
		case "gang": // its maps stream to its reduces
			spec.Graph.Edges[0].Channel = dag.ChannelTCP
		case "timeout":
			spec.TimeoutMillis = n
		case "skip":
			spec.SkipRecords = int(n)
		case "slow":
			spec.SlowStartPPM = int(n)
		case "speculative":
			spec.Speculative = [2]bool{n&1 != 0, n&2 != 0}
		case "tries":
			spec.MaxAttempts = [2]int{int(n), int(n)}
		}
	}
	return spec
}

func (s *harness) load(id cluster.JobID) []Event {
	j := s.state.View().Job(id)
	splits := make([]cluster.Split, j.Spec.Graph.Stages[0].Nodes)
	for i := range splits {
		splits[i] = cluster.Split{Range: dag.Range{End: dag.Position{Offset: 100}}, Bytes: 100, Ordinal: i}
	}
	must.Do(s.t, s.state.Load(id, splits))
	return []Event{Requested{Command: cluster.StartJob{Job: id}}}
}

func (s *harness) number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	must.Do(s.t, err)
	return n
}

func (s *harness) job(text string) cluster.JobID {
	return cluster.JobID{Cluster: "1", Number: int(s.number(text))}
}

func (s *harness) attempt(text string) cluster.AttemptID {
	job := "1"
	if j, rest, ok := strings.Cut(text, ":"); ok {
		job, text = j, rest
	}
	task, number, _ := strings.Cut(text, ".")
	return cluster.AttemptID{
		Task:   cluster.TaskID{Job: s.job(job), Stage: task[:1], Number: int(s.number(task[1:]))},
		Number: int(s.number(number)),
	}
}

// segments returns the output of an attempt for the first edge that leads out of its stage.
func (s *harness) segments(id cluster.AttemptID) (out cluster.Manifest) {
	j, stage, _, ok := s.state.View().Task(id.Task)
	for i, e := range j.Spec.Graph.Edges {
		if ok && e.Channel == dag.ChannelFile && j.StageOf(e.From) == stage {
			out.Segments = append(out.Segments, cluster.Segments{Edge: i, Node: id.Task.Number, Path: id.String()})
		}
	}
	return out
}

func (s *harness) rangeOf(id cluster.AttemptID) dag.Range {
	_, t, _, ok := s.state.View().Attempt(id)
	if !ok {
		s.t.Fatalf("no %v", id)
	}
	return t.Range
}
