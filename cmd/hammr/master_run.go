package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/jobmaster/server"
)

// run serves until ctx ends or the log cannot go on. Then it hands the lead over
// and closes everything.
func (m *masterDaemon) run(ctx context.Context) error {
	if err := daemon.SetNice(m.cfg.nice); err != nil {
		m.logger.Info("this master runs at the priority of its neighbours", "nice", m.cfg.nice, "error", err)
	}
	loop, endLoop := context.WithCancel(context.WithoutCancel(ctx))
	defer endLoop()
	var running sync.WaitGroup
	running.Go(func() { m.master.Run(loop) })
	server := rpc.NewServer(m.edge(), m.logger)
	running.Go(func() {
		if err := server.Serve(m.port.Clients()); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			m.logger.Error("calls are not served any more", "error", err)
		}
	})
	stopPage := servePage(m.page, m.newPage())
	ready, endReady := context.WithCancel(ctx)
	defer endReady()
	running.Go(func() { m.sayReady(ready) })
	m.logger.Info("jobmaster serves", "id", m.cfg.id, "cluster", m.cfg.clusterID, "address", m.cfg.advertise, "http", m.page.Addr().String())
	select {
	case <-ctx.Done():
		m.handOver()
	case err := <-m.fatal:
		return m.abandon(fmt.Errorf("the log cannot go on: %w", err))
	}
	endReady()
	endLoop() // which ends the calls under way
	stopPage()
	shutdown, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if server.Shutdown(shutdown) != nil {
		server.Close()
	}
	err := m.close()
	running.Wait()
	m.logger.Info("jobmaster has ended", "id", m.cfg.id)
	return err
}

// abandonTime is how long a master that cannot serve tries to end in good order.
const abandonTime = 2 * time.Second

// abandon ends a master that cannot serve. What stalls its log stalls the end of
// the log, too; the end of the process, which follows, does not wait for it.
func (m *masterDaemon) abandon(cause error) error {
	closed := make(chan error, 1)
	go func() { closed <- m.close() }()
	select {
	case err := <-closed:
		return errors.Join(cause, err)
	case <-time.After(abandonTime):
		return cause
	}
}

// close closes what openMaster has opened, as far as that is.
func (m *masterDaemon) close() error {
	faults := []error{closeDrills(m.drills)}
	if m.log != nil {
		faults = append(faults, m.log.Close())
	}
	if m.port != nil {
		faults = append(faults, m.port.Close())
	} else if m.listener != nil {
		faults = append(faults, m.listener.Close())
	}
	if m.page != nil {
		if err := m.page.Close(); !errors.Is(err, net.ErrClosed) {
			faults = append(faults, err)
		}
	}
	if m.files != nil {
		faults = append(faults, m.files.Close())
	}
	return errors.Join(faults...)
}

func (m *masterDaemon) edge() http.Handler {
	return server.New(server.Config{
		Master: m.master, Token: m.token, ClusterID: m.cfg.clusterID, Info: m.info,
		Leader: func() string { return m.log.Leader().Address }, Confirm: m.log.ConfirmLead,
		Admin: masterAdmin{m.log}, Logger: m.logger,
	})
}

// sayReady writes the ready file once a leader is known.
func (m *masterDaemon) sayReady(ctx context.Context) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for m.log.Leader().ID == "" {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
	err := daemon.WriteReady(m.cfg.readyFile, daemon.Ready{
		Name: m.cfg.id, Address: m.cfg.advertise, HTTP: m.page.Addr().String(), PID: os.Getpid(),
	})
	if err != nil {
		m.logger.Error("nobody hears that this master is ready", "error", err)
	}
}
