package allocation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/conf/hostfile"
	"github.com/hammr/hammr/internal/daemon/masterd"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/ops/launch"
	"github.com/hammr/hammr/internal/ops/suspend"
	"github.com/hammr/hammr/internal/rpc"
)

// readyTimeout bounds the start of a daemon.
const readyTimeout = 60 * time.Second

// start starts the cluster, and continues what is saved:
//
//	connect ─► directories, with saved files ─► masters ─► new backup ─► tasknodes ─► jobs resume
//
// All files are there before the masters start: a master that finds no tasknode for a while counts
// it as lost, with its checkpoints.
func (r *runner) start(ctx context.Context) error {
	begin := time.Now()
	if err := r.prepareState(); err != nil {
		return err
	}
	if err := r.connect(ctx); err != nil {
		return err
	}
	r.tasknodes = placeTasknodes(len(r.machines), r.manifest.Tasknodes)
	if err := syncutil.Each(r.tasknodes, 0, func(p *placed) error { return r.openTasknode(ctx, p) }); err != nil {
		return err
	}
	if err := r.startMasters(ctx); err != nil {
		return err
	}
	if err := syncutil.Each(r.tasknodes, 0, func(p *placed) error { return r.startTasknode(ctx, p) }); err != nil {
		return err
	}
	if err := suspend.Resume(ctx, r.admin, r.manifest.Suspended, func(id string) { r.note("resumes %s", id) }); err != nil {
		return err
	}
	r.note("cluster %s is ready after %v: %d masters and %d tasknodes on %d nodes of %s job %s", r.manifest.Cluster,
		time.Since(begin).Round(10*time.Millisecond), len(r.cluster.Masters), len(r.tasknodes), len(r.machines), r.cfg.Allocation.Scheduler, r.cfg.Allocation.Job)
	return os.WriteFile(r.state.mastersFile(), []byte(strings.Join(r.cluster.Addresses(), ",")+"\n"), 0o600)
}

// prepareState removes what an allocation has left that could not save, and makes what this one
// needs.
func (r *runner) prepareState() error {
	r.token = r.state.path("token")
	if err := launch.EnsureToken(r.token); err != nil {
		return err
	}
	errs := []error{r.state.clean(r.manifest.Generation), os.RemoveAll(r.claims()), os.RemoveAll(r.state.mastersFile())}
	if r.manifest.Generation == 0 {
		errs = append(errs, r.state.write(r.manifest), os.RemoveAll(r.state.path("staging")), os.RemoveAll(r.state.path("local")))
	} else {
		r.note("continues cluster %s as job %s has saved it at %s", r.manifest.Cluster, r.manifest.Job, r.manifest.SavedAt.Format(time.DateTime))
	}
	for _, dir := range []string{r.claims(), r.state.path("logs"), r.state.path("jobs")} {
		errs = append(errs, os.MkdirAll(dir, 0o700))
	}
	return errors.Join(errs...)
}

// claims returns the directory in which programs note the jobs that they have continued.
func (r *runner) claims() string { return r.state.path("claims") }

// connect starts Serve on all nodes.
func (r *runner) connect(ctx context.Context) error {
	args := append(r.cfg.Program[:len(r.cfg.Program):len(r.cfg.Program)], r.cfg.Serve...)
	for i, n := range r.cfg.Allocation.Nodes {
		stderr := &lineWriter{prefix: n.Host + ": ", to: r.stderr}
		m, err := connect(ctx, r.cfg.Launcher, n, args, stderr, func(daemon, cause string) { r.daemonEnded(i, daemon, cause) })
		if err != nil {
			return err
		}
		r.machines = append(r.machines, m)
	}
	return nil
}

// placeOf returns where the files of a daemon lie.
func (r *runner) placeOf(daemon string) place {
	return place{Link: linkOf(r.manifest.Cluster, daemon), Base: r.cfg.LocalDir}
}

// openTasknode makes the directory of a tasknode, with its saved files.
func (r *runner) openTasknode(ctx context.Context, p *placed) error {
	q := &openRequest{Place: r.placeOf(p.name)}
	switch {
	case r.cfg.Shared || p.saved != nil && p.saved.Shared:
		q.Shared = r.state.path("local", p.name)
	case p.saved != nil:
		q.Saved, q.Want = filepath.Join(r.state.saved(r.manifest.Generation), p.name), p.saved.Tree
	}
	a, err := r.machines[p.node].ask(ctx, request{Open: q})
	if err == nil && a.Tree.Files > 0 {
		r.note("%s on node %s has %d files of %s again, %d bytes", p.name, r.machines[p.node].node.Host, a.Tree.Files, r.cfg.State, a.Tree.Bytes)
	}
	r.machines[p.node].noteMemory(a.MemoryMB)
	return err
}

// startMasters starts the first master, from the backup if there is one, and adds the others.
func (r *runner) startMasters(ctx context.Context) error {
	restored := r.manifest.Generation > 0
	for i := range r.cfg.Masters {
		if err := r.startMaster(ctx, i, restored && i == 0); err != nil {
			return err
		}
		if !restored || i > 0 {
			continue
		}
		// Numbers of attempts must be new after each restore, also if this allocation fails and the
		// same state is restored once more. A backup of the restored master has counted this one.
		if _, err := masterd.SaveBackup(r.backupFile(r.manifest.Generation), r.backup(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// backupFile returns the backup of a generation.
func (r *runner) backupFile(generation int) string {
	return filepath.Join(r.state.saved(generation), "masters")
}

// startMaster starts a master.
func (r *runner) startMaster(ctx context.Context, i int, restored bool) error {
	m, id := r.machines[i], launch.MasterName(i)
	where := r.placeOf(id)
	if _, err := m.ask(ctx, request{Open: &openRequest{Place: where}}); err != nil {
		return err
	}
	port, err := m.ask(ctx, request{Port: true})
	if err != nil {
		return err
	}
	dir := filepath.Join(where.Link, "master")
	if restored {
		tool := []string{"master", "restore", r.backupFile(r.manifest.Generation), "--id", id, "--dir", dir, "--address", port.Address,
			"--cluster-id", r.manifest.Cluster, "--token-file", r.token}
		if _, err := m.ask(ctx, request{Tool: tool}); err != nil {
			return err
		}
	}
	r.cluster.Masters = append(r.cluster.Masters, launch.Master{ID: id, Address: port.Address})
	if _, err := m.ask(ctx, request{Start: r.masterDaemon(i, dir, port.Address)}); err != nil {
		return err
	}
	if i > 0 {
		return r.addMaster(ctx, id, port.Address)
	}
	token, err := rpc.ReadToken(r.token)
	if err == nil {
		r.admin, err = r.cfg.Connect(r.cluster.Addresses(), token)
	}
	return err
}

// addMaster adds a master that has just been started. It is ready only then, so it is added as soon
// as it answers.
func (r *runner) addMaster(ctx context.Context, id, address string) error {
	bounded, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	var last error
	err := syncutil.Poll(bounded, 200*time.Millisecond, func(ctx context.Context) (bool, error) {
		if err := client.Change(ctx, r.admin, "master.add", id, address); ctx.Err() == nil {
			last = err
			return err == nil, nil
		}
		return false, context.Cause(ctx)
	})
	if err != nil && last != nil {
		return fmt.Errorf("master %s: %w", id, last)
	}
	return err
}

// masterDaemon returns the request that starts a master.
//
// Expiry: a new leader probes tasknodes that have not joined it three times in each expiry, at
// their addresses of the last allocation. They must join before the first probe.
func (r *runner) masterDaemon(i int, dir, address string) *startRequest {
	d := r.daemon(launch.MasterName(i), dir)
	d.Address, d.Advertise = address[strings.LastIndexByte(address, ':'):], address
	s := r.cluster.Jobmaster(d)
	s["nice"], s["expiry"] = "0", "1m"
	if i == 0 {
		return r.startDaemon(d, hostfile.Jobmaster, s)
	}
	delete(s, "masters")
	q := r.startDaemon(d, hostfile.Jobmaster, s, "--join")
	q.ReadyFile = "" // it is ready when it has been added
	return q
}

// startTasknode starts a tasknode with its share of the node.
func (r *runner) startTasknode(ctx context.Context, p *placed) error {
	m := r.machines[p.node]
	link := r.placeOf(p.name).Link
	d := r.daemon(p.name, filepath.Join(link, "tasknode"))
	d.Address = ":0"
	slots := max(1, m.node.Cores/p.share)
	s := r.cluster.Tasknode(d, slots, max(1, slots/2))
	s["local-dir"] = filepath.Join(link, diskDir, filepath.Dir(tasksDir))
	if memory := memoryOf(m.node.MemoryMB, m.memory(), p.share); memory > 0 {
		s["memory-mb"] = strconv.Itoa(memory)
	}
	_, err := m.ask(ctx, request{Start: r.startDaemon(d, hostfile.Tasknode, s, "--own-user")})
	return err
}

// memoryOf returns the MiB that tasks of one of several tasknodes may take together: of what the
// scheduler gives, or else of the machine. 0 leaves it to the tasknode.
func memoryOf(given, machine, share int) int {
	switch {
	case given > 0:
		return max(1, (given-min(1024, given/4))/share) // the rest is for daemons
	case share > 1 && machine > 0:
		return max(1, (machine-min(1024, machine/4))/share)
	}
	return 0
}

// daemon returns a daemon, without addresses for others.
func (r *runner) daemon(name, dir string) launch.Daemon {
	return launch.Daemon{
		Name: name, Dir: dir, HTTP: "127.0.0.1:0", TokenFile: r.token, LogFile: r.state.path("logs", name+".log"), ReadyFile: dir + ".ready",
	}
}

// startDaemon returns the request that starts a daemon, with its settings, flags without a value,
// and the settings of the user.
func (r *runner) startDaemon(d launch.Daemon, role string, s launch.Settings, flags ...string) *startRequest {
	user, _ := r.cfg.settings() // Validate has reported errors
	return &startRequest{
		Daemon: d, Timeout: readyTimeout,
		Args: slices.Concat([]string{role}, flags, s.Flags(), user[role], d.Files().Flags()), Env: hadoopVariables(os.Environ()),
	}
}

// hadoopVariables returns the variables that daemons need on every node. Not every Launcher passes
// them on.
func hadoopVariables(environment []string) []string {
	return slices.DeleteFunc(environment, func(v string) bool { return !strings.HasPrefix(v, "HADOOP_") })
}

// settings returns Settings as flags of the daemons, by role.
func (c *Config) settings() (flags map[string][]string, err error) {
	flags = make(map[string][]string)
	var errs []error
	for _, s := range c.Settings {
		role, name, value, err := hostfile.ParseSetting(s)
		errs = append(errs, err)
		flags[role] = append(flags[role], "--"+name+"="+value)
	}
	return flags, errors.Join(errs...)
}
