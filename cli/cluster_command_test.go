package cli

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/preempt"
	"google.golang.org/protobuf/proto"
)

var update = flag.Bool("update", false, "update the golden files")

// fakeCluster is a cluster with a running job, a waiting job and a failed job.
type fakeCluster struct {
	address string // address of the master to ask; "" for any
	changes *[]string
	jobs    []*wire.JobStatus
}

func (f *fakeCluster) change(format string, args ...any) error {
	*f.changes = append(*f.changes, fmt.Sprintf(format, args...))
	return nil
}

func (f *fakeCluster) Submit(context.Context, *wire.JobSpec, []*taskproc.Split) (string, error) {
	return "", errors.New("nothing is submitted here")
}

func (f *fakeCluster) Watch(ctx context.Context, id string, each func(*wire.JobStatus)) (*wire.JobStatus, error) {
	s, err := f.Job(ctx, id, true)
	if err == nil {
		each(s)
	}
	return s, err
}

func (f *fakeCluster) Kill(_ context.Context, id, cause string) error {
	return f.change("kill %s: %s", id, cause)
}

func (f *fakeCluster) Close() error { return nil }

func (f *fakeCluster) LeaderInfo(ctx context.Context) (*wire.Info, error) { return f.Info(ctx) }

func (f *fakeCluster) Info(context.Context) (*wire.Info, error) {
	info := &wire.Info{
		ClusterId: "1763700000000", Leader: "m2", Term: 7,
		LogWrites: &wire.Info_LogWrites{Count: 1234, MedianMicros: 810, P99Micros: 5020, MaxMicros: 17000},
		Version:   "v1.3.0", ClusterVersion: 1, FormatVersion: 1,
	}
	if f.address == "a:7070" { // it is upgraded before the others
		info.Version, info.FormatVersion = "v1.4.0", 2
	}
	info.CommitIndex, info.AppliedIndex = 1200, map[string]uint64{"a:7070": 1187, "b:7070": 1200}[f.address]
	for i, address := range []string{"a:7070", "b:7070", "c:7070"} {
		m := &wire.Info_Master{Id: fmt.Sprintf("m%d", i+1), Address: address, State: []string{"", "leader", "unreachable"}[i], NonVoter: i == 0}
		if address == f.address {
			m.Http, m.State = strings.Replace(address, "70", "80", 1), []string{"follower", "leader", ""}[i]
		}
		info.Masters = append(info.Masters, m)
	}
	if f.address == "c:7070" {
		return nil, errors.New("no answer")
	}
	return info, nil
}

func (f *fakeCluster) list(q docs.AllQuery) []apidoc.Job {
	var jobs []*wire.JobStatus
	for _, j := range f.jobs {
		if q.Since != 0 && j.SubmitTime >= int64(q.Since) || q.Since == 0 && (q.Finished == docs.Yes || !j.State.Final()) {
			jobs = append(jobs, j)
		}
	}
	return apidoc.Jobs(jobs)
}

func (f *fakeCluster) Job(_ context.Context, id string, tasks bool) (*wire.JobStatus, error) {
	for _, j := range f.jobs {
		if j.JobId != id {
			continue
		}
		if !tasks {
			j = proto.CloneOf(j)
			j.Tasks, j.Partitions, j.Properties = nil, nil, nil
		}
		return j, nil
	}
	return nil, fmt.Errorf("%w: %s", client.ErrUnknown, id)
}

func (f *fakeCluster) SetPriority(_ context.Context, id string, priority int) error {
	return f.change("priority %s: %d", id, priority)
}

func (f *fakeCluster) EndAttempt(_ context.Context, id string, fail bool) error {
	if strings.HasSuffix(id, "_9") {
		return fmt.Errorf("%w: %s", client.ErrUnknown, id)
	}
	return f.change("end %s: %v", id, fail)
}

func (f *fakeCluster) MoveJob(_ context.Context, id, pool string) error {
	if pool != "nightly" {
		return fmt.Errorf("pool %q: not one of default, nightly", pool)
	}
	return f.change("move %s to %s", id, pool)
}

func (f *fakeCluster) AdmitTasknode(_ context.Context, name string, excluded bool) error {
	if name == "n9" {
		return fmt.Errorf("%w: %s", client.ErrUnknown, name)
	}
	return f.change("exclude %s: %v", name, excluded)
}

func (f *fakeCluster) PreemptAttempt(_ context.Context, id string, mode preempt.Mode) (preempt.Mode, error) {
	switch {
	case strings.HasSuffix(id, "_9"):
		return "", fmt.Errorf("%w: %s", client.ErrUnknown, id)
	case strings.Contains(id, "_r_") && mode == "split":
		return "", fmt.Errorf("%s reads no split of the input: only maps can be split; choose checkpoint, suspend or kill", id)
	case mode == "auto":
		mode = "split"
	}
	return mode, f.change("preempt %s: %s", id, mode)
}

func (f *fakeCluster) ResumeAttempt(_ context.Context, id string) error {
	return f.change("resume %s", id)
}

func (f *fakeCluster) SuspendJob(_ context.Context, id string, mode preempt.Mode) error {
	if strings.HasSuffix(id, "_0003") {
		return fmt.Errorf("job %s is FAILED", id)
	}
	return f.change("suspend %s: %s", id, mode)
}

func (f *fakeCluster) ResumeJob(_ context.Context, id string) error {
	if id == "job_7_0001" {
		return fmt.Errorf("%w: %s", client.ErrUnknown, id)
	}
	return f.change("resume %s", id)
}

func (f *fakeCluster) DrainTasknode(_ context.Context, name string, untilRestart bool, within time.Duration) error {
	if name == "n9" {
		return fmt.Errorf("%w: %s", client.ErrUnknown, name)
	}
	if untilRestart {
		return f.change("drain %s until restart", name)
	}
	if within > 0 {
		return f.change("drain %s within %v", name, within)
	}
	return f.change("drain %s", name)
}

func (f *fakeCluster) SetSlots(_ context.Context, name string, slots cluster.Slots) error {
	if name == "n9" {
		return fmt.Errorf("%w: %s", client.ErrUnknown, name)
	}
	return f.change("slots of %s: %v", name, slots)
}

func (f *fakeCluster) ChangePolicy(_ context.Context, name string, conf map[string]string, _ string) error {
	return f.change("policy %s %v", name, conf)
}

// Read implements client.Admin as masters do.
func (f *fakeCluster) Read(ctx context.Context, path string) ([]byte, error) {
	return f.docs().Answer(ctx, path)
}

// docs are the documents of the leader.
func (f *fakeCluster) docs() docs.Table {
	t := docs.Table{}
	docs.Serve(t, docs.AllJobs, func(_ context.Context, q docs.AllQuery) (docs.Answer[[]apidoc.Job], error) {
		return docs.Answer[[]apidoc.Job]{Value: f.list(q)}, nil
	})
	docs.Serve(t, docs.Status, func(ctx context.Context, q docs.JobID) (a docs.Answer[*wire.JobStatus], err error) {
		a.Value, err = f.Job(ctx, q.Job, true)
		return a, err
	})
	docs.Serve(t, docs.Progress, func(ctx context.Context, q docs.JobID) (a docs.Answer[*wire.JobStatus], err error) {
		a.Value, err = f.Job(ctx, q.Job, false)
		return a, err
	})
	docs.Serve(t, docs.Nodes, func(context.Context, docs.No) (docs.Answer[[]apidoc.Tasknode], error) {
		return docs.Answer[[]apidoc.Tasknode]{Value: f.tasknodes()}, nil
	})
	docs.Serve(t, docs.Losses, func(_ context.Context, q docs.LossQuery) (docs.Answer[apidoc.Losses], error) {
		return docs.Answer[apidoc.Losses]{Value: apidoc.Losses{Losses: f.losses(q.Node)}}, nil
	})
	docs.Serve(t, docs.Policy, func(context.Context, docs.No) (docs.Answer[apidoc.Policy], error) {
		return docs.Answer[apidoc.Policy]{Value: f.policy()}, nil
	})
	docs.Serve(t, docs.Pools, func(context.Context, docs.No) (docs.Answer[[]apidoc.Queue], error) {
		return docs.Answer[[]apidoc.Queue]{Value: f.queues()}, nil
	})
	docs.Serve(t, docs.Explanation, func(ctx context.Context, q docs.TaskID) (a docs.Answer[apidoc.Explanation], err error) {
		a.Value, err = f.Explain(ctx, q.Job, q.Task)
		return a, err
	})
	return t
}

// Change implements client.Admin as masters do.
func (f *fakeCluster) Change(ctx context.Context, q *wire.ChangeRequest) (*wire.ChangeResponse, error) {
	done, err := docs.Apply(ctx, f, docs.Change{Do: q.Do, ID: q.Id, Value: q.Value, Conf: q.Conf, UntilRestart: q.UntilRestart, User: "the user"})
	return &wire.ChangeResponse{Done: done.Done, To: done.To}, err
}

func (f *fakeCluster) policy() apidoc.Policy {
	return apidoc.Policy{
		Policy: "fair", Problem: "fifo decides: policy fair has panicked", Conf: map[string]string{"weight": "2", "line": "a\nb"},
		Allocations: &apidoc.AllocationFile{
			File: "pools.xml", Taken: submitted, Problems: []string{"pools.xml:3: <weight> of pool \"a\" \"-2\"; expected a number of 0 or more"},
			Warnings: []string{"pools.xml:7: <color> of pool \"b\", which is unknown and ignored; expected one of weight"},
		},
	}
}

func (f *fakeCluster) tasknodes() []apidoc.Tasknode {
	nodes := []apidoc.Tasknode{{
		Name: "n1", State: "RUNNING", Address: "n1:7071", HTTP: "n1:7081", Rack: "/rack1", Hosts: []string{"n1", "10.0.0.1"},
		MapSlots: 2, ReduceSlots: 1, MapsRunning: 1, LastHeartbeat: submitted + 5000, Load: 1.5, ClockSkew: -3,
		Directories: []apidoc.Directory{{Path: "/data1", Free: 5 << 30, Total: 10 << 30}, {Path: "/data2", Free: 3 << 20, Total: 10 << 30}},
		Attempts:    []string{"attempt_1763700000000_0001_m_000001_1"},
	}, {
		Name: "n3", State: "DECOMMISSIONING", Address: "n3:7071", HTTP: "n3:7081", MapSlots: 2, ReduceSlots: 1, LastHeartbeat: submitted + 5000,
		Draining: true, Attempts: []string{"attempt_1763700000000_0001_m_000007_0"}, Outputs: []string{"attempt_1763700000000_0001_m_000003_0"},
		Checkpoints: []string{"task_1763700000000_0001_r_000000"},
	}, {
		Name: "n4", State: "DECOMMISSIONED", Draining: true,
	}, {
		Name: "n2", State: "LOST", Address: "n2:7071", HTTP: "n2:7081", MapSlots: 2, ReduceSlots: 1,
		Directories: []apidoc.Directory{{Path: "/data1", Fault: "input/output error"}}, Lost: true,
	}, {
		Name: "n5", State: "DECOMMISSIONED", Draining: true, Lost: true,
	}}
	for i := range nodes {
		n := &nodes[i]
		n.Hosts, n.Directories, n.Attempts = append([]string{}, n.Hosts...), append([]apidoc.Directory{}, n.Directories...), append([]string{}, n.Attempts...)
	}
	return nodes
}

// losses has a loss whose tasks recover, and one without tasks.
func (f *fakeCluster) losses(node string) []apidoc.Loss {
	correct := int64(0)
	all := []apidoc.Loss{{
		Node: "n2", Time: submitted + 60_000, Cause: "lost", Running: 2, Outputs: 1, Started: 2, Maps: 1, Local: 1, WaitMillis: 3000,
		Tasks: []apidoc.LostTask{
			{Attempt: "attempt_1763700000000_0001_m_000001_0", State: "STARTED", WaitMillis: 1200, Recovery: "attempt_1763700000000_0001_m_000001_1", Node: "n1", Place: "node"},
			{Attempt: "attempt_1763700000000_0001_r_000000_0", State: "STARTED", WaitMillis: 1800, Recovery: "attempt_1763700000000_0001_r_000000_1", Node: "n1", Place: "any"},
			{Attempt: "attempt_1763700000000_0001_m_000000_0", Output: true, State: "WAITING"},
		},
	}, {Node: "n5", Time: submitted, Cause: "lost", Back: submitted + 5000, CorrectMillis: &correct, Tasks: []apidoc.LostTask{}}}
	return slices.DeleteFunc(all, func(l apidoc.Loss) bool { return node != "" && l.Node != node })
}

func (f *fakeCluster) AddMaster(id, address string) error {
	return f.change("add %s at %s", id, address)
}

// Backup writes what no backup looks like.
func (f *fakeCluster) Backup(_ context.Context, to io.Writer) error {
	_, err := io.WriteString(to, "hammr-backup 1\n{}")
	return err
}

func (f *fakeCluster) RemoveMaster(id string) error {
	if id == "m9" {
		return errors.New("remove m9: no such master: there are m1, m2, m3")
	}
	return f.change("remove %s", id)
}

func (f *fakeCluster) TransferLeadership(id string) error {
	return f.change("transfer to %q", id)
}

// submitted is the submit time of the first job, 2025-11-21 04:40:00 UTC.
const submitted = 1763700000000

func fakeJobs() []*wire.JobStatus {
	running := &wire.JobStatus{
		JobId: "job_1763700000000_0001", Name: "words of\nthe day", User: "ann", Queue: "nightly", Priority: "HIGH", SubmitHost: "gateway", State: wire.JobState_RUNNING,
		MapProgress: 0.75, ReduceProgress: 0.25, Maps: 2, MapsDone: 1, MapsRunning: 1, Reduces: 1,
		SubmitTime: submitted, StartTime: submitted + 100, OutputDir: "hdfs://nn/out",
		Counters: []*taskproc.Counter{{Group: "Job Counters ", Name: "Launched map tasks", Value: 3}},
		Tasks: []*wire.TaskStatus{
			{Id: "task_1763700000000_0001_m_000000", Kind: taskproc.Kind_MAP, State: wire.TaskState_TASK_SUCCEEDED, Attempts: []*wire.TaskStatus_Attempt{
				{Id: "attempt_1763700000000_0001_m_000000_0", Machine: "n1", State: wire.AttemptState_ATTEMPT_SUCCEEDED, StartTime: submitted + 100, FinishTime: submitted + 1350},
			}},
			{Id: "task_1763700000000_0001_m_000001", Kind: taskproc.Kind_MAP, State: wire.TaskState_TASK_RUNNING, Attempts: []*wire.TaskStatus_Attempt{
				{Id: "attempt_1763700000000_0001_m_000001_0", Machine: "n2", State: wire.AttemptState_ATTEMPT_FAILED, StartTime: submitted + 100, FinishTime: submitted + 200},
				{Id: "attempt_1763700000000_0001_m_000001_1", Machine: "n1", State: wire.AttemptState_ATTEMPT_RUNNING, StartTime: submitted + 300},
			}},
			{Id: "task_1763700000000_0001_r_000000", Kind: taskproc.Kind_REDUCE, State: wire.TaskState_TASK_PENDING},
		},
	}
	waiting := &wire.JobStatus{
		JobId: "job_1763700000000_0002", Name: "sort", User: "bob", Queue: "default", Priority: "NORMAL", State: wire.JobState_RUNNING, Maps: 4, SubmitTime: submitted + 2000,
		Reason: "4 map tasks wait for map slots",
		Tasks: []*wire.TaskStatus{
			{Id: "task_1763700000000_0002_m_000000", Kind: taskproc.Kind_MAP, State: wire.TaskState_TASK_CHECKPOINTED, Attempts: []*wire.TaskStatus_Attempt{
				{Id: "attempt_1763700000000_0002_m_000000_0", Machine: "n1", State: wire.AttemptState_ATTEMPT_PREEMPTED, StartTime: submitted + 2100, FinishTime: submitted + 2350},
			}},
			{Id: "task_1763700000000_0002_m_000001", Kind: taskproc.Kind_MAP, State: wire.TaskState_TASK_RUNNING, Attempts: []*wire.TaskStatus_Attempt{
				{Id: "attempt_1763700000000_0002_m_000001_0", Machine: "n1", State: wire.AttemptState_ATTEMPT_RUNNING, StartTime: submitted + 2300, Suspended: true},
			}},
		},
	}
	suspended := &wire.JobStatus{
		JobId: "job_1763700000000_0004", Name: "later", User: "cy", Queue: "default", Priority: "NORMAL", State: wire.JobState_RUNNING, Maps: 1, SubmitTime: submitted + 4000,
		Suspended: true, Reason: "it is suspended ('hammr job resume job_1763700000000_0004')",
	}
	failed := &wire.JobStatus{
		JobId: "job_1763700000000_0003", Name: "grep", User: "bob", Queue: "default", Priority: "NORMAL", Properties: map[string]string{"mapreduce.map.maxattempts": "1"}, State: wire.JobState_FAILED, Cause: "task_1763700000000_0003_m_000000 failed 4 times",
		Maps: 1, SubmitTime: submitted + 3000, StartTime: submitted + 3100, FinishTime: submitted + 5000,
		Phases: []*wire.Phase{{Name: "setup", StartTime: submitted + 3000, FinishTime: submitted + 3100}},
		Tasks: []*wire.TaskStatus{{Id: "task_1763700000000_0003_m_000000", Kind: taskproc.Kind_MAP, State: wire.TaskState_TASK_FAILED, Attempts: []*wire.TaskStatus_Attempt{
			{Id: "attempt_1763700000000_0003_m_000000_0", Machine: "n1", State: wire.AttemptState_ATTEMPT_FAILED, StartTime: submitted + 3100, FinishTime: submitted + 4900},
		}}},
		Failures: []*wire.FailureRecord{{
			Task: "task_1763700000000_0003_m_000000", Attempt: "attempt_1763700000000_0003_m_000000_0", Machine: "n1", Cause: "boom", Offset: -1,
		}},
	}
	return []*wire.JobStatus{running, waiting, failed, suspended}
}

// runOnFakeCluster runs a command on the fake cluster.
func runOnFakeCluster(t *testing.T, changes *[]string, line ...string) (code int, stdout, stderr string) {
	t.Helper()
	logs := fakeLogs{texts: map[string]string{
		"attempt_1763700000000_0001_m_000000_0/stderr": "hello\nworld\n\n", "attempt_1763700000000_0001_m_000001_1/stdout": "attempt_1763700000000_0001_m_000001_1 so far\n",
	}}
	r := clusterCommands{
		connect: func(f clusterFlags, _ func(error)) (clusterClient, error) {
			return &fakeCluster{address: f.masters, changes: changes, jobs: fakeJobs()}, nil
		},
		openSource: func(clusterFlags) (masterSource, error) { return logs, nil },
		zone:       time.UTC,
	}
	return runCommands(t, r, line...)
}

// runCommands runs a command with other constructors than the real ones.
func runCommands(t *testing.T, r clusterCommands, line ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Setenv("HAMMR_MASTER", "any:7070")
	t.Setenv("HADOOP_CONF_DIR", "")
	root := newRoot()
	root.RemoveCommand(root.Commands()...)
	for _, c := range r.all() {
		root.AddCommand(c.make())
	}
	var out, err bytes.Buffer
	code = executeOn(root, line, &out, &err)
	return code, out.String(), err.String()
}

// TestWait is not a golden test: lines of the console have times.
func TestWait(t *testing.T) {
	var changes []string
	code, stdout, stderr := runOnFakeCluster(t, &changes, "job", "wait", "job_1763700000000_0003")
	for _, text := range []string{
		"Running job: job_1763700000000_0003\n", " map 0% reduce 0%\n",
		"Job job_1763700000000_0003 failed with state FAILED due to: task_1763700000000_0003_m_000000 failed 4 times\n",
		"Failure of task_1763700000000_0003_m_000000\n  cause:   boom\n",
	} {
		if !strings.Contains(stderr, text) {
			t.Errorf("%q is not in\n%s", text, stderr)
		}
	}
	if code != exitFailed || stdout != "" {
		t.Errorf("exit code %d, stdout %q", code, stdout)
	}
	_, stdout, _ = runOnFakeCluster(t, &changes, "job", "wait", "job_1763700000000_0003", "--json")
	if doc, err := report.Parse([]byte(stdout)); err != nil || doc.State != report.Failed || doc.Queue != "default" {
		t.Errorf("as JSON: %v\n%s", err, stdout)
	}
	if code, _, stderr := runOnFakeCluster(t, &changes, "job", "wait", "job_1_0009", "--quiet"); code != exitFailed || !strings.HasPrefix(stderr, "hammr: Could not find job job_1_0009; 'hammr job list --all'") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	_, _, stderr = runOnFakeCluster(t, &changes, "job", "wait", "job_1763700000000_0002")
	if !strings.Contains(stderr, "Job job_1763700000000_0002 waits: 4 map tasks wait for map slots\n") {
		t.Errorf("a job that waits:\n%s", stderr)
	}
}
