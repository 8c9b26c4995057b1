package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/jobmaster/server"
)

// masterAt serves the calls of a master whose clock is ahead of this machine's, and returns its address.
func masterAt(t *testing.T, ahead time.Duration) string {
	t.Helper()
	s := httptest.NewServer(server.New(server.Config{Now: func() time.Time { return time.Now().Add(ahead) }}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// TestClock asks masters whose clocks are off, and servers that are no masters.
func TestClock(t *testing.T) {
	target := newTarget(t)
	expect(t, run(t, target, "clock"), want{Skipped, "no masters"})
	strange := httptest.NewServer(http.NotFoundHandler())
	defer strange.Close()
	target.Masters = []string{
		masterAt(t, 0), masterAt(t, 3700*time.Millisecond), masterAt(t, -time.Minute), masterAt(t, 7*time.Second),
		refusing(t), strange.Listener.Addr().String(),
	}
	expect(t, run(t, target, "clock"), want{OK, "its clock is"}, want{Warn, "ahead of this machine's"}, want{Fault, "behind this machine's"},
		want{Fault, "ahead of"}, want{Warn, "does not answer"}, want{Warn, "is no jobmaster"})
}

// TestOffset checks that the true difference is within the uncertainty, whenever the answer was made.
func TestOffset(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := time.UnixMilli(rapid.Int64Range(1e12, 2e12).Draw(t, "before"))
		took := time.Duration(rapid.Int64Range(0, int64(10*time.Second)).Draw(t, "took"))
		answered := time.Duration(rapid.Int64Range(0, int64(took)).Draw(t, "answered"))
		truth := time.Duration(rapid.Int64Range(-int64(time.Hour), int64(time.Hour)).Draw(t, "ahead"))
		date := before.Add(answered + truth).Truncate(time.Second)
		ahead, uncertainty := offset(date, before, before.Add(took))
		if (ahead - truth).Abs() > uncertainty+1 {
			t.Fatalf("ahead by %v ± %v, in truth %v", ahead, uncertainty, truth)
		}
		if uncertainty > took/2+time.Second/2+1 {
			t.Fatalf("uncertainty %v of an answer after %v", uncertainty, took)
		}
	})
}

func TestVersions(t *testing.T) {
	target := newTarget(t)
	expect(t, run(t, target, "versions"), want{Skipped, "no masters"})
	old := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set(rpc.HeaderProtocol, "1") }))
	defer old.Close()
	current := masterAt(t, 0)
	target.Version, target.Masters = "v2.0.0", []string{current, old.Listener.Addr().String(), refusing(t)}
	expect(t, run(t, target, "versions"), want{OK, "as this program does"}, want{Fault, "version 1 of the protocol"}, want{Warn, "does not answer"})
	target.Masters = nil
	for release, w := range map[string]want{"v2.0.0": {OK, "is v2.0.0"}, "v1.9.0": {Warn, "is v1.9.0, this program is v2.0.0"}, "": {OK, "protocol"}} {
		target.View = &View{Masters: []MasterView{{ID: "m1", Address: current, Answer: rpc.Answer{Info: &wire.Info{Version: release}}}}}
		expect(t, run(t, target, "versions"), w)
	}
}

// answering is a cluster that answers from memory.
type answering struct {
	info  *wire.Info
	err   error
	nodes []apidoc.Tasknode
}

func (a answering) Info(context.Context) (*wire.Info, error) { return a.info, a.err }
func (a answering) Read(ctx context.Context, path string) ([]byte, error) {
	t := docs.Table{}
	docs.Serve(t, docs.Nodes, func(context.Context, docs.No) (docs.Answer[[]apidoc.Tasknode], error) {
		return docs.Answer[[]apidoc.Tasknode]{Value: a.nodes}, a.err
	})
	return t.Answer(ctx, path)
}
func (a answering) Close() error { return nil }

// viewOf looks at a cluster of n masters, of which the last ones do not answer; m1 leads in term 7.
func viewOf(t *testing.T, n, silent int, change func(id string, info *wire.Info)) *View {
	t.Helper()
	about := func() *wire.Info {
		info := &wire.Info{ClusterId: "1", Leader: "m1", Term: 7}
		for i := range n {
			state := "follower"
			if i == 0 {
				state = "leader"
			}
			info.Masters = append(info.Masters, &wire.Info_Master{Id: fmt.Sprintf("m%d", i+1), Address: fmt.Sprintf("10.0.0.%d:7070", i+1), State: state})
		}
		return info
	}
	return Look(t.Context(), answering{info: about(), nodes: []apidoc.Tasknode{{Name: "n1"}}}, func(address string) (rpc.Asked, error) {
		info := about()
		for i, m := range info.Masters {
			if m.Address == address && i >= n-silent {
				return nil, errors.New("connection refused")
			}
			if m.Address == address && change != nil {
				change(m.Id, info)
			}
		}
		return answering{info: info}, nil
	})
}

func TestMasters(t *testing.T) {
	leaderIs := func(leader string) func(string, *wire.Info) {
		return func(_ string, info *wire.Info) { info.Leader = leader }
	}
	for name, c := range map[string]struct {
		view *View
		want []want
	}{
		"one":        {viewOf(t, 1, 0, nil), []want{{OK, "m1 at 10.0.0.1:7070: leader"}, {OK, "m1 leads in term 7"}, {OK, "0 may fail"}}},
		"three":      {viewOf(t, 3, 0, nil), []want{{OK, ""}, {OK, "m2 at 10.0.0.2:7070: follower"}, {OK, ""}, {OK, "m1 leads"}, {OK, "1 may fail"}}},
		"one silent": {viewOf(t, 3, 1, nil), []want{{OK, ""}, {OK, ""}, {Fault, "m3 at 10.0.0.3:7070 does not answer: connection refused"}, {OK, "m1 leads"}, {Warn, "if one more fails"}}},
		"two silent": {viewOf(t, 3, 2, leaderIs("")), []want{{OK, ""}, {Fault, ""}, {Fault, ""}, {Fault, "no master leads in term 7"}, {Fault, "1 of 3 masters answer, which is no majority"}}},
		"four":       {viewOf(t, 4, 0, nil), []want{{OK, ""}, {OK, ""}, {OK, ""}, {OK, ""}, {OK, ""}, {Warn, "an even number"}}},
		"two opinions": {viewOf(t, 3, 0, func(id string, info *wire.Info) {
			if id == "m2" {
				info.Leader = "m3"
			}
		}), []want{{OK, ""}, {OK, ""}, {OK, ""}, {Warn, `m2 knows "m3"`}, {OK, ""}}},
		"an old opinion": {viewOf(t, 3, 0, func(id string, info *wire.Info) {
			if id != "m2" {
				info.Leader, info.Term = "m3", 8
			}
		}), []want{{OK, ""}, {OK, ""}, {OK, ""}, {OK, "m3 leads in term 8"}, {OK, ""}}},
		"none answers": {Look(t.Context(), answering{err: errors.New("no leading master found")}, nil), []want{{Fault, "no master answers: no leading"}}},
	} {
		t.Run(name, func(t *testing.T) {
			target := newTarget(t)
			target.View = c.view
			expect(t, run(t, target, "masters"), c.want...)
		})
	}
}

// TestReplication reads the metrics of real pages, of which one is that of another master at the same address.
func TestReplication(t *testing.T) {
	pages := make(map[string]string)
	for id, committed := range map[string]int{"m1": 50_000, "m2": 40_000, "m3": 39_999, "m5": 1} {
		page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/metrics" {
				fmt.Fprintf(w, "hammr_raft_commit_index %d\n", committed)
				return
			}
			fmt.Fprintf(w, "jobmaster %s of cluster 1\n\n/health\n", id)
		}))
		defer page.Close()
		pages[id] = page.Listener.Addr().String()
	}
	pages["m4"] = pages["m3"]
	target := newTarget(t)
	target.View = viewOf(t, 5, 1, func(id string, info *wire.Info) {
		for _, m := range info.Masters {
			if m.Id == id {
				m.Http = pages[id]
			}
		}
	})
	expect(t, run(t, target, "replication"), want{OK, "m1: leads, entry 50000"}, want{OK, "m2: entry 40000 of 50000"},
		want{Warn, "m3: 10001 entries behind"}, want{Skipped, "m4: its page is not reachable"})
}

func TestTasknodes(t *testing.T) {
	target := newTarget(t)
	target.View = &View{TasknodesErr: errors.New("no leader")}
	for _, check := range []string{"tasknodes", "tasknode-clocks", "pages", "shuffle-ports", "racks", "block-locations"} {
		expect(t, run(t, target, check), want{Skipped, "no leader"})
	}
	target.View = &View{}
	expect(t, run(t, target, "tasknodes"), want{Warn, "no tasknodes"})
	target.View.Tasknodes = []apidoc.Tasknode{
		{Name: "n1", State: "RUNNING"},
		{Name: "n2", State: "LOST", Lost: true, LastHeartbeat: 1_763_700_000_000},
		{Name: "n3", State: "SILENT"},
		{Name: "n4", State: "UNHEALTHY", Unhealthy: "ERROR fan is broken"},
		{Name: "n5", State: "DECOMMISSIONING", Draining: true},
		{Name: "n6", State: "DECOMMISSIONED"},
		{Name: "n8", State: "DECOMMISSIONED", Lost: true},
		{Name: "n7", State: "RUNNING", Suspicion: "5 attempts failed",
			Directories: []apidoc.Directory{{Path: "/a"}, {Path: "/b", Fault: "read-only file system"}}},
	}
	expect(t, run(t, target, "tasknodes"), want{OK, "1 of 8"}, want{Fault, "n2: LOST, last heartbeat 2025-11-21 04:40:00 UTC"}, want{Fault, "n3: SILENT"},
		want{Fault, "n4: unhealthy: ERROR fan"}, want{Warn, "n5: draining"}, want{Warn, "n6: DECOMMISSIONED"}, want{OK, "n8: DECOMMISSIONED, and stopped"},
		want{Warn, "n7: avoided"}, want{Fault, "n7: directory /b is not used: read-only"})
}

func TestTasknodeClocks(t *testing.T) {
	target := newTarget(t)
	target.View = &View{Tasknodes: []apidoc.Tasknode{
		{Name: "n1", ClockSkew: 1999}, {Name: "n2", ClockSkew: -2000}, {Name: "n3", ClockSkew: 4999}, {Name: "n4", ClockSkew: 5000},
		{Name: "n5", ClockSkew: 9000, Lost: true}, {Name: "n6"},
	}}
	expect(t, run(t, target, "tasknode-clocks"), want{OK, "the clocks of 2 tasknodes"}, want{Warn, "n2: its clock is 2s behind the leader's"},
		want{Warn, "n3"}, want{Fault, "n4: its clock is 5s ahead of"})
	target.View.Tasknodes = target.View.Tasknodes[4:5]
	expect(t, run(t, target, "tasknode-clocks"), want{Skipped, "lost"})
	expect(t, run(t, target, "shuffle-ports"), want{Skipped, "lost"})
}

// TestPagesAndShufflePorts has a tasknode that is well, one whose disks are broken, and one that is not reachable.
func TestPagesAndShufflePorts(t *testing.T) {
	sick := func() error { return errors.New("/data1: read-only file system") }
	target := newTarget(t)
	target.View = &View{Tasknodes: []apidoc.Tasknode{
		{Name: "n1", HTTP: pageOf(t, daemon.PageConfig{Title: "tasknode n1"}), Address: listen(t).Addr().String()},
		{Name: "n2", HTTP: pageOf(t, daemon.PageConfig{Title: "tasknode n2", Health: sick}), Address: listen(t).Addr().String()},
		{Name: "n3", HTTP: refusing(t), Address: refusing(t)},
		{Name: "n4", HTTP: refusing(t), Address: refusing(t), State: "SILENT"},
	}}
	expect(t, run(t, target, "pages"), want{OK, "the pages of 1 tasknodes"}, want{Fault, "/data1: read-only"}, want{Fault, "n3: page"})
	expect(t, run(t, target, "shuffle-ports"), want{OK, "the shuffle servers of 2 tasknodes"}, want{Fault, "n3: shuffle server"})
}

func TestRacks(t *testing.T) {
	node := func(name, rack string) apidoc.Tasknode { return apidoc.Tasknode{Name: name, Rack: rack} }
	target := newTarget(t)
	for _, c := range []struct {
		nodes []apidoc.Tasknode
		want  want
	}{
		{[]apidoc.Tasknode{node("a", ""), node("b", "/default-rack")}, want{OK, "no tasknode has a rack"}},
		{[]apidoc.Tasknode{node("a", "/r1"), node("b", "/r2"), node("c", "/r2")}, want{OK, "3 tasknodes in 2 racks"}},
		{[]apidoc.Tasknode{node("a", "/r1"), {Name: "b", Lost: true}}, want{OK, "1 tasknodes in 1 racks"}},
		{[]apidoc.Tasknode{node("a", "/r1"), node("b", ""), node("c", "/default-rack")}, want{Warn, "1 racks, but these tasknodes have none: b, c"}},
	} {
		target.View = &View{Tasknodes: c.nodes}
		expect(t, run(t, target, "racks"), c.want)
	}
	var many []apidoc.Tasknode
	for i := range 12 {
		many = append(many, node(fmt.Sprint(i), ""))
	}
	if got := names(many); got != "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 others" {
		t.Errorf("names: %s", got)
	}
}

func TestBlockLocations(t *testing.T) {
	target := newTarget(t)
	all := []apidoc.Tasknode{{Name: "n1", Hosts: []string{"a", "10.0.0.1"}}, {Name: "n2", Hosts: []string{"b"}}}
	target.View = &View{Tasknodes: all, Info: &wire.Info{StagingDir: "file:///staging"}}
	expect(t, run(t, target, "block-locations"), want{Skipped, "not on HDFS"})
	target.View.Info.StagingDir = "hdfs://" + refusing(t) + "/staging"
	target.Resolve = nil
	expect(t, run(t, target, "block-locations"), want{Skipped, "no file could be made"})
	expect(t, []Finding{
		judgeLocations([]string{"c", "10.0.0.1"}, all), judgeLocations([]string{"b:9866"}, all), judgeLocations([]string{"c", "d"}, all), judgeLocations(nil, all),
	}, want{OK, "which n1 is"}, want{OK, "n2"}, want{Warn, "no tasknode is there"}, want{Fault, "names no host"})
}
