package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hammr/hammr/bench/paper"
	"github.com/hammr/hammr/internal/conf/hostfile"
	"github.com/hammr/hammr/internal/ops/launch"
	"github.com/hammr/hammr/internal/ops/sshcluster"
	"github.com/hammr/hammr/internal/ops/testcluster"
)

// Testbed is the machines of a hostfile, on which experiments start one cluster after the other,
// by the code of `hammr cluster`:
//
//	first machine     a jobmaster and the NameNode
//	the others        a tasknode and a DataNode each; with more masters, jobmasters too
//	with YARN         the ResourceManager on the first, a NodeManager on each of the others
//
// Each cluster begins without state, except for HDFS, whose data stays: an experiment writes the
// input of its jobs once. The clusters have a directory of their own on each machine, and ports
// from the hostfile, so a cluster that runs there is not touched.
type Testbed struct {
	// Config reaches the machines. Its File says which they are; experiments choose the roles.
	Config sshcluster.Config
	// Work is a directory of this machine, for configuration.
	Work string
	// Speed divides all times of a paper; 0 is 1.
	Speed float64
	// Divisor divides the machines and the tasks of a paper; 0 is the smallest that fits.
	Divisor int
}

// scaleOf returns the scale of a paper's experiment on the testbed: as many machines, tasks and
// slots as in the paper if the testbed has so many machines, and the paper's times unless Speed
// divides them. Blocks shrink with the times, so that they take the same part of a map's time.
func (b *Testbed) scaleOf(name string, e *paper.Experiment) (s Scale, whyNot string) {
	if e.Workload == nil {
		return s, "it is computed, and nothing runs"
	}
	s = scales[name+"/"+e.ID]
	if s.Busy {
		return s, "it is a control for the cores of one machine"
	}
	speed := cmp.Or(b.Speed, 1)
	if s.Block > 0 {
		s.Block = max(int(float64(s.Block)*s.Speedup/speed)/blockBytes, 1) * blockBytes
	}
	most := e.Machines()
	fits := (most + b.Tasknodes() - 1) / b.Tasknodes()
	s.Speedup, s.Divisor, s.Tasks, s.Link, s.Machines = speed, 1, 0, 0, cmp.Or(b.Divisor, fits)
	s.Note = ""
	if s.Input {
		s.Note = "Maps read blocks of HDFS, and sleep for each line. A machine fails with its DataNode."
	}
	if s.Machines < fits {
		return s, fmt.Sprintf("it needs %d machines for tasks at --scale %d, and the hostfile has %d beside the first; --scale %d fits", most, s.Machines, b.Tasknodes(), fits)
	}
	return s, ""
}

// ownDir is the directory of experiments on a machine: below that of the hostfile, or the default.
const (
	ownDir     = "experiment"
	defaultDir = "/var/tmp/hammr-experiment-{host}"
)

// Tasknodes returns the number of machines for tasks.
func (b *Testbed) Tasknodes() int { return max(len(b.Config.File.Machines)-1, 1) }

// layout returns the hostfile of a cluster. It has as many tasknodes as the cluster wants, and
// leaves the machines beyond those out.
func (b *Testbed) layout(cfg Config) (hostfile.File, error) {
	machines := b.Config.File.Machines
	if cfg.Tasknodes > b.Tasknodes() || cfg.Masters > len(machines) {
		return hostfile.File{}, fmt.Errorf("%s: the experiment needs %d machines for tasks and %d for masters, and there are %d, the first of them for a master only; add machines, or use a larger --scale",
			b.Config.File.Name, cfg.Tasknodes, max(cfg.Masters, 1), len(machines))
	}
	f := hostfile.File{Name: b.Config.File.Name, Cluster: maps.Clone(b.Config.File.Cluster)}
	if f.Cluster == nil {
		f.Cluster = make(map[string]string)
	}
	for _, chosen := range []string{hostfile.Masters, hostfile.ClusterID, hostfile.Roles, hostfile.HDFS, hostfile.Yarn} {
		delete(f.Cluster, chosen)
	}
	switch {
	case f.Cluster[hostfile.Staging] != "":
	case f.Cluster[hostfile.HadoopConf] != "":
		return f, fmt.Errorf("%s: an experiment with the HDFS of %s needs staging=hdfs://HOST:8020/PATH beside it", f.Name, hostfile.HadoopConf)
	default:
		f.Cluster[hostfile.HDFS] = "true"
		f.Cluster[hostfile.Hadoop+".dfs.namenode.fs-limits.min-block-size"] = strconv.Itoa(blockBytes) // blocks shrink with the times
	}
	if cfg.Yarn && f.Cluster[hostfile.HDFS] == "" {
		return f, &paper.LeftOut{Reason: fmt.Sprintf("YARN needs an HDFS of the experiments' own; leave %s out of the hostfile", hostfile.Staging)}
	}
	f.Cluster[hostfile.Yarn] = strconv.FormatBool(cfg.Yarn)
	for name, value := range cfg.Hadoop {
		f.Cluster[hostfile.Hadoop+"."+name] = value
	}
	master, tasknode := (&testcluster.Config{Expiry: cfg.Expiry, Pools: cfg.Pools}).Settings()
	tasknode["map-slots"], tasknode["reduce-slots"] = strconv.Itoa(max(cfg.MapSlots, 1)), strconv.Itoa(max(cfg.ReduceSlots, 1))
	tasknode["own-user"] = "true"     // jobs of an experiment may be root's
	master["initial-policy"] = "fifo" // as on one machine, if the experiment chooses none
	for role, settings := range map[string]launch.Settings{hostfile.Jobmaster: master, hostfile.Tasknode: tasknode} {
		for name, value := range settings {
			f.Cluster[role+"."+name] = value
		}
	}
	first := min(1, len(machines)-1) // with one machine it has all
	for i, m := range machines[:max(first+cfg.Tasknodes, cfg.Masters)] {
		f.Machines = append(f.Machines, b.machine(m, i < max(cfg.Masters, 1), i >= first && i < first+cfg.Tasknodes))
	}
	return f, nil
}

// machine returns a line of the hostfile with the roles of an experiment. Pages listen at all
// addresses, since this machine injects faults there; they ask for the cluster's token.
func (b *Testbed) machine(m hostfile.Machine, master, tasknode bool) hostfile.Machine {
	dir := defaultDir
	if given := b.Config.File.Option(m, hostfile.Dir); given != "" {
		dir = filepath.Join(given, ownDir)
	}
	port := b.Config.File.Option(m, hostfile.Port)
	m.Options = maps.Clone(m.Options)
	delete(m.Options, hostfile.ID)
	m.Options[hostfile.Dir] = dir
	var roles []string
	for role, has := range map[string]bool{hostfile.Jobmaster: master, hostfile.Tasknode: tasknode} {
		if !has {
			continue
		}
		roles = append(roles, role)
		m.Options[role+".drills"] = "true"
		if b.Config.File.Option(m, hostfile.Listen) == "" && m.Options[role+".http"] == "" {
			m.Options[role+".http"] = net.JoinHostPort("", strconv.Itoa(sshcluster.PagePort(port, role)))
		}
	}
	slices.Sort(roles)
	m.Options[hostfile.Roles] = strings.Join(roles, ",")
	return m
}

// start starts a cluster on the machines. It ends what an interrupted experiment has left there.
func (b *Testbed) start(ctx context.Context, cfg Config) (c *Cluster, err error) {
	access := b.Config
	if access.File, err = b.layout(cfg); err != nil {
		return nil, err
	}
	ssh, err := sshcluster.Open(ctx, access)
	if err != nil {
		return nil, err
	}
	c = &Cluster{ssh: ssh}
	if err = ssh.Reset(ctx); err == nil {
		err = ssh.Start(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, ssh.Close())
	}
	if err := c.attach(ctx, access, filepath.Join(b.Work, "conf")); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// attach connects this process to a cluster that was started on the machines of a hostfile.
func (c *Cluster) attach(ctx context.Context, access sshcluster.Config, clientConf string) error {
	plan := c.ssh.Plan()
	var err error
	c.Cluster, err = testcluster.Attach(ctx, testcluster.HostConfig{
		Hosts: plan.Daemons(), Masters: plan.Masters(), TokenFile: access.TokenFile, Hammr: access.Program, Run: c.ssh.Run, Owned: true,
	})
	if err != nil {
		return err
	}
	_, c.tasknodes = c.Names()
	parent := plan.Staging[:strings.LastIndexByte(plan.Staging, '/')]
	c.histories, c.files = parent+"/history", parent+"/experiment" // the first is the jobmasters' default
	if plan.FileSystem() == "" {
		return nil
	}
	c.conf = clientConf
	return plan.WriteClientConf(clientConf)
}

// stopOnHosts ends a cluster on the machines of a hostfile, and removes its files there. A machine
// that does not answer is an error: the trial has lost it without a plan.
func (c *Cluster) stopOnHosts() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	var err error
	if c.Cluster != nil {
		err = c.Cluster.Close()
	}
	if looked := c.ssh.Look(ctx); looked != nil {
		return errors.Join(err, looked, c.ssh.Close())
	}
	return errors.Join(err, c.ssh.Reset(ctx), c.ssh.Close())
}
