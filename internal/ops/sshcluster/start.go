package sshcluster

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/conf/hostfile"
	"github.com/hammr/hammr/internal/ops/launch"
)

// Start starts all daemons that do not run, and returns when all are ready.
//
//	check ─► token ─► copy the program ─► settings ─► HDFS, YARN ─► masters ─► tasknodes ─► jobs resume
//	  │                                                  └── one fails ──► end those started
//	  └── refused: nothing has changed
//
// If it fails, or ctx ends before, it ends the daemons that it has started. A machine then has
// the program and the settings, which the next start uses.
func (c *Cluster) Start(ctx context.Context) error {
	if err := c.answered(); err != nil {
		return err
	}
	prog, err := openProgram(c.cfg.Program)
	if err != nil {
		return err
	}
	if c.plan.ClusterID == "" {
		c.plan.ClusterID = launch.NewClusterID()
	}
	if err := c.checkStart(prog); err != nil {
		return err
	}
	token := maskedToken
	if c.cfg.DryRun == nil {
		if err := c.checkStaging(ctx); err != nil {
			return err
		}
		if token, err = c.openToken(ctx); err != nil {
			return err
		}
	}
	if err := c.each(ctx, c.all(), func(ctx context.Context, i int) error { return c.install(ctx, i, prog, token) }); err != nil {
		return err
	}
	if err := c.launch(ctx); err != nil {
		return err
	}
	return c.resumeJobs(ctx)
}

// maskedToken is printed in a dry run.
const maskedToken = "TOKEN"

// checkStart checks all that can be checked before anything is changed, and reports every
// error at once.
func (c *Cluster) checkStart(prog *program) error {
	errs := []error{c.plan.Validate()}
	for i := range c.plan.Hosts {
		h, s := &c.plan.Hosts[i], c.surveys[i]
		errs = append(errs, s.check(h, prog))
		for _, role := range h.hammrRoles() {
			errs = append(errs, otherVersion(h, role, s, prog))
		}
		if settings, err := c.plan.settings(h, hostfile.Tasknode); err == nil && h.has(hostfile.Tasknode) { // checkSettings has the error
			errs = append(errs, checkJobUser(h, s.user, c.cfg.JobUser, settings))
		}
	}
	return errors.Join(append(errs, c.checkSettings())...)
}

// checkJobUser returns an error if a tasknode that user runs will refuse every attempt of jobs of
// root. It trusts settings that admit root; the tasknode checks them.
func checkJobUser(h *Host, user, jobUser string, settings map[string]string) error {
	own, _ := strconv.ParseBool(settings["own-user"]) // checkSettings has the error
	if user != "root" || jobUser != "root" || own || settings["min-uid"] == "0" {
		return nil
	}
	return fmt.Errorf("%s: its tasknode runs as root, and refuses the jobs of root; run this command as another user, or let tasks run as root with --set tasknode.own-user=true", h.Name)
}

// checkSettings checks the settings of all daemons as they do it themselves.
func (c *Cluster) checkSettings() error {
	var errs []error
	for i := range c.plan.Hosts {
		h := &c.plan.Hosts[i]
		for _, role := range h.hammrRoles() {
			settings, err := c.plan.settings(h, role)
			if err == nil {
				err = c.cfg.Check(role, settings)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: settings of the %s: %w", h.Name, role, err))
			}
		}
	}
	return errors.Join(errs...)
}

// otherVersion returns an error if a daemon runs another program than the machines would get.
// Two versions in a cluster are the business of an upgrade.
func otherVersion(h *Host, role string, s *survey, prog *program) error {
	if d := s.daemon(role); s.runs(role) && d.Program != prog.hash {
		return fmt.Errorf("%s: its %s runs another program, %s; use 'hammr cluster upgrade', or 'hammr cluster stop' first", h.Name, role, d.Version)
	}
	return nil
}

// install copies the program, the token and the settings to a host. What a running daemon uses
// stays as it is.
func (c *Cluster) install(ctx context.Context, i int, prog *program, token string) error {
	h, s := &c.plan.Hosts[i], c.surveys[i]
	if s.program != prog.hash {
		begin := time.Now()
		if err := c.send(ctx, h, prog); err != nil {
			return err
		}
		c.cfg.Progress(h.Name, fmt.Sprintf("copied the program, %d MiB in %v", prog.size>>20, time.Since(begin).Round(10*time.Millisecond)))
	}
	calls := []string{"claim"}
	if s.token == "" {
		calls = append(calls, putCall(`"$etc/token"`, "600", token+"\n"), "own_token")
	}
	for _, role := range h.hammrRoles() {
		if s.runs(role) {
			continue
		}
		call, err := c.putSettings(h, role)
		if err != nil {
			return err
		}
		calls = append(calls, call)
	}
	hadoop, err := c.installHadoop(ctx, h, s)
	if err != nil {
		return err
	}
	calls = append(calls, hadoop...)
	_, err = c.act(ctx, h, append(calls, putCall(`"$dir/hosts"`, "644", c.plan.Hostfile()))...)
	return err
}

// putSettings returns the call that stores the settings of a daemon.
func (c *Cluster) putSettings(h *Host, role string) (call string, err error) {
	settings, err := c.plan.settings(h, role)
	return putCall(`"$etc/`+role+`.yaml"`, "644", settings.YAML()), err
}

// launch starts HDFS, YARN, the masters, and then the tasknodes: a tasknode that finds no master
// waits longer before each new attempt. On failure it ends those that it has started.
func (c *Cluster) launch(ctx context.Context) error {
	var steps []launch.Step
	for _, role := range startOrder {
		steps = append(steps, c.step(role))
	}
	err, left := launch.InOrder(ctx, steps...)
	if left != nil {
		left = fmt.Errorf("end of daemons that were started; 'hammr cluster status' shows those that are left: %w", left)
	}
	if err != nil {
		return errors.Join(err, left)
	}
	for i := range c.plan.Hosts {
		h := &c.plan.Hosts[i]
		c.cfg.Progress(h.Name, c.readyText(h, c.surveys[i]))
	}
	return nil
}

// rollBackTimeout bounds the end of the daemons of one role after a start that failed.
const rollBackTimeout = 30 * time.Second

// step returns the step that starts the daemons of a role that are not ready. It is undone by
// the end of those that did not run before. If a machine does not answer any more, those of the
// others end.
func (c *Cluster) step(role string) launch.Step {
	return launch.Step{
		Start: func(ctx context.Context) error {
			hosts := c.where(func(i int) bool { return c.has(i, role) && c.surveys[i].daemon(role).State != Running })
			return c.each(ctx, hosts, func(ctx context.Context, i int) error { return c.launchDaemon(ctx, i, role) })
		},
		Undo: func(ctx context.Context) error {
			hosts := c.where(func(i int) bool { return c.has(i, role) && !c.surveys[i].runs(role) })
			return c.each(ctx, hosts, func(ctx context.Context, i int) error {
				ctx, cancel := context.WithTimeoutCause(ctx, rollBackTimeout, fmt.Errorf("%s: its %s is not ended after %v", c.plan.Hosts[i].Name, role, rollBackTimeout))
				defer cancel()
				return c.halt(ctx, i, role, rollBackTimeout/3)
			})
		},
	}
}

// has reports whether a host has a daemon of a role.
func (c *Cluster) has(i int, role string) bool {
	return c.plan.Hosts[i].has(role)
}

// readyText describes the daemons of a host after a start.
func (c *Cluster) readyText(h *Host, s *survey) string {
	var words []string
	for _, role := range h.Roles() {
		state := "is ready"
		switch {
		case s.daemon(role).State == Running:
			state = "runs already"
		case c.cfg.DryRun != nil:
			state = "would be started"
		}
		words = append(words, fmt.Sprintf("%s %s at %s %s", role, h.DaemonName(role), h.address(role), state))
	}
	return strings.Join(words, ", ") + "; files in " + h.Dir
}

// launchDaemon starts a daemon and waits until it is ready. Only the wait ends with ctx: a script
// continues on its machine without its connection, and could start the daemon after a rollback.
func (c *Cluster) launchDaemon(ctx context.Context, i int, role string) error {
	h := &c.plan.Hosts[i]
	launching, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), c.cfg.Timeout, fmt.Errorf("the %s is not started after %v", role, c.cfg.Timeout))
	defer cancel()
	if _, err := c.act(launching, h, c.plan.launchCall(role)); err != nil {
		return err
	}
	_, err := c.act(ctx, h, fmt.Sprintf("await %s %d", role, int(c.cfg.Timeout.Seconds())))
	return err
}

// halt ends a daemon; it is killed if that takes longer than a time.
func (c *Cluster) halt(ctx context.Context, i int, role string, patience time.Duration) error {
	_, err := c.act(ctx, &c.plan.Hosts[i], fmt.Sprintf("halt %s %d", role, int(patience.Seconds())))
	return err
}
