package sshcluster

import (
	"context"
	"fmt"

	"github.com/hammr/hammr/internal/conf/hostfile"
)

// Reload writes the settings of the hostfile to all machines, and orders the daemons that run
// to read them again. A daemon itself decides which settings can change while it runs, and
// names the others in its log.
func (c *Cluster) Reload(ctx context.Context) error {
	if err := c.answered(); err != nil {
		return err
	}
	if err := c.checkSettings(); err != nil {
		return err
	}
	return c.each(ctx, c.all(), func(ctx context.Context, i int) error {
		h, s := &c.plan.Hosts[i], c.surveys[i]
		var calls []string
		for _, role := range h.hammrRoles() {
			if s.daemon(role).State == Absent {
				continue // a start makes it
			}
			call, err := c.putSettings(h, role)
			if err != nil {
				return err
			}
			calls = append(calls, call, "reload "+role)
		}
		if len(calls) == 0 {
			return nil
		}
		if _, err := c.act(ctx, h, append([]string{"claim"}, calls...)...); err != nil {
			return err
		}
		c.cfg.Progress(h.Name, reloadedText(h, s))
		return nil
	})
}

// reloadedText describes a host after a reload.
func reloadedText(h *Host, s *survey) string {
	for _, role := range []string{hostfile.Jobmaster, hostfile.Tasknode} {
		if s.runs(role) {
			return fmt.Sprintf("ordered to reload; see %s/%s.log", h.Dir, role)
		}
	}
	return "has the settings for the next start"
}
