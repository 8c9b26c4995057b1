package raftlog

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/jobmaster"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// logs receives all log lines; os.Stderr helps when a test fails.
var logs io.Writer = io.Discard

// patience is how long tests wait for an event.
const patience = 30 * time.Second

// changes are notified when a member has changed, by test: a channel belongs to one bubble.
var changes sync.Map // of *broadcast, by testing.TB

// changesOf returns the broadcast of a test.
func changesOf(t testing.TB) *broadcast {
	if b, ok := changes.Load(t); ok {
		return b.(*broadcast)
	}
	b, loaded := changes.LoadOrStore(t, &broadcast{next: make(chan struct{})})
	if !loaded {
		t.Cleanup(func() { changes.Delete(t) })
	}
	return b.(*broadcast)
}

type broadcast struct {
	mu   sync.Mutex
	next chan struct{} // closed at the next change
}

func (b *broadcast) notify() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.next)
	b.next = make(chan struct{})
}

// await waits until cond holds; it is checked after every change.
func (b *broadcast) await(t testing.TB, what string, cond func() bool) {
	t.Helper()
	deadline := time.After(patience)
	for {
		b.mu.Lock()
		next := b.next
		b.mu.Unlock()
		if cond() {
			return
		}
		select {
		case <-next:
		case <-deadline:
			t.Fatalf("never: %s", what)
		}
	}
}

// member is a master that only applies what its log yields. The names of its jobs, in
// order, are what was committed.
type member struct {
	t       testing.TB
	cfg     Config
	log     *Log
	stop    chan struct{}
	stopped sync.WaitGroup
	fatal   chan error

	mu struct {
		sync.Mutex
		state     *cluster.State
		batches   [][]string // names in each batch since the start, repeated ones included
		term      uint64     // 0 while it follows
		terms     []uint64   // terms in which it led
		snapshots int        // number of SnapshotWanted events
		restored  int        // number of Restored events
		mine      []string   // proposed in this lead and not committed yet
	}
}

// testConfig has short timeouts.
func testConfig(t testing.TB, id string) Config {
	return Config{
		ID: id, ClusterID: "1", Dir: t.TempDir(),
		ElectionTimeout: 400 * time.Millisecond, Logger: slog.New(slog.NewTextHandler(logs, &slog.HandlerOptions{Level: slog.LevelDebug})).With("master", id),
	}
}

func startMember(t testing.TB, cfg Config) *member {
	t.Helper()
	m := &member{t: t, fatal: make(chan error, 1), stop: make(chan struct{})}
	cfg.Fatal = func(err error) { m.fatal <- err }
	if cfg.Stream == nil {
		cfg.Stream = listen(cfg.Advertise)
	}
	m.mu.state = cluster.New(cfg.ClusterID)
	log, err := Open(cfg)
	must.Do(t, err)
	cfg.Advertise, cfg.Stream = log.stream.advertise.String(), nil // so that a restarted member has the same address
	m.cfg, m.log = cfg, log
	m.stopped.Go(m.run)
	t.Cleanup(m.close)
	return m
}

// startCluster starts n members of a new cluster.
func startCluster(t testing.TB, n int, change func(*Config)) []*member {
	t.Helper()
	var configs []Config
	var peers []Peer
	for i := range n {
		cfg := testConfig(t, fmt.Sprintf("m%d", i+1))
		cfg.Stream = listen("")
		peers = append(peers, Peer{cfg.ID, cfg.Stream.Addr().String()})
		configs = append(configs, cfg)
	}
	var members []*member
	for _, cfg := range configs {
		cfg.Bootstrap = peers
		if change != nil {
			change(&cfg)
		}
		members = append(members, startMember(t, cfg))
	}
	return members
}

// restart reopens the log of a member with an empty state.
func (m *member) restart(change func(*Config)) *member {
	m.t.Helper()
	m.close()
	cfg := m.cfg
	if change != nil {
		change(&cfg)
	}
	return startMember(m.t, cfg)
}

func (m *member) close() {
	if m.log == nil {
		return
	}
	if err := m.log.Close(); err != nil {
		m.t.Errorf("closing %s: %v", m.cfg.ID, err)
	}
	close(m.stop)
	m.stopped.Wait()
	m.log = nil
}

func (m *member) run() {
	for {
		select {
		case event := <-m.log.Events():
			m.take(event)
			changesOf(m.t).notify()
		case <-m.stop:
			return
		}
	}
}

func (m *member) take(event jobmaster.LogEvent) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch e := event.(type) {
	case jobmaster.Committed:
		m.apply(e.Batch)
	case jobmaster.Leading:
		if m.mu.term != 0 || e.Term == 0 {
			m.t.Errorf("%s leads in term %d while it leads in term %d", m.cfg.ID, e.Term, m.mu.term)
		}
		m.mu.term = e.Term
		m.mu.terms = append(m.mu.terms, e.Term)
	case jobmaster.Following:
		if m.mu.term == 0 {
			m.t.Errorf("%s gets Following while it follows", m.cfg.ID)
		}
		m.mu.term, m.mu.mine = 0, nil
	case jobmaster.SnapshotWanted:
		e.Answer <- m.mu.state.Snapshot()
		m.mu.snapshots++
	case jobmaster.Restored:
		m.mu.state = e.State
		m.mu.restored++
	}
}

func (m *member) apply(batch []cluster.Entry) {
	var names []string
	for _, e := range batch {
		names = append(names, e.Command.(cluster.SubmitJob).Spec.Name)
		if _, err := m.mu.state.Apply(e); err != nil {
			m.t.Errorf("%s: %v", m.cfg.ID, err)
		}
	}
	m.mu.batches = append(m.mu.batches, names)
	if m.mu.term != 0 && !slices.Equal(names, m.mu.mine) {
		m.t.Errorf("%s leads, proposed %v and is handed %v", m.cfg.ID, m.mu.mine, names)
	}
	m.mu.mine = nil
}

// batch returns an entry for each name. The same name twice is the same entry.
func batch(first int, names ...string) []cluster.Entry {
	var entries []cluster.Entry
	for i, name := range names {
		entries = append(entries, cluster.Entry{
			At: 1, Client: "test", Sequence: uint64(first + i + 1),
			Command: cluster.SubmitJob{Spec: cluster.JobSpec{
				Name: name, Graph: dag.MapReduce(1, 0), MaxAttempts: [2]int{1, 1},
			}},
		})
	}
	return entries
}

func numbered(n int) []cluster.Entry { return batch(n, fmt.Sprint(n)) }

// await waits until cond holds, which it calls with the lock held.
func (m *member) await(what string, cond func() bool) {
	m.t.Helper()
	changesOf(m.t).await(m.t, m.cfg.ID+" "+what, func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return cond()
	})
}

func (m *member) awaitLead() {
	m.t.Helper()
	m.await("leads", func() bool { return m.mu.term != 0 })
}

// awaitNames waits until exactly these jobs exist.
func (m *member) awaitNames(want []string) {
	m.t.Helper()
	m.await(fmt.Sprintf("has %d jobs up to %s", len(want), want[len(want)-1]), func() bool {
		return slices.Equal(m.namesLocked(), want)
	})
}

func (m *member) names() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.namesLocked()
}

func (m *member) namesLocked() (names []string) {
	for j := range m.mu.state.View().Jobs() {
		names = append(names, j.Spec.Name)
	}
	return names
}

// proposeAll commits the numbers one after the other, under any leader.
func proposeAll(t testing.TB, members []*member, from, to int) {
	t.Helper()
	for n := from; n < to; n++ {
		for !propose(t, awaitLeader(t, members), n) {
		}
	}
}

// propose proposes a batch if the member leads, as a jobmaster does.
func (m *member) propose(batch []cluster.Entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mu.term == 0 {
		return
	}
	m.mu.mine = nil
	for _, e := range batch {
		m.mu.mine = append(m.mu.mine, e.Command.(cluster.SubmitJob).Spec.Name)
	}
	m.log.Propose(batch)
}

// propose reports whether the number was committed before the lead was over.
func propose(t testing.TB, leader *member, n int) (done bool) {
	t.Helper()
	leader.mu.Lock()
	leads, before := len(leader.mu.terms), len(leader.mu.batches)
	leader.mu.Unlock()
	leader.propose(numbered(n))
	leader.await(fmt.Sprintf("commits %d or follows", n), func() bool {
		done = len(leader.mu.batches) > before
		return done || leader.mu.term == 0 || len(leader.mu.terms) != leads
	})
	return done
}

// stall blocks every write of the member's log until resume is called. If the test ends
// before, the writes fail.
func (m *member) stall() (resume func()) {
	resumed, ended := make(chan struct{}), make(chan struct{})
	wait := func() error {
		select {
		case <-resumed:
			return nil
		case <-ended:
			return errors.New("the store stalls for ever")
		}
	}
	m.log.store.before.Store(&wait)
	m.t.Cleanup(func() { close(ended) }) // before the member is closed
	return func() { close(resumed) }
}

// upTo returns the names of the first n numbered batches.
func upTo(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprint(i))
	}
	return names
}

// awaitLeader waits until one of the members leads.
func awaitLeader(t testing.TB, members []*member) (leader *member) {
	t.Helper()
	changesOf(t).await(t, "a master leads", func() bool {
		i := slices.IndexFunc(members, func(m *member) bool {
			m.mu.Lock()
			defer m.mu.Unlock()
			return m.mu.term != 0
		})
		if i >= 0 {
			leader = members[i]
		}
		return i >= 0
	})
	return leader
}

func without(members []*member, gone *member) (rest []*member) {
	for _, m := range members {
		if m != gone {
			rest = append(rest, m)
		}
	}
	return rest
}

// checkSameOrder checks that every member's batches are a prefix of the longest, and
// that each term has one leader.
func checkSameOrder(t testing.TB, members []*member) {
	t.Helper()
	var all [][]string
	ledBy := make(map[uint64]string)
	for _, m := range members {
		m.mu.Lock()
		for _, term := range m.mu.terms {
			if ledBy[term] != "" {
				t.Errorf("%s and %s lead in term %d", ledBy[term], m.cfg.ID, term)
			}
			ledBy[term] = m.cfg.ID
		}
		var flat []string
		for _, names := range m.mu.batches {
			flat = append(flat, strings.Join(names, " "))
		}
		m.mu.Unlock()
		all = append(all, flat)
	}
	longest := slices.MaxFunc(all, func(a, b []string) int { return len(a) - len(b) })
	for i, batches := range all {
		if !slices.Equal(batches, longest[:len(batches)]) {
			t.Errorf("%s has %v, another %v", members[i].cfg.ID, batches, longest)
		}
	}
}
