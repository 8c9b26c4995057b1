package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
)

// Clusters that tests share, by their flags. A test that changes more than jobs, priorities and the
// states of tasknodes has a cluster of its own.
var (
	oneOfEach    = []string{"--masters", "1", "--tasknodes", "1", "--pools", "nightly,adhoc"}
	threeMasters = []string{"--masters", "3", "--tasknodes", "2", "--pools", "nightly,adhoc"}
)

// sharedClusters are the clusters that tests share. One test at a time has a cluster: a test takes one
// that is idle, or starts another one. After the test the cluster is idle again if it is as it was
// after its start, and otherwise it ends.
//
//	start ──► a test has it ──► fit? ──► idle ──► a test has it ──► …
//	                             └──no──► ended
//
// So there are at most as many clusters of a size as tests that run in parallel.
var sharedClusters struct {
	sync.Mutex
	dir     string // of all clusters
	started int
	idle    map[string][]*processes // by flags
}

// sharedEngine returns a cluster of oneOfEach or threeMasters that the test has for itself.
func sharedEngine(t *testing.T, size []string) *engine {
	t.Helper()
	p, err := takeShared(t.Context(), size)
	must.Do(t, err)
	e := p.engine(t)
	t.Cleanup(func() {
		e.showLogs()
		err := p.fit()
		if err == nil && !t.Failed() {
			idleShared(size, p)
			return
		}
		t.Logf("the shared cluster ends after this test: %v", err)
		must.Do(t, p.close())
	})
	return e
}

func takeShared(ctx context.Context, size []string) (*processes, error) {
	s, key := &sharedClusters, strings.Join(size, " ")
	s.Lock()
	if idle := s.idle[key]; len(idle) > 0 {
		s.idle[key] = idle[1:]
		s.Unlock()
		return idle[0], nil
	}
	s.started++
	dir := filepath.Join(s.dir, fmt.Sprint(s.started))
	s.Unlock()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return startProcesses(ctx, dir, hammr, size)
}

func idleShared(size []string, p *processes) {
	s, key := &sharedClusters, strings.Join(size, " ")
	s.Lock()
	defer s.Unlock()
	if s.idle == nil {
		s.idle = make(map[string][]*processes)
	}
	s.idle[key] = append(s.idle[key], p)
}

// closeShared ends all clusters that are idle.
func closeShared() (err error) {
	sharedClusters.Lock()
	defer sharedClusters.Unlock()
	for _, idle := range sharedClusters.idle {
		for _, p := range idle {
			err = errors.Join(err, p.close())
		}
	}
	return err
}

// fitLimit bounds how long the check of a cluster waits for the last job's end.
const fitLimit = 10 * time.Second

// fit returns an error if the cluster is not as it was after its start: the same daemons run, all
// tasknodes take tasks, no job runs, and the policy is the first one.
func (p *processes) fit() error {
	ctx, cancel := context.WithTimeout(context.Background(), fitLimit)
	defer cancel()
	client := p.cluster.Client()
	for _, m := range p.state.Masters {
		if now, err := p.cluster.Process(m.ID); err != nil || now.PID != m.PID || !now.Alive() {
			return fmt.Errorf("%s has ended: %+v, %v", m.ID, now, err)
		}
	}
	info, err := client.LeaderInfo(ctx)
	if err != nil || len(info.Masters) != len(p.state.Masters) || slices.ContainsFunc(info.Masters, func(m *wire.Info_Master) bool { return m.State == "unreachable" }) {
		return fmt.Errorf("masters %v, %v", info.GetMasters(), err)
	}
	nodes, err := docs.Nodes.From(ctx, client, docs.No{})
	if err != nil || len(nodes) != len(p.state.Tasknodes) || slices.ContainsFunc(nodes, func(n apidoc.Tasknode) bool { return n.State != "RUNNING" }) {
		return fmt.Errorf("tasknodes %v, %v", nodes, err)
	}
	for _, n := range p.state.Tasknodes {
		if now, err := p.cluster.Process(n.Name); err != nil || now.PID != n.PID || !now.Alive() {
			return fmt.Errorf("%s has ended: %+v, %v", n.Name, now, err)
		}
	}
	jobs, err := docs.AllJobs.From(ctx, client, docs.AllQuery{})
	if err != nil || len(jobs) > 0 {
		return fmt.Errorf("jobs %v, %v", jobs, err)
	}
	policy, err := docs.Policy.From(ctx, client, docs.No{})
	if err != nil || policy.Policy != "fifo" || len(policy.Conf) > 0 {
		return fmt.Errorf("policy %v, %v", policy, err)
	}
	return nil
}
