package jobmaster_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
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

// addMixedMasters adds masters whose state has the version before the newest one. They ask for the common version, which
// the test sets.
func (w *testCluster) addMixedMasters(masters int) (common *atomic.Int64) {
	common = new(atomic.Int64)
	common.Store(cluster.FormatVersion - 1)
	w.configure = func(c *jobmaster.Config) {
		c.CommonVersion = func(context.Context) (int, error) {
			version := int(common.Load())
			if version < cluster.FormatVersion {
				return version, errors.New("master m2 supports an older version")
			}
			return version, nil
		}
	}
	for range masters {
		n := w.addMaster()
		w.logs[n].queue.Put(jobmaster.Restored{State: cluster.NewAt("1", cluster.FormatVersion-1)})
	}
	return common
}

// laterCommand has a field that only the newest version knows.
type laterCommand struct {
	cluster.SetPriority
	Later bool `version:"3"`
}

// requestLater asks the leader to propose a laterCommand.
func (w *testCluster) requestLater(job string) {
	id, err := cluster.ParseJobID(job)
	must.Do(w.t, err)
	w.leader().Request(laterCommand{cluster.SetPriority{Job: id, Priority: 2}, true})
}

// laterCommands returns how many of them the log has.
func (w *testCluster) laterCommands() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, batch := range w.mu.entries {
		for _, e := range batch {
			if _, is := e.Command.(laterCommand); is {
				n++
			}
		}
	}
	return n
}

// TestVersionRisesWhenAllMastersSupportIt leads a cluster with an older master. What that master
// does not know is refused and does not reach the log; all else works. When the older master is
// upgraded, the version rises once.
func TestVersionRisesWhenAllMastersSupportIt(t *testing.T) {
	withCluster(t, 0, func(w *testCluster) {
		common := w.addMixedMasters(2)
		w.elect(0)
		w.addTasknode("n", 1, 0)
		w.wantSucceeded(w.submitSpec(w.spec(1, 0)))
		job := w.submitSpec(w.another(1, 0))
		for range 3 {
			w.requestLater(job)
		}
		w.sleep(time.Minute)
		if got := w.raised(); len(got) != 0 || w.leader().ClusterVersion() != cluster.FormatVersion-1 || w.laterCommands() != 0 {
			t.Fatalf("raised to %v before all masters support it; %d later commands in the log", got, w.laterCommands())
		}
		common.Store(cluster.FormatVersion)
		w.sleep(2 * time.Second)
		if w.requestLater(job); w.laterCommands() != 0 {
			t.Error("the log has a command before the leader has proposed it")
		}
		w.sleep(time.Second)
		if w.laterCommands() != 1 {
			t.Error("a later command is refused after the version has risen")
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

// TestRefusedCommandsDelayNoOthers proposes commands of both versions together, while a batch is in the log.
func TestRefusedCommandsDelayNoOthers(t *testing.T) {
	withCluster(t, 0, func(w *testCluster) {
		w.addMixedMasters(1)
		w.elect(0)
		w.addTasknode("n", 1, 0)
		first := w.submitSpec(w.spec(1, 0))
		w.delayProposals(0)
		w.leader().Request(cluster.SetPools{Names: []string{"a"}}) // its way through the log is delayed
		w.sleep(time.Second)
		older := make(chan string, 1)
		w.requestLater(first)
		go func() { older <- w.submitSpec(w.another(1, 0)) }()
		w.sleep(time.Second)
		w.delayProposals(-1)
		w.wantSucceeded(<-older)
		if w.laterCommands() != 0 {
			t.Error("the log has a command of a later version")
		}
	})
}

// TestNewClusterHasTheNewestVersion starts a cluster whose masters all support the same.
func TestNewClusterHasTheNewestVersion(t *testing.T) {
	withCluster(t, 0, func(w *testCluster) {
		w.addMixedMasters(1).Store(cluster.FormatVersion)
		w.elect(0)
		w.sleep(10 * time.Millisecond)
		if got := w.leader().ClusterVersion(); got != cluster.FormatVersion {
			t.Errorf("a new cluster has version %d", got)
		}
	})
}

// TestTasknodesSupportTheNewestVersion is a reminder: if a cluster version is added, JobVersion rises with it.
func TestTasknodesSupportTheNewestVersion(t *testing.T) {
	if taskproc.JobVersion != cluster.FormatVersion {
		t.Errorf("tasknodes support version %d, masters %d", taskproc.JobVersion, cluster.FormatVersion)
	}
}

// attach attaches a tasknode that supports a cluster version. ended gets the cause when the
// master ends its session.
func (w *testCluster) attach(name string, version int32) (ended chan error, err error) {
	w.t.Helper()
	synctest.Wait()
	ended = make(chan error, 1)
	hello := &wire.Report{Machine: name, Report: &wire.Report_Joined_{Joined: &wire.Report_Joined{Instance: name, MapSlots: 1, JobVersion: version}}}
	_, err = w.leader().Attach(w.ctx, hello, func(*wire.Order) {}, func(cause error) { ended <- cause })
	synctest.Wait()
	return ended, err
}

// wantTooOld checks that an error is a refusal of an old tasknode.
func (w *testCluster) wantTooOld(what string, err error) {
	w.t.Helper()
	if !errors.Is(err, cluster.ErrRefused) || !strings.Contains(err.Error(), "tasknode old supports cluster version 2, and the cluster has version 3: start it with the version of hammr") {
		w.t.Errorf("%s: %v", what, err)
	}
}

// TestVersionWaitsForTasknodes has an older tasknode, and a new leader to which it has not attached yet. The version
// rises when it is upgraded. From then on, an older one is refused.
func TestVersionWaitsForTasknodes(t *testing.T) {
	withCluster(t, 0, func(w *testCluster) {
		w.expiry = time.Hour
		common := w.addMixedMasters(2)
		w.elect(0)
		if _, err := w.attach("old", cluster.FormatVersion-1); err != nil {
			t.Fatal(err)
		}
		common.Store(cluster.FormatVersion)
		w.sleep(time.Minute)
		w.elect(1)
		w.sleep(time.Minute)
		if got := w.raised(); len(got) != 0 {
			t.Errorf("raised to %v while a tasknode is old", got)
		}
		if _, err := w.attach("old", cluster.FormatVersion); err != nil {
			t.Fatal(err)
		}
		w.sleep(2 * time.Second)
		if got := w.raised(); !slices.Equal(got, []int{cluster.FormatVersion}) {
			t.Errorf("raised to %v when the tasknode is new", got)
		}
		_, err := w.attach("old", cluster.FormatVersion-1)
		w.wantTooOld("it is old again", err)
	})
}

// TestOldTasknodeJoinsWhileTheVersionRises attaches an old tasknode while SetVersion is on its way through the log.
func TestOldTasknodeJoinsWhileTheVersionRises(t *testing.T) {
	withCluster(t, 0, func(w *testCluster) {
		common := w.addMixedMasters(1)
		w.elect(0)
		w.sleep(time.Second)
		w.delayProposals(0)
		common.Store(cluster.FormatVersion)
		w.sleep(2 * time.Second)
		ended, err := w.attach("old", cluster.FormatVersion-1)
		must.Do(t, err)
		w.delayProposals(-1)
		synctest.Wait()
		select {
		case cause := <-ended:
			w.wantTooOld("the session", cause)
		default:
			t.Error("the session of the old tasknode lasts")
		}
	})
}
