package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hammr/hammr/internal/kit/percentile"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/kit/validate"
)

// Fleet is a number of fake machines that are attached to masters, or try to be. Its methods
// may be called by several goroutines at once.
type Fleet struct {
	cfg        Config
	machines   []*machine
	ledger     *Ledger
	counts     counts
	logs       decodedLogs
	turnaround samples
	connected  atomic.Int64
	refused    atomic.Pointer[error] // the last error of a session

	ctx     context.Context
	cancel  context.CancelFunc
	workers sync.WaitGroup
}

// counts are sums over all machines since the start of the fleet.
type counts struct {
	starts, ends, orders, outputBytes atomic.Int64
	sessions                          atomic.Int64 // that have ended
	silences                          atomic.Int64 // machines that were silent for half the expiry
	mostRetained                      atomic.Int64 // bytes of descriptions of outputs that a tasknode would keep for a job, at most
}

// Start starts the machines, which connect in the background. The caller calls Close.
func Start(cfg Config) (*Fleet, error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	f := &Fleet{cfg: cfg, ledger: newLedger()}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	for i := range cfg.Machines {
		m, err := f.newMachine(i)
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		f.machines = append(f.machines, m)
		f.workers.Go(func() { m.run(f.ctx) })
		f.workers.Go(func() { m.connect(f.ctx) })
		f.workers.Go(func() { m.answer(f.ctx) })
	}
	return f, nil
}

// Close ends all machines.
func (f *Fleet) Close() (err error) {
	f.cancel()
	for _, m := range f.machines {
		m.traffic.cut()
	}
	f.workers.Wait()
	for _, m := range f.machines {
		err = errors.Join(err, m.masters.Close())
	}
	return err
}

// Await waits until every machine has a session.
func (f *Fleet) Await(ctx context.Context) error {
	err := syncutil.Poll(ctx, 20*time.Millisecond, func(context.Context) (bool, error) {
		return int(f.connected.Load()) == len(f.machines), nil
	})
	if err == nil {
		return nil
	}
	if last := f.refused.Load(); last != nil {
		err = errors.Join(err, *last)
	}
	return fmt.Errorf("fleet: %d of %d machines are attached: %w", f.connected.Load(), len(f.machines), err)
}

// note keeps the error that ended a session, for Await.
func (f *Fleet) note(machine string, err error) {
	if err != nil && f.ctx.Err() == nil {
		err = fmt.Errorf("%s: %w", machine, err)
		f.refused.Store(&err)
	}
}

// Cut cuts a machine off from the network for a time. Its attempts continue.
func (f *Fleet) Cut(i int, d time.Duration) { f.machines[i].leave(d, false) }

// Crash ends a machine's daemon with its attempts. It starts again after a time, with its
// disk.
func (f *Fleet) Crash(i int, d time.Duration) { f.machines[i].leave(d, true) }

// Names returns the names of the machines. A rack has successive names.
func (f *Fleet) Names() (names []string) {
	for _, m := range f.machines {
		names = append(names, m.name)
	}
	return names
}

// received returns the bytes that all machines have received, and that the machine with most
// of them has.
func (f *Fleet) received() (all, most int64) {
	for _, m := range f.machines {
		n := m.traffic.received.Load()
		all, most = all+n, max(most, n)
	}
	return all, most
}

// sent returns the bytes that all machines have sent.
func (f *Fleet) sent() (all int64) {
	for _, m := range f.machines {
		all += m.traffic.sent.Load()
	}
	return all
}

// retainedBytes notes how much a tasknode would keep.
func (f *Fleet) retainedBytes(n int64) {
	for most := f.counts.mostRetained.Load(); n > most && !f.counts.mostRetained.CompareAndSwap(most, n); {
		most = f.counts.mostRetained.Load()
	}
}

// samples collects durations from several goroutines.
type samples struct {
	mu struct {
		sync.Mutex
		all []time.Duration
	}
}

func (s *samples) add(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.all = append(s.mu.all, d)
}

// take returns two percentiles of the samples since the last call.
func (s *samples) take() (p50, p99 time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p50, p99 = percentile.Of(s.mu.all, 50), percentile.Of(s.mu.all, 99)
	s.mu.all = s.mu.all[:0]
	return p50, p99
}

// Config describes the machines of a fleet.
type Config struct {
	// Masters are the addresses of the masters, host:port each; there is no default.
	Masters []string
	// Token and ClusterID are those of the cluster; there is no default.
	Token, ClusterID string
	// Machines is the number of machines; there is no default.
	Machines int
	// MapSlots and ReduceSlots are the slots of each machine; default 12 and 4.
	MapSlots, ReduceSlots int
	// RackSize is the number of machines in a rack; default 40.
	RackSize int
	// Heartbeat is the time between two heartbeats; default 1 s, as of tasknodes.
	Heartbeat time.Duration
	// Expiry is the masters' silence after which a machine is lost; default 10 s. The ledger
	// expects lost attempts only on machines that were silent for at least half of it.
	Expiry time.Duration
	// SlowPercent is the share of machines whose messages are delayed by SlowDelay each;
	// default 0. SlowDelay is 50 ms by default.
	SlowPercent int
	SlowDelay   time.Duration
}

// EnsureDefaults sets the fields that are zero to their defaults.
func (c *Config) EnsureDefaults() {
	c.MapSlots, c.ReduceSlots = cmp.Or(c.MapSlots, 12), cmp.Or(c.ReduceSlots, 4)
	c.RackSize = cmp.Or(c.RackSize, 40)
	c.Heartbeat, c.Expiry = cmp.Or(c.Heartbeat, time.Second), cmp.Or(c.Expiry, 10*time.Second)
	c.SlowDelay = cmp.Or(c.SlowDelay, 50*time.Millisecond)
}

// maxMachines is the number of addresses that addressOf makes.
const maxMachines = 60_000

// Validate reports every error of the configuration at once.
func (c *Config) Validate() error {
	return errors.Join(
		validate.That(len(c.Masters) > 0, "fleet: no Masters"),
		validate.That(c.Machines >= 1 && c.Machines <= maxMachines, "fleet: Machines is not within 1 to 60000"),
		validate.That(c.MapSlots >= 1 && c.ReduceSlots >= 1, "fleet: a machine needs a slot of each kind"),
		validate.That(c.SlowPercent >= 0 && c.SlowPercent <= 100, "fleet: SlowPercent is not within 0 to 100"),
	)
}
