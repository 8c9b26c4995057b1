package fleet

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/httpserver"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/tasknode"
	"github.com/hammr/hammr/tasknode/masterlink"
)

// machine is a tasknode whose tasks are timers. It has the tables of tasknode.Daemon:
//
//	Start ──► attempts ── timer ──► unacked ── Acknowledge ──► (nothing)
//	                        └─────► retained, a map of a job with reduces ── RemoveJob, DropCopy ──► (nothing)
//
// Only the loop uses the tables.
type machine struct {
	fleet   *Fleet
	name    string
	rack    string
	address string
	server  net.Listener // at address
	masters *rpc.Masters
	inbox   *syncutil.Mailbox[func()]
	traffic traffic
	away    atomic.Int64 // until when the machine has no network, ns since the epoch

	instance string
	session  tasknode.Session // nil if there is none
	silentAt time.Time        // when the last session became silent; unused while there is one
	excused  time.Time        // when the attempts were excused last because of silence
	attempts map[string]*attempt
	pending  tasknode.PendingProgress // of the attempts
	unacked  map[string]*wire.Report
	retained map[string]*wire.Report // final reports of attempts with outputs
	jobs     map[string]*job
	freed    [2][]time.Time // when slots of each kind became free, oldest first
	beat     time.Time      // when the next heartbeat is due
	progress time.Time      // when the next progress reports are due
}

// job is what a machine knows about a job.
type job struct {
	Job
	known    map[string]bool // attempts that were ordered, so that none is started twice
	outputs  outputs
	complete bool // all maps have finished
}

func (f *Fleet) newMachine(i int) (*machine, error) {
	m := &machine{
		fleet: f, name: fmt.Sprintf("f%04d", i), rack: fmt.Sprintf("/rack%d", i/f.cfg.RackSize),
		inbox: syncutil.NewMailbox[func()](), instance: rand.Text(),
		attempts: make(map[string]*attempt), unacked: make(map[string]*wire.Report),
		retained: make(map[string]*wire.Report), jobs: make(map[string]*job),
	}
	if i%100 < f.cfg.SlowPercent {
		m.traffic.delay = f.cfg.SlowDelay
	}
	// Machines must not report all at the same moment.
	phase := f.cfg.Heartbeat * time.Duration(i) / time.Duration(f.cfg.Machines)
	now := time.Now()
	m.beat, m.progress, m.silentAt = now.Add(phase), now.Add(phase/2), now
	var err error
	if m.server, err = net.Listen("tcp", net.JoinHostPort(addressOf(i).String(), "0")); err != nil {
		return nil, err
	}
	m.address = m.server.Addr().String()
	m.masters, err = rpc.New(rpc.Config{
		Masters: f.cfg.Masters, Token: f.cfg.Token, ClusterID: f.cfg.ClusterID, Timeout: time.Second, Dial: m.dialer(i),
	})
	if err != nil {
		return nil, errors.Join(err, m.server.Close())
	}
	return m, nil
}

// answer answers the masters' probes at the machine's address, as the shuffle server and the page
// of a tasknode do. While the machine is away, its answer does not arrive. It must not refuse: a master
// that is refused declares the tasknode dead at once.
func (m *machine) answer(ctx context.Context) {
	server := httpserver.New(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if time.Now().UnixNano() < m.away.Load() {
			<-r.Context().Done()
		}
	}), nil)
	server.BaseContext = func(net.Listener) context.Context { return ctx }
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	_ = server.Serve(m.server) // it ends with ctx
}

// run is the loop. It ends with ctx.
func (m *machine) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.inbox.Ready():
			m.excuseSilence(time.Now()) // before masters' orders end attempts because of it
			for _, do := range m.inbox.Take() {
				do()
			}
		case <-timer.C:
		}
		timer.Reset(time.Until(m.advance(time.Now())))
	}
}

// advance does what is due, and returns when it must be called again.
func (m *machine) advance(now time.Time) (next time.Time) {
	if !now.Before(m.progress) {
		m.progress = now.Add(progressInterval)
		m.noteProgress(now)
		m.sendJoined(m.pending.Flush(now, false))
	}
	if !now.Before(m.beat) {
		m.excuseSilence(now)
		m.beat = now.Add(m.fleet.cfg.Heartbeat)
		heartbeat := &wire.Report_Heartbeat{Clock: now.UnixMilli(), MemoryAvailable: 64 << 30}
		m.sendJoined(append(m.pending.Flush(now, true), &wire.Report{Report: &wire.Report_Heartbeat_{Heartbeat: heartbeat}}))
	}
	next = m.beat
	if len(m.attempts) > 0 && m.progress.Before(next) {
		next = m.progress
	}
	for _, a := range m.attempts {
		if a.runs() && !now.Before(a.end) {
			m.end(a, a.result())
		} else if a.runs() && a.end.Before(next) {
			next = a.end
		}
	}
	return next
}

// connect keeps a session with the leading master, as tasknode.Daemon does, except while the
// machine is away.
func (m *machine) connect(ctx context.Context) {
	link := masterlink.NewLink(m.masters)
	for wait := firstRetry; ctx.Err() == nil; wait = min(2*wait, lastRetry) {
		if syncutil.Sleep(ctx, time.Until(time.Unix(0, m.away.Load()))) != nil {
			return
		}
		session, err := link.Connect(ctx, m.hello())
		if err == nil {
			wait = firstRetry
			err = m.serve(ctx, session)
			m.fleet.counts.sessions.Add(1)
		}
		m.fleet.note(m.name, err)
		_ = syncutil.Sleep(ctx, wait) // the loop's condition notices the end of ctx
	}
}

// Delays between two attempts to find a master, as of tasknodes.
const (
	firstRetry = 50 * time.Millisecond
	lastRetry  = 2 * time.Second
)

// hello returns the report that begins a session. The loop makes it.
func (m *machine) hello() *wire.Report {
	answer := make(chan *wire.Report, 1)
	m.inbox.Put(func() {
		answer <- &wire.Report{Machine: m.name, Report: &wire.Report_Joined_{Joined: &wire.Report_Joined{
			Address: m.address, Http: m.address, MapSlots: int32(m.fleet.cfg.MapSlots), ReduceSlots: int32(m.fleet.cfg.ReduceSlots),
			Hosts: []string{m.name}, Instance: m.instance, Rack: m.rack, Clock: time.Now().UnixMilli(), JobVersion: taskproc.JobVersion,
			Attempts: append(slices.Collect(maps.Keys(m.attempts)), slices.Collect(maps.Keys(m.unacked))...),
			Jobs:     slices.Collect(maps.Keys(m.jobs)), Retained: slices.Collect(maps.Keys(m.retained)),
		}}}
	})
	select {
	case hello := <-answer:
		return hello
	case <-m.fleet.ctx.Done():
		return nil
	}
}

// serve passes the orders of one session to the loop. Final reports that no master has
// acknowledged are sent again.
func (m *machine) serve(ctx context.Context, session tasknode.Session) error {
	defer session.Close()
	if time.Now().UnixNano() < m.away.Load() {
		return nil
	}
	m.fleet.connected.Add(1)
	defer m.fleet.connected.Add(-1)
	m.inbox.Put(func() {
		m.session = session
		m.pending.ResendAll()
		for _, r := range m.unacked {
			m.send(r)
		}
	})
	defer func() {
		silent := m.traffic.silentSince()
		m.inbox.Put(func() { m.session, m.silentAt = nil, silent })
	}()
	for {
		orders, err := session.Receive(ctx)
		if err != nil {
			return err
		}
		m.inbox.Put(func() { m.executeAll(session, orders) })
	}
}

// executeAll executes the orders of a session. A daemon that has crashed executes none that
// had arrived before: its successor has a session of its own.
func (m *machine) executeAll(session tasknode.Session, orders []*wire.Order) {
	if m.session != session {
		return
	}
	for _, o := range orders {
		m.execute(o)
	}
}

// send sends a report. Without a session the report is lost.
func (m *machine) send(r *wire.Report) {
	if m.session != nil {
		r.Machine = m.name
		m.session.Send(r)
	}
}

// leave cuts the machine off for a time. With crash, it also ends the daemon and its tasks;
// its disk keeps the outputs.
func (m *machine) leave(d time.Duration, crash bool) {
	m.inbox.Put(func() {
		m.away.Store(time.Now().Add(d).UnixNano())
		m.traffic.cut()
		if crash || d >= m.fleet.cfg.Expiry/2 {
			m.excuseAll(d < m.fleet.cfg.Expiry/2)
		}
		if crash {
			m.session, m.silentAt, m.instance = nil, time.Now(), rand.Text()
			m.freed = [2][]time.Time{}
			for name := range m.attempts {
				m.pending.Drop(name)
			}
			clear(m.attempts)
			clear(m.unacked)
		}
	})
}

// excuseSilence excuses the attempts of a machine that received nothing, sent no report, or got no CPU
// time, for half the expiry. The other half is for messages that were lost before. On a
// loaded computer that happens without a fault of the masters. A session that breaks was silent before:
// pings need seconds to notice that a connection is dead.
func (m *machine) excuseSilence(now time.Time) {
	silent := m.silentAt
	if m.session != nil {
		silent = m.traffic.silentSince()
	}
	if m.beat.Before(silent) {
		silent = m.beat
	}
	if limit := m.fleet.cfg.Expiry / 2; now.Sub(silent) < limit || now.Sub(m.excused) < limit {
		return
	}
	m.excused = now
	m.fleet.counts.silences.Add(1)
	m.excuseAll(false)
}

// excuseAll excuses all attempts of the machine, because it may be declared lost. After a
// short absence the masters still have its outputs.
func (m *machine) excuseAll(keepOutputs bool) {
	m.fleet.ledger.machineLost()
	names := slices.Collect(maps.Keys(m.unacked))
	if !keepOutputs {
		names = slices.AppendSeq(names, maps.Keys(m.retained))
	}
	for _, name := range slices.AppendSeq(names, maps.Keys(m.attempts)) {
		if id, err := cluster.ParseAttemptID(name); err == nil {
			m.fleet.ledger.excuse(id)
		}
	}
}
