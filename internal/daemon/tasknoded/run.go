package tasknoded

import (
	"context"
	"errors"
	"sync"

	"github.com/hammr/hammr/internal/daemon"
)

// Run runs tasks until ctx ends or the masters refuse this tasknode. Then it moves its work to
// other tasknodes, if the configuration says so, ends the tasks and closes everything. It must be
// called only once.
func (d *Daemon) Run(ctx context.Context) error {
	var serving sync.WaitGroup
	outlives, endServing := context.WithCancel(context.WithoutCancel(ctx)) // map output is served until the tasks have ended
	drained, endDraining := d.stopDrained(ctx, &serving)
	running, stopped := context.WithCancel(drained) // ends with the loop
	serving.Go(func() {
		if err := d.shuffle.Serve(outlives, d.Listener); err != nil {
			d.cfg.Logger.Error("shuffle server failed", "error", err)
		}
	})
	serving.Go(func() { d.disks.Run(outlives) })
	d.Watch(running, &serving, d.status)
	defer context.AfterFunc(ctx, d.cfg.Notifier.Stopping)()
	serving.Go(func() { d.script.run(outlives) })
	if d.cfg.Cloud != "" && d.cfg.Cloud != CloudOff {
		serving.Go(func() { d.watchNotices(running) })
	}
	if d.restarts != nil {
		restarts, ended := context.WithCancel(ctx) // a tasknode that stops is not restarted
		defer ended()
		context.AfterFunc(running, ended)
		serving.Go(func() { d.serveRestarts(restarts) })
	}
	if d.handover != nil {
		d.recordRestart(Restarted{Attempts: len(d.handover.Tasknode.Attempts)})
		d.cfg.Logger.Info("tasknode restarted in place", "attempts", len(d.handover.Tasknode.Attempts))
	}
	stopPage := daemon.ServePage(d.Page, d.newPage())
	d.cfg.Logger.Info("tasknode serves", "name", d.cfg.Name, "address", d.cfg.Advertise, "http", d.Page.Addr().String(), "dir", d.cfg.Dir)
	err := d.tasknode.Run(drained)
	stopped()
	endDraining()
	d.cfg.Logger.Info("tasknode stops", "name", d.cfg.Name, "error", err)
	stopPage()
	endServing()
	serving.Wait()
	return errors.Join(err, d.Opened.Close())
}
