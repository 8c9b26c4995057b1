package redteam

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
)

// sequence numbers mallory's submissions.
var sequence atomic.Uint64

// stageProgram stages the hostile program, as mallory.
func (w *world) stageProgram(t *testing.T) {
	t.Helper()
	image, err := os.ReadFile(hostile)
	must.Do(t, err)
	w.programSum = w.stageArtifact(t, image, image)
}

// stageArtifact stages a file under the name of another content.
func (w *world) stageArtifact(t *testing.T, named, content []byte) (sum []byte) {
	t.Helper()
	hash := sha256.Sum256(named)
	must.Do(t, os.WriteFile(w.artifact(hash[:]), content, 0o644))
	w.mallory.own(t, w.artifact(hash[:]))
	return hash[:]
}

// artifact returns the name of a staged program.
func (w *world) artifact(sum []byte) string {
	return w.path("shared", "staging", "artifacts", hex.EncodeToString(sum))
}

// spec returns a submission of mallory that is in order: a job with one map, whose attempts make
// the attack of this name. Its splits are staged.
func (w *world) spec(t *testing.T, attack string, graph dag.Graph, properties ...string) *wire.JobSpec {
	t.Helper()
	n := sequence.Add(1)
	s := &wire.JobSpec{
		Name: "hostile", Program: "hostile", User: w.mallory.name, ClientId: "mallory", Sequence: n,
		OutputDir: "file://" + w.path("out", fmt.Sprintf("mallory-%d", n)),
		Binary:    "file://" + w.artifact(w.programSum), BinarySha256: w.programSum,
		Properties: map[string]string{
			"redteam.attack": attack, "mapreduce.map.memory.mb": "256", "mapreduce.reduce.memory.mb": "256",
			"mapreduce.map.maxattempts": "1", "mapreduce.reduce.maxattempts": "1",
			"mapreduce.map.speculative": "false", "mapreduce.job.reduce.slowstart.completedmaps": "0",
		},
	}
	for i := 0; i < len(properties); i += 2 {
		s.Properties[properties[i]] = properties[i+1]
	}
	setGraph(s, graph)
	splits := make([]*taskproc.Split, min(graph.Stages[0].Nodes, 10))
	for i := range splits {
		splits[i] = &taskproc.Split{Parts: []*taskproc.Split_Part{{Path: "file:///etc/hostname", Length: 1, FileSize: 1}}}
	}
	w.stageSplits(t, s, splits)
	return s
}

func setGraph(s *wire.JobSpec, g dag.Graph) {
	s.Graph, s.Fingerprint = taskproc.FromGraph(g), g.Fingerprint()
}

// stageSplits stages the splits of a submission, as mallory. The masters may remove them.
func (w *world) stageSplits(t *testing.T, s *wire.JobSpec, splits []*taskproc.Split) {
	t.Helper()
	data, hash, err := taskproc.EncodeSplits(splits)
	must.Do(t, err)
	file := w.path("shared", "staging", "jobs", fmt.Sprintf("%s-%d", s.ClientId, s.Sequence), "splits")
	must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
	must.Do(t, os.Chmod(filepath.Dir(file), 0o777))
	must.Do(t, os.WriteFile(file, data, 0o644))
	w.mallory.own(t, filepath.Dir(file), file)
	s.SplitsPath, s.SplitsHash = "file://"+file, hash
}

// submit submits a job.
func (w *world) submit(t *testing.T, s *wire.JobSpec) (id string, err error) {
	t.Helper()
	answer, err := rpc.Call(t.Context(), w.masters, (*rpc.Master).Submit, &wire.SubmitRequest{Spec: s})
	return answer.GetJobId(), err
}

// outcome submits a job and returns why it was refused or has failed.
func (w *world) outcome(t *testing.T, s *wire.JobSpec) string {
	t.Helper()
	id, err := w.submit(t, s)
	if err != nil {
		return err.Error()
	}
	end := w.await(t, id, func(s *wire.JobStatus) bool { return s.FinishTime != 0 })
	if end.State != wire.JobState_FAILED {
		t.Errorf("the job is %v: %s", end.State, end.Cause)
	}
	text := end.Cause
	for _, f := range end.Failures {
		text += "\n" + f.GetCause()
	}
	return text
}

// hostileTask returns an attack of the tasks of a job with one map and one reduce.
func hostileTask(name string, properties ...string) func(*testing.T, *world) string {
	return func(t *testing.T, w *world) string {
		return w.outcome(t, w.spec(t, name, dag.MapReduce(1, 1), properties...))
	}
}

// hostileWriter returns an attack of the task of a job with one map and no reduces.
func hostileWriter(name string, properties ...string) func(*testing.T, *world) string {
	return func(t *testing.T, w *world) string {
		return w.outcome(t, w.spec(t, name, dag.MapReduce(1, 0), properties...))
	}
}

// changed returns an attack by a submission that differs from a good one.
func changed(change func(*wire.JobSpec)) func(*testing.T, *world) string {
	return func(t *testing.T, w *world) string {
		s := w.spec(t, "wait", dag.MapReduce(1, 1))
		change(s)
		return w.outcome(t, s)
	}
}

// asUser returns an attack by a submission in another user's name.
func asUser(name string) func(*testing.T, *world) string {
	return changed(func(s *wire.JobSpec) { s.User = name })
}

// submissions are attacks by what a client submits.
func submissions(w *world) []attack {
	const staged = "clients stage them as file:/"
	precious := "file://" + w.path("precious", "splits")
	return []attack{
		{"C1", "job of root", []string{"may not run tasks on this machine, because its uid 0 is below --min-uid 1000"}, asUser("root")},
		{"C1", "job without a user", []string{"the job names no user, and a tasknode that runs as root runs tasks only as their users"}, asUser("")},
		{"C1", "job of a user with a low uid", []string{"because its uid 1 is below --min-uid 1000"}, asUser("daemon")},
		{"C1", "job of a banned user", []string{"because it is one of --banned-users"}, asUser("bin")},
		{"C1", "job of the uid 0 as a name", []string{`user "0", who submitted the job`}, asUser("0")},
		{"C1", "job of a user who is an option", []string{"not a valid name of a user"}, asUser("--help")},
		{"C1", "job of an unknown user", []string{"no account on this machine"}, asUser("hammr-nobody")},
		{"C2b", "2147483647 maps", []string{"tasks of the job exceed the limit of 1000000; raise hammr.limits.tasks.per.job"},
			changed(func(s *wire.JobSpec) { setGraph(s, dag.MapReduce(1<<31-1, 1)) })},
		{"C2b", "2147483647 Nodes in each of ten stages", []string{"tasks of the job exceed the limit"}, changed(func(s *wire.JobSpec) {
			g := dag.MapReduce(1, 0)
			for i := range 10 {
				g.Stages = append(g.Stages, dag.Stage{Name: fmt.Sprintf("s%d", i), Nodes: 1<<31 - 1, Slots: dag.SlotMap})
			}
			setGraph(s, g)
		})},
		{"C2b", "mapreduce.job.reduces=1000000", []string{"partitions (reduces) exceed the limit of 100000; raise hammr.limits.partitions"},
			changed(func(s *wire.JobSpec) { setGraph(s, dag.MapReduce(1, 999_999)) })},
		{"C2b", "specification of 16 MiB", []string{"configuration and properties of the job: 16.0 MiB, more than the 8 MiB that hammr.limits.spec.bytes allows"},
			changed(func(s *wire.JobSpec) { s.Properties["my.list"] = strings.Repeat("x", 16<<20) })},
		{"C2b", "message of 70 MiB", []string{"message size", "larger than configured max"},
			changed(func(s *wire.JobSpec) { s.Properties["my.list"] = strings.Repeat("x", 70<<20) })},
		{"H1", "root's file as the program", []string{staged}, changed(func(s *wire.JobSpec) {
			s.Binary, s.BinarySha256 = "file://"+w.path("precious", "secret"), make([]byte, 32)
		})},
		{"H1", "/dev/zero as the program", []string{staged}, changed(func(s *wire.JobSpec) { s.Binary = "file:///dev/zero" })},
		{"H1", "staged link to root's file, with its checksum", []string{"too many levels of symbolic links"}, func(t *testing.T, w *world) string {
			return w.runArtifact(t, sha256.Sum256([]byte(w.before[w.path("precious", "secret")])), func(name string) error { return os.Symlink(w.path("precious", "secret"), name) })
		}},
		{"H1", "staged FIFO", []string{"not a regular file"}, func(t *testing.T, w *world) string {
			return w.runArtifact(t, sha256.Sum256([]byte("fifo")), makeFIFO)
		}},
		{"H1", "staged program larger than --max-program", []string{"more than 67108864 bytes, the limit of --max-program"}, func(t *testing.T, w *world) string {
			return w.runArtifact(t, sha256.Sum256([]byte("large")), func(name string) error {
				return errors.Join(os.WriteFile(name, nil, 0o644), os.Truncate(name, maxProgram+1))
			})
		}},
		{"M10", "staged program with other content", []string{"the file has been changed since the job was submitted"}, otherProgram},
		{"M10", "staged splits with other content", []string{"damaged file of splits"}, otherSplits},
		{"H2", "alice's file as the splits", []string{staged}, changed(func(s *wire.JobSpec) { s.SplitsPath = precious })},
		{"H2", "splits above the staging directory", []string{staged}, changed(func(s *wire.JobSpec) {
			s.SplitsPath = strings.TrimSuffix(s.SplitsPath, "splits") + "../../../../precious/splits"
		})},
		{"H2", "client id with a path", []string{"client id"}, changed(func(s *wire.JobSpec) { s.ClientId, s.SplitsPath = "../../../precious/x", precious })},
		{"H2", "staged link to alice's file", []string{"damaged file of splits"}, func(t *testing.T, w *world) string {
			s := w.spec(t, "wait", dag.MapReduce(1, 1))
			file := strings.TrimPrefix(s.SplitsPath, "file://")
			must.Do(t, errors.Join(os.Remove(file), os.Symlink(w.path("precious", "splits"), file)))
			return w.outcome(t, s)
		}},
		{"H4", "logs in a directory of the job's choice", []string{"logs are kept only in directories below"},
			changed(func(s *wire.JobSpec) { s.Properties["hammr.job.log.dir"] = "file:///etc/hammr-redteam" })},
		{"H4", "logs above the cluster's directory", []string{"logs are kept only in directories below"}, changed(func(s *wire.JobSpec) {
			s.Properties["hammr.job.log.dir"] = "file://" + w.path("shared", "joblogs", "..", "..", "precious")
		})},
	}
}

// runArtifact runs a program that make stages under the name of a checksum.
func (w *world) runArtifact(t *testing.T, sum [32]byte, make func(name string) error) string {
	s := w.spec(t, "wait", dag.MapReduce(1, 1))
	s.Binary, s.BinarySha256 = "file://"+w.artifact(sum[:]), sum[:]
	must.Do(t, make(w.artifact(sum[:])))
	return w.outcome(t, s)
}

// otherProgram stages a program under the name of another. The refusal must not contain the checksum
// of the staged file.
func otherProgram(t *testing.T, w *world) string {
	content := []byte("#!/bin/sh\nid\n")
	sum := w.stageArtifact(t, []byte("harmless"), content)
	s := w.spec(t, "wait", dag.MapReduce(1, 1))
	s.Binary, s.BinarySha256 = "file://"+w.artifact(sum), sum
	refusal := w.outcome(t, s)
	if real := sha256.Sum256(content); strings.Contains(refusal, hex.EncodeToString(real[:])) {
		t.Errorf("the refusal has the checksum of the file:\n%s", refusal)
	}
	return refusal
}

// otherSplits replaces the splits of a job after their hash was taken.
func otherSplits(t *testing.T, w *world) string {
	s := w.spec(t, "wait", dag.MapReduce(1, 1))
	hash := s.SplitsHash
	w.stageSplits(t, s, []*taskproc.Split{{Parts: []*taskproc.Split_Part{{Path: "file://" + w.path("precious", "part"), Length: 5, FileSize: 5}}}})
	s.SplitsHash = hash
	return w.outcome(t, s)
}
