package jobmaster_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/histindex"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/source/board"
	"github.com/hammr/hammr/internal/source/files"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
	"github.com/hammr/hammr/jobmaster"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/storage"
	"google.golang.org/protobuf/testing/protocmp"
)

// noLeader fails a test that asks the leader for more than tasknodes and pools.
type noLeader struct{ board.Leader }

func (noLeader) Read(_ context.Context, e *docs.Entry, _ any) (a docs.Answer[any], err error) {
	if e != docs.Nodes.Entry && e != docs.Pools.Entry {
		panic("the leader was asked for " + e.Path)
	}
	return a, docs.ErrUnavailable
}

// source returns what the pages of a master read, without a cache.
func (w *testCluster) source(master int) *board.Source {
	cfg := board.OfMaster(w.masters[master])
	cfg.Cluster, cfg.Leader = "1", noLeader{}
	cfg.Past = files.New(files.Config{Index: w.histories()})
	return board.New(cfg)
}

// histories returns an index of the histories, which has read none.
func (w *testCluster) histories() *histindex.Index {
	return histindex.New(histindex.Config{Dir: "mem:///history", Resolve: func(_ context.Context, name string) (storage.FS, string, error) {
		return w.fs, strings.TrimPrefix(name, "mem://"), nil
	}})
}

// documents are all documents of the jobs of a cluster that every master has.
type documents struct {
	Jobs       []apidoc.Job
	Reports    []report.Report
	Tasks      []report.Task
	Properties []map[string]string
	Columns    []string // state and number of attempts of each task
	Statuses   []*wire.JobStatus
	Counters   []map[string]counter.Values // by type
	Lists      []*wire.TaskStatus          // what lists of tasks show
}

// listed returns what lists of tasks show of the tasks.
func listed(tasks iter.Seq[*wire.TaskStatus]) (all []*wire.TaskStatus) {
	for t := range tasks {
		shown := &wire.TaskStatus{Id: t.Id, Kind: t.Kind, State: t.State}
		for _, a := range t.Attempts {
			shown.Attempts = append(shown.Attempts, &wire.TaskStatus_Attempt{
				Id: a.Id, Machine: a.Machine, State: a.State, StartTime: a.StartTime, FinishTime: a.FinishTime, Suspended: a.Suspended, Preempting: a.Preempting,
			})
		}
		all = append(all, shown)
	}
	return all
}

// fromStatus makes the documents from the statuses of the leader.
func fromStatus(t *testing.T, m *jobmaster.Master) (d documents) {
	list, err := m.Jobs(t.Context(), true)
	must.Do(t, err)
	d.Jobs = apidoc.Jobs(list)
	for _, j := range d.Jobs {
		s, err := m.Job(t.Context(), j.JobID, true)
		must.Do(t, err)
		r, tasks := apidoc.Report(s), apidoc.Tasks(s)
		d.Lists = append(d.Lists, listed(slices.Values(s.Tasks))...)
		d.Properties = append(d.Properties, r.Configuration)
		r.Tasks, r.Partitions, r.Configuration = nil, nil, nil
		d.Statuses, d.Counters = append(d.Statuses, s), append(d.Counters, countersByType(s))
		d.Reports, d.Tasks = append(d.Reports, r), append(d.Tasks, tasks...)
		for _, task := range tasks {
			d.Columns = append(d.Columns, fmt.Sprint(task.ID, task.Type, task.State, len(task.Attempts)))
		}
	}
	return d
}

// countersByType adds up the counters of the tasks of a status.
func countersByType(s *wire.JobStatus) map[string]counter.Values {
	sums := make(map[string]counter.Values)
	for _, t := range s.Tasks {
		kind := t.Kind.String()
		if sums[kind] == nil {
			sums[kind] = make(counter.Values)
		}
		for i, name := range s.CounterNames {
			sums[kind].Add(counter.ID{Group: name.Group, Name: name.Name}, slices.Concat(t.Counts, make([]int64, len(s.CounterNames)))[i])
		}
	}
	return sums
}

// fromBoard reads the documents as pages do.
func fromBoard(t *testing.T, s *board.Source) (d documents) {
	page, err := docs.Jobs.Read(t.Context(), s, docs.JobQuery{Page: docs.Page{Sort: "jobId", Limit: docs.MaxLimit}})
	must.Do(t, err)
	d.Jobs = page.Value.Jobs
	for _, j := range d.Jobs {
		r, err := docs.Job.Read(t.Context(), s, docs.JobID{Job: j.JobID})
		properties, err2 := docs.Configuration.Read(t.Context(), s, docs.JobID{Job: j.JobID})
		columns, err3 := docs.Columns.Read(t.Context(), s, docs.JobID{Job: j.JobID})
		status, err4 := docs.Status.Read(t.Context(), s, docs.JobID{Job: j.JobID})
		counters, err5 := docs.TypeCounters.Read(t.Context(), s, docs.JobID{Job: j.JobID})
		list, err6 := docs.Statuses.Read(t.Context(), s, docs.JobID{Job: j.JobID})
		must.Do(t, errors.Join(err, err2, err3, err4, err5, err6))
		if l := list.Value; l.Over != (r.Value.FinishTime > 0) || l.FinishTime != r.Value.FinishTime {
			t.Errorf("%s: over %v at %d, want %d", j.JobID, l.Over, l.FinishTime, r.Value.FinishTime)
		}
		d.Lists = append(d.Lists, listed(list.Value.Tasks)...)
		d.Statuses, d.Counters = append(d.Statuses, status.Value), append(d.Counters, counters.Value)
		d.Reports, d.Properties = append(d.Reports, r.Value), append(d.Properties, properties.Value)
		for i := range columns.Value.Len() {
			row := columns.Value.Row(j.JobID, i)
			task, err := docs.Task.Read(t.Context(), s, docs.TaskID{Job: j.JobID, Task: row.ID})
			must.Do(t, err)
			d.Tasks, d.Columns = append(d.Tasks, task.Value), append(d.Columns, fmt.Sprint(row.ID, row.Type, row.State, row.Attempts))
		}
	}
	return d
}

// TestBoardDocumentsEqualThoseOfTheLeader changes jobs at random. The pages of the leader show what its
// calls answer, also of jobs that have left the state, and those of a follower show the same except for
// what tasknodes report to the leader.
func TestBoardDocumentsEqualThoseOfTheLeader(t *testing.T) {
	for seed := range testlevel.Seeds(2, 12) {
		withCluster(t, 2, func(w *testCluster) {
			random := rand.New(rand.NewPCG(seed, 1))
			w.counted = []*taskproc.Counter{{Group: "Words", Name: "long", Value: 5}, {Group: counter.GroupFramework, Name: "Spilled Records", Value: 7}}
			w.elect(0)
			for _, name := range []string{"a", "b", "c"} {
				w.addTasknode(name, 2, 1)
			}
			var jobs []string
			for range 25 {
				if len(jobs) < 4 && random.IntN(3) == 0 {
					spec := w.another(1+random.IntN(6), random.IntN(3))
					spec.Sequence, spec.OutputDir = uint64(len(jobs)+1), fmt.Sprintf("mem:///out%d", len(jobs))
					jobs = append(jobs, w.submitSpec(spec))
				}
				if len(jobs) > 0 {
					w.changeAtRandom(random, jobs[random.IntN(len(jobs))])
				}
				w.sleep(300*time.Millisecond + time.Duration(random.IntN(900))*time.Millisecond)
				synctest.Wait()
				w.compareDocuments()
			}
			w.sleep(time.Minute)
			w.compareDocuments()
		})
	}
}

// changeAtRandom changes a job or one of its attempts. Many changes are refused.
func (w *testCluster) changeAtRandom(random *rand.Rand, job string) {
	m, ctx := w.leader(), w.ctx
	attempt := ""
	if s, err := m.Job(ctx, job, true); err == nil && len(s.Tasks) > 0 {
		if all := s.Tasks[random.IntN(len(s.Tasks))].Attempts; len(all) > 0 {
			attempt = all[len(all)-1].Id
		}
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	switch random.IntN(9) {
	case 0:
		_ = m.SuspendJob(ctx, job, preempt.Suspend)
	case 1, 2:
		_ = m.ResumeJob(ctx, job)
	case 3:
		_ = m.SetPriority(ctx, job, random.IntN(5)-2)
	case 4:
		_ = m.EndAttempt(ctx, attempt, random.IntN(2) == 0)
	case 5:
		_ = m.Kill(ctx, job, "at random")
	default:
		modes := []preempt.Mode{preempt.Kill, preempt.Suspend, preempt.Split, preempt.Checkpoint}
		_, _ = m.PreemptAttempt(ctx, attempt, modes[random.IntN(len(modes))])
	}
}

// compareDocuments compares the documents of both masters.
func (w *testCluster) compareDocuments() {
	w.t.Helper()
	want, leader, follower := fromStatus(w.t, w.leader()), fromBoard(w.t, w.source(0)), fromBoard(w.t, w.source(1))
	if diff := cmp.Diff(want, leader, protocmp.Transform()); diff != "" {
		w.t.Fatalf("the leader's board (- status, + board):\n%s", diff)
	}
	for _, d := range []*documents{&leader, &follower} {
		for i := range d.Jobs { // the leader knows what tasknodes report, and why tasks waited
			d.Jobs[i].Maps.Fraction, d.Jobs[i].Reduces.Fraction, d.Reports[i].Counters = 0, 0, nil
			s := d.Statuses[i]
			s.Counters, s.MapProgress, s.ReduceProgress, s.InputBytes, s.Waits, s.WaitsSince = nil, 0, 0, 0, nil, 0
			for _, stage := range s.Stages {
				stage.Waits = nil
			}
			for _, t := range s.Tasks {
				for _, a := range t.Attempts {
					a.ShuffleFinishTime = 0
				}
			}
		}
	}
	if diff := cmp.Diff(leader, follower, protocmp.Transform()); diff != "" {
		w.t.Fatalf("boards of two masters (- leader, + follower):\n%s", diff)
	}
}

// TestFollowersAnswerWithoutALeader reads from a master that has lost the leader, whose answers say so.
func TestFollowersAnswerWithoutALeader(t *testing.T) {
	withCluster(t, 2, func(w *testCluster) {
		w.elect(0)
		w.addTasknode("a", 1, 1)
		id := w.submit(3, 0)
		w.sleep(1500 * time.Millisecond)
		w.elect(-1)
		synctest.Wait()
		lost := time.Now()
		cfg := board.OfMaster(w.masters[1])
		cfg.Cluster, cfg.Leader, cfg.Contact = "1", noLeader{}, func() time.Time { return lost }
		source := board.New(cfg)
		for _, wait := range []time.Duration{time.Second, 10 * time.Second} {
			w.sleep(wait)
			tasks, err := docs.Tasks.Read(w.ctx, source, docs.TaskQuery{Job: id})
			r, err2 := docs.Job.Read(w.ctx, source, docs.JobID{Job: id})
			events, err3 := docs.Events.Read(w.ctx, source, docs.TaskID{Job: id})
			status, err4 := docs.Status.Read(w.ctx, source, docs.JobID{Job: id})
			nodes, err5 := docs.Nodes.Read(w.ctx, source, docs.No{})
			pools, err6 := docs.Pools.Read(w.ctx, source, docs.No{})
			must.Do(t, errors.Join(err, err2, err3, err4, err5, err6))
			if len(status.Value.Tasks) != 3 || len(nodes.Value) != 1 || nodes.Stale == nil || len(pools.Value) != 1 || pools.Value[0].Jobs.Running != 1 || pools.Stale == nil {
				t.Errorf("%v, %+v, %+v", status.Value, nodes, pools)
			}
			if tasks.Value.Total != 3 || r.Value.State != report.Running || len(events.Value.Events) < 3 {
				t.Errorf("%+v, %+v, %+v", tasks.Value, r.Value, events.Value)
			}
			cutOff := wait > 5*time.Second
			if stale := tasks.Stale != nil; stale != cutOff || cutOff && !tasks.At.Equal(lost) {
				t.Errorf("after %v: as of %v, %v; contact at %v", wait, tasks.At, tasks.Stale, lost)
			}
		}
		if _, err := docs.Job.Read(w.ctx, source, docs.JobID{Job: "job_1_0099"}); !errors.Is(err, docs.ErrUnknown) {
			t.Errorf("a job that does not exist: %v", err)
		}
		task := cluster.TaskID{Job: cluster.JobID{Cluster: "1", Number: 1}, Stage: "m", Number: 77}
		if _, err := docs.Task.Read(w.ctx, source, docs.TaskID{Job: id, Task: task.String()}); !errors.Is(err, docs.ErrUnknown) {
			t.Errorf("a task that does not exist: %v", err)
		}
		if e, err := docs.Events.Read(w.ctx, source, docs.TaskID{Job: id, Task: "task_1_0001_m_000000"}); err != nil || len(e.Value.Events) == 0 || !slices.ContainsFunc(e.Value.Events, func(e apidoc.Event) bool { return e.Kind == "finish" }) {
			t.Errorf("events of a task: %+v, %v", e, err)
		}
	})
}
