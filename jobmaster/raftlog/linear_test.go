package raftlog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/testlevel"
	"github.com/hammr/hammr/jobmaster"
)

const (
	linearClients = 4
	opsPerFault   = 12 // operations of clients before a fault ends, and after it
	linearPause   = 5 * time.Millisecond
)

// linearTest runs clients that submit, kill and list jobs at any master that answers, and
// that check the output of their jobs. Each operation is repeated until its outcome is
// known.
type linearTest struct {
	t       testing.TB
	servers []*server
	began   time.Time
	over    chan struct{}
	done    atomic.Int64 // operations
	jobs    atomic.Int64 // the highest job number that a client knows
	names   sync.Map     // of those jobs, by number

	mu struct {
		sync.Mutex
		history []porcupine.Operation
	}
}

// TestMastersAreLinearizable runs clients while leaders are cut off or restarted. It
// checks that what they saw fits a cluster that does one operation at a time: no
// submission is lost or carried out twice, a killed job never runs again, a finished job
// stays finished, and its output is complete. At night there are several clusters instead of one that lives
// longer, since the race detector bounds what one goroutine may synchronize.
func TestMastersAreLinearizable(t *testing.T) {
	for n := range testlevel.Choose(1, 10) {
		t.Run(fmt.Sprint(n), func(t *testing.T) { checkLinearizable(t, testlevel.Choose(6, 20)) })
	}
}

// checkLinearizable runs a cluster whose leader is lost so many times.
func checkLinearizable(t *testing.T, rounds int) {
	inVirtualTime(t, func(t *testing.T) {
		l := &linearTest{t: t, servers: startServers(t, 3), began: time.Now(), over: make(chan struct{})}
		var clients sync.WaitGroup
		for n := range linearClients {
			clients.Go(func() { l.client(n) })
		}
		for round := range rounds {
			leader := l.awaitLeader()
			l.awaitOps()
			if round%2 == 0 {
				leader.cable.set(true)
				l.awaitOps()
				leader.cable.set(false)
			} else {
				leader.end()
				l.awaitOps()
				leader.start()
			}
		}
		l.awaitOps()
		close(l.over)
		clients.Wait()
		verdict, info := porcupine.CheckOperationsVerbose(linearModel, l.mu.history, time.Minute)
		t.Logf("%d operations on %d jobs, %d errs: %s", len(l.mu.history), l.jobs.Load(), rounds, verdict)
		if verdict == porcupine.Ok {
			return
		}
		longest := slices.MaxFunc(info.PartialLinearizationsOperations()[0], func(a, b []porcupine.Operation) int { return len(a) - len(b) })
		show := func(what string, ops []porcupine.Operation) {
			for _, op := range ops {
				t.Logf("%s: %d to %d µs, %s", what, op.Call/1000, op.Return/1000, linearModel.DescribeOperation(op.Input, op.Output))
			}
		}
		rest := slices.DeleteFunc(slices.Clone(l.mu.history), func(op porcupine.Operation) bool { return slices.Contains(longest, op) })
		show("in order", longest[max(0, len(longest)-8):])
		show("none of these can follow", rest[:min(8, len(rest))])
		t.Errorf("not linearizable after these, of %d operations", len(longest))
	})
}

func (l *linearTest) client(number int) {
	random := rand.New(rand.NewPCG(uint64(number), 6))
	master := number
	for sequence := uint64(1); ; sequence++ {
		select {
		case <-l.over:
			return
		case <-time.After(linearPause):
		}
		switch n := random.IntN(10); {
		case n < 3:
			l.submit(number, &master, sequence, random.IntN(2))
		case n < 5 && l.jobs.Load() > 0:
			l.kill(number, &master, 1+random.IntN(int(l.jobs.Load())))
		case n < 7 && l.jobs.Load() > 0:
			l.look(number, &master, 1+random.IntN(int(l.jobs.Load())))
		default:
			l.list(number, &master)
		}
	}
}

// do repeats an operation until a master has answered, and records it.
func (l *linearTest) do(client int, master *int, input any, call func(ctx context.Context, log *Log, m *jobmaster.Master) (any, error)) {
	began := time.Since(l.began)
	for {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		log, m := l.servers[*master%len(l.servers)].now()
		output, err := call(ctx, log, m)
		cancel()
		if err == nil {
			l.mu.Lock()
			l.mu.history = append(l.mu.history, porcupine.Operation{
				ClientId: client, Input: input, Output: output, Call: int64(began), Return: int64(time.Since(l.began)),
			})
			l.mu.Unlock()
			l.done.Add(1)
			return
		}
		*master++
		<-time.After(linearPause)
	}
}

// submit submits a job. Without maps it finishes at once; with one it never does, since
// there are no tasknodes.
func (l *linearTest) submit(client int, master *int, sequence uint64, maps int) {
	name := fmt.Sprintf("c%d-%d", client, sequence)
	spec := stage(l.t, l.servers[0].fs, name, maps)
	spec.Name, spec.ClientId, spec.Sequence = name, fmt.Sprint("c", client), sequence
	spec.OutputDir = "mem:///out/" + name
	l.do(client, master, submission{spec.Name}, func(ctx context.Context, _ *Log, m *jobmaster.Master) (any, error) {
		id, err := m.Submit(ctx, spec)
		if err != nil {
			return nil, err
		}
		number := numberOf(l.t, id)
		l.names.Store(number, name)
		for known := l.jobs.Load(); int64(number) > known && !l.jobs.CompareAndSwap(known, int64(number)); known = l.jobs.Load() {
		}
		return number, nil
	})
}

func (l *linearTest) kill(client int, master *int, job int) {
	l.do(client, master, killing{job}, func(ctx context.Context, _ *Log, m *jobmaster.Master) (any, error) {
		return nil, m.Kill(ctx, cluster.JobID{Cluster: "1", Number: job}.String(), "a client wants it")
	})
}

// look reads the output of a job, without any master.
func (l *linearTest) look(client int, master *int, job int) {
	name, known := l.names.Load(job)
	if !known {
		return // the client that submitted it has no answer yet
	}
	l.do(client, master, looking{job}, func(ctx context.Context, _ *Log, _ *jobmaster.Master) (any, error) {
		_, err := l.servers[0].fs.Stat(ctx, fmt.Sprintf("/out/%s/%s", name, jobmaster.SuccessName))
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return err == nil, err
	})
}

// list reads as masters do for clients: after they have confirmed their lead.
func (l *linearTest) list(client int, master *int) {
	l.do(client, master, listing{}, func(ctx context.Context, log *Log, m *jobmaster.Master) (any, error) {
		if err := log.ConfirmLead(ctx); err != nil {
			return nil, err
		}
		jobs, err := m.Jobs(ctx, true)
		if err != nil {
			return nil, err
		}
		var seen []string
		for _, j := range jobs {
			letter := "R"
			switch j.State {
			case wire.JobState_SUCCEEDED:
				letter = "D"
			case wire.JobState_ABORTING, wire.JobState_KILLED:
				letter = "K"
			case wire.JobState_FAILED:
				letter = "F" // no state of the model allows it
				l.t.Logf("%s has failed: %s", j.JobId, j.Cause)
			}
			seen = append(seen, j.Name+":"+letter)
		}
		return jobList(strings.Join(seen, " ")), nil
	})
}

func (l *linearTest) awaitLeader() (leader *server) {
	l.await("a master leads", func() bool {
		i := slices.IndexFunc(l.servers, (*server).leads)
		if i >= 0 {
			leader = l.servers[i]
		}
		return i >= 0
	})
	return leader
}

// awaitOps waits until clients have done further operations.
func (l *linearTest) awaitOps() {
	enough := l.done.Load() + opsPerFault
	l.await("clients get answers", func() bool { return l.done.Load() >= enough })
}

func (l *linearTest) await(what string, cond func() bool) {
	l.t.Helper()
	deadline := time.After(patience)
	for !cond() {
		select {
		case <-time.After(linearPause):
		case <-deadline:
			l.t.Fatalf("never: %s", what)
		}
	}
}
