package jobmaster_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/jobmaster"
)

// raised returns the versions that the log was raised to.
func (w *testCluster) raised() (versions []int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, batch := range w.mu.entries {
		for _, e := range batch {
			if c, ok := e.Command.(cluster.SetVersion); ok {
				versions = append(versions, c.Version)
			}
		}
	}
	return versions
}

// mixed makes masters added from now on ask for the common version, which the test sets.
func (w *testCluster) mixed() (common *atomic.Int64) {
	common = new(atomic.Int64)
	common.Store(cluster.FirstVersion)
	w.configure = func(c *jobmaster.Config) {
		c.CommonVersion = func(context.Context) (int, error) {
			version := int(common.Load())
			if version < cluster.FormatVersion {
				return version, errors.New("master m2 supports cluster version 1")
			}
			return version, nil
		}
	}
	return common
}

// sharedFilesSpec returns a job whose graph needs cluster version 2.
func (w *testCluster) sharedFilesSpec() *wire.JobSpec {
	g := dag.Graph{
		Stages: []dag.Stage{{Name: "map", Nodes: 1}, {Name: "one", Nodes: 1}, {Name: "two", Nodes: 1}},
		Edges: []dag.Edge{
			{From: "map", To: "one", Connection: dag.OneToOne},
			{From: "map", To: "two", Connection: dag.OneToOne, FilesOf: "one"},
		},
	}
	spec := w.another(1, 0)
	spec.Graph, spec.Fingerprint = taskproc.FromGraph(g), g.Fingerprint()
	return spec
}

// TestVersionRisesWhenAllMastersSupportIt leads a cluster with an older master. What that master
// does not know is refused and does not reach the log; all else works. When the older master is
// upgraded, the version rises once.
func TestVersionRisesWhenAllMastersSupportIt(t *testing.T) {
	withCluster(t, 0, func(w *testCluster) {
		common := w.mixed()
		w.addMaster()
		w.addMaster()
		w.elect(0)
		w.addTasknode("n", 1, 0)
		w.wantSucceeded(w.submitSpec(w.spec(1, 0)))
		newer := w.staged(w.sharedFilesSpec())
		for range 3 {
			began := time.Now()
			_, err := w.leader().Submit(w.ctx, newer)
			if !errors.Is(err, cluster.ErrRefused) || !strings.Contains(err.Error(), "this submit_job needs cluster version 2, and the cluster has version 1") || time.Since(began) > time.Second {
				t.Fatalf("after %v: %v", time.Since(began), err)
			}
		}
		w.sleep(time.Minute)
		if got := w.raised(); len(got) != 0 || w.leader().ClusterVersion() != cluster.FirstVersion {
			t.Fatalf("raised to %v before all masters support it", got)
		}
		common.Store(cluster.FormatVersion)
		w.sleep(2 * time.Second)
		if _, err := w.leader().Submit(w.ctx, newer); err != nil {
			t.Errorf("after the version has risen: %v", err)
		}
		for n, m := range w.masters {
			if got := m.ClusterVersion(); got != cluster.FormatVersion {
				t.Errorf("master %d has version %d", n, got)
			}
		}
		w.elect(1)
		w.sleep(time.Minute)
		if got := w.raised(); len(got) != 1 {
			t.Errorf("raised to %v", got)
		}
		if version, err := w.leader().LeaderVersion(w.ctx); err != nil || version != cluster.FormatVersion {
			t.Errorf("the second leader has version %d, %v", version, err)
		}
		if _, err := w.masters[0].LeaderVersion(w.ctx); !errors.Is(err, jobmaster.ErrNotLeader) {
			t.Errorf("a follower answers %v", err)
		}
	})
}

// TestRefusedCommandsDelayNoOthers submits jobs of both versions while a batch is in the log, so
// that they are proposed together.
func TestRefusedCommandsDelayNoOthers(t *testing.T) {
	withCluster(t, 0, func(w *testCluster) {
		w.mixed()
		w.addMaster()
		w.elect(0)
		w.delayProposals(0)
		w.addTasknode("n", 1, 0) // its joining is delayed
		w.sleep(time.Second)
		newer, older := make(chan error, 1), make(chan string, 1)
		first := w.staged(w.sharedFilesSpec())
		go func() {
			_, err := w.leader().Submit(w.ctx, first)
			newer <- err
		}()
		go func() { older <- w.submitSpec(w.spec(1, 0)) }()
		w.sleep(time.Second)
		w.delayProposals(-1)
		if err := <-newer; !errors.Is(err, cluster.ErrRefused) {
			t.Errorf("the job of version 2: %v", err)
		}
		w.wantSucceeded(<-older)
	})
}

// TestNewClusterHasTheNewestVersion starts a cluster whose masters all support the same.
func TestNewClusterHasTheNewestVersion(t *testing.T) {
	withCluster(t, 0, func(w *testCluster) {
		w.mixed().Store(cluster.FormatVersion)
		w.addMaster()
		w.elect(0)
		w.sleep(10 * time.Millisecond)
		if got := w.leader().ClusterVersion(); got != cluster.FormatVersion {
			t.Errorf("a new cluster has version %d", got)
		}
	})
}
