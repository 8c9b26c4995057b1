package e2e

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/client/remote"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/ops/launch"
	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
)

// freeAddress returns an address on which no process listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	addresses, err := launch.FreePorts("127.0.0.1", 1)
	must.Do(t, err)
	return addresses[0]
}

// joining is a master that waits to be added to a cluster.
type joining struct {
	*process
	id, address string
}

func (e *engine) join(id string, flags ...string) joining {
	e.t.Helper()
	return e.joinWith(hammr, id, flags...)
}

// joinWith does the same as join, with another program.
func (e *engine) joinWith(program, id string, flags ...string) joining {
	e.t.Helper()
	j := joining{id: id, address: freeAddress(e.t)}
	j.process = start(e.t, command{program: program, daemon: true, args: append([]string{
		"jobmaster", "--id", id, "--join", "--cluster-id", e.state.ID, "--dir", filepath.Join(e.t.TempDir(), id),
		"--address", j.address, "--http", "127.0.0.1:0", "--staging", "file://" + filepath.Join(e.dir, "staging"),
		"--token-file", filepath.Join(e.dir, localcluster.TokenFile),
	}, flags...)})
	waitUntil(e.t, id+" listens", func() bool {
		conn, err := net.Dial("tcp", j.address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return j
}

// stop stops a master as an operator does.
func (j joining) stop(t *testing.T) {
	t.Helper()
	must.Do(t, j.cmd.Process.Signal(syscall.SIGTERM))
	j.wait(t).want(t, 0)
}

// masters returns the leader and the states of the masters by id, from `master status`.
func (e *engine) masters() (leader string, states map[string]string) {
	e.t.Helper()
	var status struct {
		Leader  string
		Masters []struct{ ID, State string }
	}
	e.json(&status, "master", "status")
	states = make(map[string]string)
	for _, m := range status.Masters {
		states[m.ID] = m.State
	}
	return status.Leader, states
}

// masterIs reports whether the leader lists a master in a state. It is false without a leader.
func (e *engine) masterIs(id, state string) bool {
	ctx, cancel := context.WithTimeout(e.t.Context(), time.Second)
	defer cancel()
	info, err := e.cluster.Client().LeaderInfo(ctx)
	return err == nil && slices.ContainsFunc(info.Masters, func(m *wire.Info_Master) bool { return m.Id == id && m.State == state })
}

// transfer makes a master the leader, as soon as it can lead.
func (e *engine) transfer(id string) {
	e.t.Helper()
	waitUntil(e.t, id+" takes the lead", func() bool {
		ctx, cancel := context.WithTimeout(e.t.Context(), 10*time.Second)
		defer cancel()
		return client.Change(ctx, e.cluster.Client(), "master.transfer", id, "") == nil
	})
}

// TestMastersAreAddedAndRemoved adds a fourth and a fifth master while a job runs and others are
// submitted, transfers leadership to one of them, and removes two of the first three. Each
// job runs once.
func TestMastersAreAddedAndRemoved(t *testing.T) {
	t.Parallel()
	e := newEngine(t, "--masters", "3", "--tasknodes", "2")
	j := startSlowJob(t, e)
	m4, m5 := e.join("m4"), e.join("m5")
	few := newFile(t, "in", []byte("a b a\n"))
	var others []string
	submit := func() {
		others = append(others, e.submit("wordcount", few, filepath.Join(t.TempDir(), "out")))
	}
	for _, m := range []joining{m4, m5} {
		e.done("master", "add", m.id, m.address)
		submit()
	}
	e.done("master", "transfer", "m4")
	submit()
	if leader, states := e.masters(); leader != "m4" || len(states) != 5 || states["m5"] != "follower" {
		t.Errorf("%s leads %v", leader, states)
	}
	start(t, e.command("master", "remove", "m4")).wait(t).want(t, 1, "it is the leader: transfer leadership to another master first")
	start(t, e.command("master", "remove", "m9")).wait(t).want(t, 1, "no such master: there are m1, m2, m3, m4, m5")
	e.done("master", "remove", "m1")
	submit()
	e.done("master", "remove", "m2")
	submit()
	for _, m := range e.state.Masters[:2] {
		must.Do(t, syscall.Kill(m.PID, syscall.SIGKILL))
	}
	if leader, states := e.masters(); leader != "m4" || len(states) != 3 || states["m3"] != "follower" {
		t.Errorf("%s leads %v", leader, states)
	}
	if again := j.succeeds(t); again != 0 {
		t.Errorf("%d attempts were made again", again)
	}
	for _, id := range others {
		e.awaitSuccess(id)
	}
	if list := e.done("job", "list", "--all").stdout; !strings.Contains(list, fmt.Sprintf("Total jobs:%d\n", 1+len(others))) {
		t.Errorf("jobs %v and %s:\n%s", others, j.id, list)
	}
	m5.stop(t) // the other masters are a majority
	e.done("node", "list")
	e.done("master", "transfer", "m3")
	waitUntil(t, "the leader misses m5", func() bool { return e.masterIs("m5", "unreachable") })
	start(t, e.command("master", "remove", "m4")).wait(t).want(t, 1, "there would be no majority, since m5 does not answer")
	e.done("master", "remove", "m5")
	e.done("master", "remove", "m4")
	m4.stop(t)
	e.done("job", "status", j.id)
}

// TestTasknodesLearnNewMasters replaces the only master that the tasknodes were started with by
// three others, and ends the one that leads: the tasknodes find its successor, which they have never
// talked to.
func TestTasknodesLearnNewMasters(t *testing.T) {
	t.Parallel()
	e := newEngine(t, "--masters", "1", "--tasknodes", "2")
	var joined []joining
	for _, id := range []string{"m2", "m3", "m4"} {
		m := e.join(id)
		e.done("master", "add", m.id, m.address)
		joined = append(joined, m)
	}
	e.done("master", "transfer", "m2")
	waitUntil(t, "the tasknodes have followed", func() bool { return e.nodesIn("RUNNING") == 2 })
	e.done("master", "remove", "m1")
	must.Do(t, syscall.Kill(e.state.Masters[0].PID, syscall.SIGKILL))
	joined[0].stop(t)
	others := joined[1].address + "," + joined[2].address
	c := e.client(remote.Config{}, strings.Split(others, ",")...)
	waitUntil(t, "the tasknodes have found the next leader", func() bool {
		nodes, err := docs.LiveNodes(t.Context(), c)
		must.Do(t, err)
		return len(nodes) == 2 && nodes[0].State == "RUNNING" && nodes[1].State == "RUNNING"
	})
	out := filepath.Join(t.TempDir(), "out")
	wordcount := e.command("run", "wordcount", "--quiet", newFile(t, "in", []byte("a b a\n")), out)
	wordcount.env = append(wordcount.env, "HAMMR_MASTER="+others)
	start(t, wordcount).wait(t).want(t, 0)
}

// TestRestartedMasterRemembers stops a master that was added and starts it again without the
// addresses of the others.
func TestRestartedMasterRemembers(t *testing.T) {
	t.Parallel()
	e := newEngine(t, "--masters", "3")
	m4 := e.join("m4")
	e.done("master", "add", m4.id, m4.address)
	m4.stop(t)
	again := start(t, command{daemon: true, args: slices.DeleteFunc(slices.Clone(m4.cmd.Args[1:]), func(arg string) bool { return arg == "--join" })})
	c := e.client(remote.Config{}, m4.address)
	waitUntil(t, "m4 follows again", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		info, err := c.Info(ctx)
		return err == nil && info.AnsweredBy == "m4" && info.Leader != "" && info.Leader != "m4" && len(info.Masters) == 4
	})
	must.Do(t, again.cmd.Process.Signal(os.Interrupt))
	if r := again.wait(t); r.code != 0 || strings.Contains(r.stderr, "level=ERROR") {
		t.Errorf("exit code %d\n%s", r.code, r.stderr)
	}
}
