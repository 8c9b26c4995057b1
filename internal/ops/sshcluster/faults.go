package sshcluster

import (
	"context"
	"fmt"
	"slices"

	"github.com/hammr/hammr/internal/conf/hostfile"
)

// OnMachines runs a command with the functions of script.sh on some machines at once, on all without
// names, and calls print with what it prints. With copyProgram a machine that has another program
// than this one gets it first, unless its daemons run the other one: they would start with this one
// the next time.
func (c *Cluster) OnMachines(ctx context.Context, names []string, command string, copyProgram bool, print func(host, stdout string)) error {
	for _, name := range names {
		if c.plan.host(name) == nil {
			return fmt.Errorf("no machine %q in the hostfile", name)
		}
	}
	var prog *program
	if copyProgram {
		var err error
		if prog, err = openProgram(c.cfg.Program); err != nil {
			return err
		}
	}
	hosts := c.where(func(i int) bool { return len(names) == 0 || slices.Contains(names, c.plan.Hosts[i].Name) })
	return c.each(ctx, hosts, func(ctx context.Context, i int) error {
		h := &c.plan.Hosts[i]
		if c.surveys[i] != nil && prog != nil && c.surveys[i].program != prog.hash {
			if err := c.replaceProgram(ctx, h, c.surveys[i], prog); err != nil {
				return err
			}
		}
		stdout, err := c.Run(ctx, h.Name, command)
		if err != nil {
			return err
		}
		c.output.Lock()
		defer c.output.Unlock()
		print(h.Name, stdout)
		return nil
	})
}

func (c *Cluster) replaceProgram(ctx context.Context, h *Host, s *survey, prog *program) error {
	for _, role := range h.hammrRoles() {
		if err := otherVersion(h, role, s, prog); err != nil {
			return err
		}
	}
	if s.units == "yes" || s.state == "not owned" || s.state == "not writable" {
		return fmt.Errorf("%s: %s has another program hammr, which cannot be replaced there; choose a directory with dir=", h.Name, h.Dir)
	}
	return c.send(ctx, h, prog)
}

// Run runs a command with the functions of script.sh on the machine of a daemon. A machine's name is
// also that of its tasknode, and the NameNode's is its role. Any goroutine may call it.
func (c *Cluster) Run(ctx context.Context, daemon, command string) (stdout string, err error) {
	for _, matches := range []func(h Host) bool{
		func(h Host) bool { return h.Name == daemon },
		func(h Host) bool {
			return h.Jobmaster == daemon || h.has(hostfile.NameNode) && daemon == hostfile.NameNode
		},
	} {
		if i := slices.IndexFunc(c.plan.Hosts, matches); i >= 0 {
			if c.surveys[i] == nil {
				return "", c.errs[i]
			}
			return c.shell.run(ctx, &c.plan.Hosts[i], c.plan.script(&c.plan.Hosts[i], command))
		}
	}
	return "", fmt.Errorf("no daemon %q in the hostfile", daemon)
}

// Daemons returns the daemons of the plan as a list of daemons has them. Their start commands are
// for Cluster.Run.
func (p *Plan) Daemons() (list []hostfile.Daemon) {
	pages := map[string]int{hostfile.Jobmaster: jobmasterPagePort, hostfile.Tasknode: tasknodePagePort}
	for _, role := range hammrRoles {
		for i := range p.Hosts {
			if h := &p.Hosts[i]; h.has(role) {
				list = append(list, hostfile.Daemon{Role: role, Name: h.DaemonName(role), Page: join(h.Address, h.Port+pages[role]), Shell: h.Target, Start: p.launchCall(role)})
			}
		}
	}
	return list
}
