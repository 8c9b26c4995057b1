package masterd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/kit/failpoint"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/source/board"
	"github.com/hammr/hammr/jobmaster/server"
)

// Address returns the address at which clients, tasknodes and other masters reach the
// daemon.
func (d *Daemon) Address() string { return d.cfg.Advertise }

// Run serves until ctx ends or the log fails. Then it transfers leadership and closes
// everything. It must be called only once.
func (d *Daemon) Run(ctx context.Context) error {
	if err := daemon.SetNice(d.cfg.Nice); err != nil {
		d.cfg.Logger.Info("cannot set nice", "nice", d.cfg.Nice, "error", err)
	}
	loop, endLoop := context.WithCancel(context.WithoutCancel(ctx))
	defer endLoop()
	var running sync.WaitGroup
	running.Go(func() { d.master.Run(loop) })
	d.Watch(loop, &running, d.status)
	proof := &rpc.ProofHandler{Token: d.Token, ID: d.cfg.ID, Address: d.cfg.Advertise, Next: d.calls}
	calls := rpc.NewServer(proof, d.cfg.Logger)
	running.Go(func() {
		if err := calls.Serve(d.port.Clients()); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			d.cfg.Logger.Error("RPC server failed", "error", err)
		}
	})
	stopPage := daemon.ServePage(d.Page, d.newPage())
	ready, endReady := context.WithCancel(ctx)
	defer endReady()
	running.Go(func() { d.announceReady(ready) })
	d.cfg.Logger.Info("jobmaster serves", "id", d.cfg.ID, "cluster", d.cfg.ClusterID, "address", d.cfg.Advertise, "http", d.Page.Addr().String())
	select {
	case <-ctx.Done():
		d.cfg.Notifier.Stopping()
		d.yieldLeadership()
	case err := <-d.fatal:
		return d.abandon(fmt.Errorf("log failed: %w", err))
	}
	endReady()
	endLoop() // ends the calls in progress
	stopPage()
	shutdown, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if calls.Shutdown(shutdown) != nil {
		calls.Close()
	}
	err := d.Opened.Close()
	running.Wait()
	d.cfg.Logger.Info("jobmaster stopped", "id", d.cfg.ID)
	return err
}

// abandonTime bounds the orderly shutdown of a master whose log has failed.
const abandonTime = 2 * time.Second

// abandon ends a master whose log has failed. If a disk stalls the log, Close of the log
// stalls too, so the process exits without waiting for Close.
func (d *Daemon) abandon(cause error) error {
	closed := make(chan error, 1)
	go func() { closed <- d.Opened.Close() }()
	select {
	case err := <-closed:
		return errors.Join(cause, err)
	case <-time.After(abandonTime):
		return cause
	}
}

// newServer returns the handler of calls. It checks the caller before it calls the
// jobmaster.
func (d *Daemon) newServer() *server.Server {
	return server.New(server.Config{
		Master: d.master, Token: d.Token, ClusterID: d.cfg.ClusterID, Info: d.info,
		Leader: func() string { return d.log.Leader().Address }, Confirm: d.log.ConfirmLead,
		Docs: board.OfLeader(d.master), Admin: admin{d}, Now: failpoint.Now, Rates: d.cfg.rates(), API: d.api, Logger: d.cfg.Logger,
	})
}

// announceReady writes the ready file once a leader is known, and the version of a new cluster. It
// then informs the service manager.
func (d *Daemon) announceReady(ctx context.Context) {
	err := syncutil.Poll(ctx, 10*time.Millisecond, func(context.Context) (bool, error) { return d.log.Leader().ID != "", nil })
	if err != nil {
		return // the daemon ends
	}
	if d.isNew {
		d.awaitVersion(ctx)
	}
	d.Announce(d.cfg.ID)
}
