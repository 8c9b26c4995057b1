package sshcluster

import (
	"context"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/conf/hostfile"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// Row describes a daemon of a cluster.
type Row struct {
	Host    string `json:"host"`
	Role    string `json:"role"`
	Name    string `json:"name"`    // in the cluster
	Address string `json:"address"` // host:port
	State   State  `json:"state"`
	Member  string `json:"member,omitempty"`  // state that the masters report, such as leader or LOST; "" if they do not answer
	Version string `json:"version,omitempty"` // of the program that runs
	Program string `json:"program,omitempty"` // SHA-256 of the program that runs
	PID     int    `json:"pid,omitempty"`
	Error   string `json:"error,omitempty"` // why the machine does not answer
}

// memberTimeout bounds the question to the masters for a status.
const memberTimeout = 5 * time.Second

// Status describes all daemons of the hostfile, also those of machines that do not answer.
func (c *Cluster) Status(ctx context.Context) (rows []Row) {
	members := c.members(ctx)
	for i := range c.plan.Hosts {
		h, s := &c.plan.Hosts[i], c.surveys[i]
		for _, role := range h.Roles() {
			row := Row{Host: h.Name, Role: role, Name: h.DaemonName(role), Address: h.address(role), State: Unknown}
			if s == nil {
				row.Error = strings.Join(strings.Fields(c.errs[i].Error()), " ")
			} else {
				d := s.daemon(role)
				row.State, row.PID, row.Version, row.Program = d.State, d.PID, shortVersion(d.Version), d.Program
			}
			row.Member = members[role+" "+row.Name]
			rows = append(rows, row)
		}
	}
	return rows
}

// address returns the host:port of a daemon for others.
func (h *Host) address(role string) string {
	distance := map[string]int{hostfile.Tasknode: tasknodePort, hostfile.NameNode: nameNodePort, hostfile.DataNode: dataNodePort,
		hostfile.ResourceManager: resourceManagerPort, hostfile.NodeManager: nodeManagerPort}
	return join(h.Address, h.Port+distance[role])
}

// shortVersion returns the version in the line of `hammr version`.
func shortVersion(line string) string {
	words := strings.Fields(line)
	if len(words) < 2 {
		return ""
	}
	return words[1]
}

// members returns what the masters report of daemons, by role and name. It is empty if they do
// not answer: the status of the machines is known without them.
func (c *Cluster) members(ctx context.Context) map[string]string {
	members := make(map[string]string)
	if len(c.running(hostfile.Jobmaster)) == 0 {
		return members
	}
	ctx, cancel := context.WithTimeout(ctx, memberTimeout)
	defer cancel()
	_ = c.withMasters(ctx, func(a Admin) error {
		info, err := a.Info(ctx)
		if err != nil {
			return err
		}
		for _, m := range info.Masters {
			members[hostfile.Jobmaster+" "+m.Id] = masterState(info, m)
		}
		tasknodes, err := docs.Nodes.From(ctx, a, docs.No{})
		for _, n := range tasknodes {
			members[hostfile.Tasknode+" "+n.Name] = n.State
		}
		return err
	})
	return members
}

// masterState returns the state of a master in an answer of any master.
func masterState(info *wire.Info, m *wire.Info_Master) string {
	if m.Id == info.Leader {
		return "leader"
	}
	return m.State
}
