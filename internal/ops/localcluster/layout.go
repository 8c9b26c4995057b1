package localcluster

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/kit/jsonfile"
	"github.com/hammr/hammr/internal/ops/launch"
)

// layout lists the parts of a cluster, running or not. Masters keep their ports, because other
// masters and tasknodes know them.
type layout struct {
	ID            string           `json:"id"` // of the cluster: ms since the epoch at its creation
	Masters       []masterLayout   `json:"masters"`
	Tasknodes     []tasknodeLayout `json:"tasknodes"`
	MasterFlags   []string         `json:"masterFlags,omitempty"`
	TasknodeFlags []string         `json:"tasknodeFlags,omitempty"`
}

type masterLayout struct {
	ID      string `json:"id"`
	Address string `json:"address"` // host:port
	HTTP    string `json:"http"`    // host:port
}

type tasknodeLayout struct {
	Name        string `json:"name"`
	Host        string `json:"host"`
	MapSlots    int    `json:"mapSlots"`
	ReduceSlots int    `json:"reduceSlots"`
	Namespace   string `json:"namespace,omitempty"` // network namespace
}

// localhost is the default address of daemons.
const localhost = "127.0.0.1"

// readOrCreateLayout reads the layout of a directory, or creates one for cfg. The layout is
// written before anything starts: after a crash the next Up finds the same ports and names.
func readOrCreateLayout(cfg Config) (*layout, error) {
	l := new(layout)
	path := filepath.Join(cfg.Dir, layoutFile)
	err := jsonfile.ReadOwn(path, l)
	token := filepath.Join(cfg.Dir, TokenFile)
	if err == nil {
		return l, launch.EnsureToken(token)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := checkEmpty(cfg.Dir); err != nil {
		return nil, err
	}
	if l, err = newLayout(cfg); err != nil {
		return nil, err
	}
	if err := launch.EnsureToken(token); err != nil {
		return nil, err
	}
	return l, jsonfile.Write(path, l, fileMode)
}

// checkEmpty refuses a directory with other files. A wrong --dir, such as a home directory,
// must not be filled with a cluster.
func checkEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != lockFile && e.Name() != TokenFile {
			return fmt.Errorf("directory %s has %s in it and no cluster; choose another", dir, e.Name())
		}
	}
	return nil
}

// newLayout numbers masters m1, m2, … and tasknodes n1, n2, …; their names never change.
func newLayout(cfg Config) (*layout, error) {
	l := &layout{
		ID:          launch.NewClusterID(),
		MasterFlags: cfg.MasterFlags, TasknodeFlags: cfg.TasknodeFlags,
	}
	ports, err := masterPorts(cfg)
	if err != nil {
		return nil, err
	}
	for i := range cfg.Masters {
		l.Masters = append(l.Masters, masterLayout{ID: launch.MasterName(i), Address: ports[2*i], HTTP: ports[2*i+1]})
	}
	l.add(cfg, cfg.Tasknodes)
	return l, nil
}

// add adds n tasknodes, with the addresses and namespaces of cfg if there are any. The
// first of the new tasknodes gets the first address of cfg.
func (l *layout) add(cfg Config, n int) {
	for i := range n {
		host, namespace := localhost, ""
		if i < len(cfg.Addresses) {
			host = cfg.Addresses[i]
		}
		if i < len(cfg.Namespaces) {
			namespace = cfg.Namespaces[i]
		}
		l.Tasknodes = append(l.Tasknodes, tasknodeLayout{
			Name: launch.TasknodeName(len(l.Tasknodes)), Host: host, MapSlots: cfg.MapSlots, ReduceSlots: cfg.ReduceSlots,
			Namespace: namespace,
		})
	}
}

// masterPorts returns host:port of the calls and of the page of each master. With MasterHosts
// the ports are the defaults of masters, 7070 and 7080.
func masterPorts(cfg Config) (ports []string, err error) {
	if len(cfg.MasterHosts) == 0 {
		return launch.FreePorts(localhost, 2*cfg.Masters)
	}
	for _, host := range cfg.MasterHosts {
		ports = append(ports, net.JoinHostPort(host, "7070"), net.JoinHostPort(host, "7080"))
	}
	return ports, nil
}

// cluster returns what the settings of all daemons have in common.
func (l *layout) cluster(cfg Config) *launch.Cluster {
	c := &launch.Cluster{ID: l.ID, Staging: "file://" + filepath.Join(cfg.Dir, stagingDir)}
	for _, m := range l.Masters {
		c.Masters = append(c.Masters, launch.Master{ID: m.ID, Address: m.Address})
	}
	return c
}

// master returns the program of a jobmaster. The directory of the daemon is a word of its
// command line, and Process.Alive looks for it there.
func (l *layout) master(cfg Config, m masterLayout) program {
	d := newDaemon(cfg, m.ID)
	d.Address, d.HTTP = m.Address, m.HTTP
	return newProgram(cfg, d, []string{"jobmaster"}, l.cluster(cfg).Jobmaster(d), l.MasterFlags)
}

// tasknode returns the program of a tasknode. The kernel chooses its ports; masters learn them
// when it joins. --own-user runs tasks as this user.
func (l *layout) tasknode(cfg Config, n tasknodeLayout) program {
	d := newDaemon(cfg, n.Name)
	d.Address = net.JoinHostPort(n.Host, "0")
	d.HTTP = d.Address
	s := l.cluster(cfg).Tasknode(d, n.MapSlots, n.ReduceSlots)
	s["local-dir"] = daemon.EscapeItem(d.Dir)
	p := newProgram(cfg, d, []string{"tasknode", "--own-user"}, s, l.TasknodeFlags)
	p.namespace = n.Namespace
	return p
}

// newDaemon returns a daemon without addresses.
func newDaemon(cfg Config, name string) launch.Daemon {
	dir := filepath.Join(cfg.Dir, name)
	return launch.Daemon{
		Name: name, Dir: dir, TokenFile: filepath.Join(cfg.Dir, TokenFile),
		LogFile: filepath.Join(cfg.Dir, "logs", name+".log"), ReadyFile: filepath.Join(dir, "ready.json"),
	}
}

// newProgram returns the program of a daemon, with its settings and the flags of the user.
func newProgram(cfg Config, d launch.Daemon, command []string, s launch.Settings, user []string) program {
	return program{Daemon: d, args: slices.Concat(cfg.Program, command, s.Flags(), user, d.Files().Flags()), beforeStart: cfg.BeforeStart}
}
