package tasknoded

import (
	"context"
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/logs/nodeprofile"
	"github.com/hammr/hammr/internal/logs/profile"
	"github.com/hammr/hammr/internal/web/hadoop"
)

// newPage returns the handler of the tasknode's HTTP page. Add further handlers to Handlers.
func (d *Daemon) newPage() http.Handler {
	return d.NewPage(daemon.PageConfig{
		Title: "tasknode " + d.cfg.Name, Metrics: []prometheus.Collector{daemon.NewCollector(metrics, d.scrape)},
		Health: d.health, Ready: d.ready, Handlers: d.sharedHandlers(),
	})
}

// sharedHandlers returns the handlers of what masters and other machines read of attempts, for holders
// of the cluster's token.
func (d *Daemon) sharedHandlers() map[string]http.Handler {
	handlers := nodeprofile.New(d.Token, d.profile).Handlers()
	logs := &logHandler{dirs: d.taskDirs(), token: d.Token, logger: d.cfg.Logger}
	handlers["GET /logs/{attempt}/{stream}"] = logs
	for _, path := range hadoop.NodePaths {
		handlers[path] = hadoop.NodeManager(d.describe, d.mayRead)
	}
	return handlers
}

// profile takes a profile of an attempt. The handlers are made before d.tasknode.
func (d *Daemon) profile(ctx context.Context, attempt string, q profile.Query) ([]byte, error) {
	return d.tasknode.Profile(ctx, attempt, q)
}

// newPublic returns the handler of what other machines ask, which the shuffle server's port
// serves: health, which masters probe, and readiness; for holders of the cluster's token also logs,
// profiles and the paths of a NodeManager.
func (d *Daemon) newPublic() http.Handler {
	return daemon.NewPublicPage(d.health, d.ready, d.sharedHandlers())
}

// health returns why this tasknode should be restarted, nil if it should not. It does not wait
// for the loop. Full or broken disks are no reason: a restart would only end the tasks.
func (d *Daemon) health() error { return d.Watchdog.Check() }

// ready returns why this tasknode gets no new tasks, nil if it gets some.
func (d *Daemon) ready() error {
	if err := d.membership.check(); err != nil {
		return err
	}
	return d.machineHealth()
}

// machineHealth returns what is wrong with the machine, nil if nothing is.
func (d *Daemon) machineHealth() error {
	if reason := d.script.reason(); reason != "" {
		return fmt.Errorf("no new tasks: the health script says %s", reason)
	}
	return d.disks.Check()
}

// status describes in one line what this tasknode does.
func (d *Daemon) status() string {
	text := fmt.Sprintf("%d attempts run", d.tasknode.Counts().Running)
	if err := d.ready(); err != nil {
		text += ", " + err.Error()
	}
	return text
}
