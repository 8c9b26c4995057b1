package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/failpoint"
	"github.com/hammr/hammr/internal/fsconf"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/shuffle/transfer"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/tasknode"
	"github.com/hammr/hammr/tasknode/artifact"
	"github.com/hammr/hammr/tasknode/disks"
	"github.com/hammr/hammr/tasknode/masterlink"
	"github.com/hammr/hammr/tasknode/process"
)

// nodeDaemon is a tasknode and all that it stands on.
//
// Goroutines: those of its parts, and one for each of the two listeners.
type nodeDaemon struct {
	cfg         nodeConfig
	stderr      io.Writer
	logger      *slog.Logger
	token       string
	conf        *conf.Conf
	files       *storage.Router
	lock        *os.File
	disks       *disks.Set
	listener    net.Listener // of the shuffle server
	page        net.Listener
	pageAddress string // where others reach it
	shuffle     *transfer.Server
	programs    *artifact.Cache
	launcher    *process.Launcher
	cgroup      string // directory of its own control group for tasks, "" when it has none
	masters     *rpc.Masters
	node        *tasknode.Daemon
	drills      *failpoint.Control // nil when it takes no part in them
	source      string             // address that connections to HDFS come from, "" for any
}

// openTasknode makes a tasknode ready to run, or leaves nothing open.
func openTasknode(cfg nodeConfig, logger *slog.Logger, stderr io.Writer) (n *nodeDaemon, err error) {
	n = &nodeDaemon{cfg: cfg, stderr: stderr, logger: logger}
	for _, step := range []func() error{n.settle, n.openDir, n.openDrills, n.openListeners, n.openParts, n.openNode} {
		if err := step(); err != nil {
			return nil, errors.Join(err, n.close())
		}
	}
	return n, nil
}

// settle finds out what the configuration leaves open. It tells every fault.
func (n *nodeDaemon) settle() (err error) {
	var faults []error
	n.token, err = rpc.ReadToken(n.cfg.tokenFile)
	faults = append(faults, err)
	n.cfg.masters, err = rpc.ParseMasters(strings.Join(n.cfg.masters, ","))
	faults = append(faults, err)
	n.cfg.dir, err = filepath.Abs(n.cfg.dir)
	faults = append(faults, err)
	for i, dir := range n.cfg.localDirs {
		n.cfg.localDirs[i], err = filepath.Abs(dir)
		faults = append(faults, err)
	}
	if n.cfg.mapSlots+n.cfg.reduceSlots == 0 {
		faults = append(faults, errors.New("--map-slots and --reduce-slots: both are 0, there would be nothing to run"))
	}
	if n.conf, err = (genericOptions{}).load(n.stderr); err == nil {
		n.settleLocalDirs()
		err = n.openFiles()
	}
	return errors.Join(append(faults, err)...)
}

// settleLocalDirs finds the directories for local files: those that Hadoop's
// configuration names where none are given, else the tasknode's own.
func (n *nodeDaemon) settleLocalDirs() {
	if len(n.cfg.localDirs) == 0 {
		n.cfg.localDirs = n.conf.Strings(conf.LocalDir)
	}
	if len(n.cfg.localDirs) == 0 {
		n.cfg.localDirs = []string{n.cfg.dir}
	}
}

// taskDirs are where attempts leave their files.
func (n *nodeDaemon) taskDirs() []string {
	dirs := make([]string, len(n.cfg.localDirs))
	for i, dir := range n.cfg.localDirs {
		dirs[i] = filepath.Join(dir, tasksDir)
	}
	return dirs
}

// openFiles opens the file systems that the configuration describes.
func (n *nodeDaemon) openFiles() error {
	n.source = sourceAddress(n.cfg.address)
	if n.source != "" {
		if _, err := n.conf.Set(conf.HDFSLocalAddress, n.source); err != nil {
			return err
		}
	}
	var err error
	n.files, err = fsconf.NewRouter(n.conf, n.logger)
	return err
}

// Below a tasknode's directories.
const (
	tasksDir    = "tasks"     // local files of attempts, in each for them
	programsDir = "artifacts" // programs that tasks run
	nodeLock    = "lock"
)

// openDir makes the directory this tasknode's alone.
func (n *nodeDaemon) openDir() (err error) {
	if err := os.MkdirAll(n.cfg.dir, 0o755); err != nil {
		return fmt.Errorf("--dir: %w", err)
	}
	if n.lock, err = os.OpenFile(filepath.Join(n.cfg.dir, nodeLock), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return fmt.Errorf("--dir: %w", err)
	}
	if err := disks.Lock(n.lock); err != nil {
		return fmt.Errorf("--dir %s: %w", n.cfg.dir, err)
	}
	n.disks, err = disks.Open(disks.Config{
		Dirs: n.taskDirs(), MinFree: n.cfg.minFree, Interval: n.cfg.diskCheck, Logger: n.logger,
	})
	if err != nil {
		return fmt.Errorf("--local-dir: %w", err)
	}
	return nil
}

// openDrills makes the tasknode fail on command, if it is to. It comes before local
// files are opened.
func (n *nodeDaemon) openDrills() (err error) {
	n.drills, err = openDrills(n.cfg.drills, n.cfg.dir, n.logger)
	return err
}

func (n *nodeDaemon) openListeners() (err error) {
	if n.listener, err = listen("address", withDefaultPort(n.cfg.address, "7071")); err != nil {
		return err
	}
	if n.page, err = listen("http", withDefaultPort(n.cfg.http, "7081")); err != nil {
		return err
	}
	if n.cfg.advertise == "" {
		if n.cfg.advertise, err = advertised(n.listener); err != nil {
			return err
		}
	}
	n.pageAddress, err = advertised(n.page)
	return err
}

// openParts opens what tasks need.
func (n *nodeDaemon) openParts() (err error) {
	n.shuffle, err = transfer.NewServer(transfer.ServerConfig{
		Dirs: n.taskDirs(), Token: shuffleToken(n.token), Logger: n.logger,
	})
	if err != nil {
		return err
	}
	n.programs, err = artifact.Open(artifact.Config{
		Dir: filepath.Join(n.cfg.dir, programsDir), Fetch: n.openProgram, Logger: n.logger,
	})
	if err != nil {
		return err
	}
	n.launcher, err = process.New(process.Config{
		Programs: n.programs, LogDir: logsOf, Cgroup: n.openCgroup(), RunAsDaemonUser: n.cfg.ownUser, Logger: n.logger,
		MaxProcesses: n.cfg.mapSlots + n.cfg.reduceSlots, FaultFile: n.faultsFile(),
	})
	if err != nil {
		return err
	}
	n.masters, err = rpc.New(rpc.Config{Masters: n.cfg.masters, Token: n.token, ClusterID: n.cfg.clusterID})
	return err
}

// faultsFile is what tasks are told of drills, "" for nothing.
func (n *nodeDaemon) faultsFile() string {
	if n.drills == nil {
		return ""
	}
	return n.drills.File()
}

// logsOf is the directory for what a task prints. It lies beside the attempt's
// own, outlives a failed attempt and goes with the job.
func logsOf(s *taskproc.Start) string {
	return filepath.Join(filepath.Dir(s.LocalDir), "logs", s.AttemptId)
}

// openProgram opens a program in the staging directory.
func (n *nodeDaemon) openProgram(ctx context.Context, name string) (io.ReadCloser, error) {
	fsys, path, err := n.files.Resolve(ctx, name)
	if err != nil {
		return nil, err
	}
	return fsys.Open(ctx, path)
}

// progressDelay is how old the progress of a task may be that masters hear of.
const progressDelay = 500 * time.Millisecond

func (n *nodeDaemon) openNode() (err error) {
	hosts, err := hostsOf(n.listener)
	if err != nil {
		return err
	}
	if n.cfg.rack == "" {
		topology := tasknode.Topology{
			Table:      n.conf.String("net.topology.table.file.name"),
			Script:     n.conf.String("net.topology.script.file.name"),
			ScriptArgs: n.conf.Int("net.topology.script.number.args"),
		}
		if n.cfg.rack, err = topology.Rack(context.Background(), hosts); err != nil {
			return err
		}
	}
	n.node, err = tasknode.New(tasknode.Config{
		Name: n.cfg.name, Rack: n.cfg.rack, Hosts: hosts,
		Address: n.cfg.advertise, HTTP: n.pageAddress,
		MapSlots: n.cfg.mapSlots, ReduceSlots: n.cfg.reduceSlots,
		Dirs: n.taskDirs(), DirChooser: n.disks,
		AggregateLogs: (&tasknode.LogAggregator{Local: logsOf, Resolve: n.files.Resolve}).Aggregate, OnRemoveJob: n.shuffle.RemoveJob,
		Launcher: &addressedLauncher{n.launcher, n.source}, Link: &readyLink{Link: masterlink.NewLink(n.masters), joined: n.sayReady},
		Heartbeat: n.cfg.heartbeat, ProgressDelay: progressDelay, MachineStatus: n.vitals, Logger: n.logger,
	})
	return err
}

// run runs tasks until ctx ends or the masters refuse this tasknode. Then it
// ends the tasks and closes everything.
func (n *nodeDaemon) run(ctx context.Context) error {
	outlives, endServing := context.WithCancel(context.WithoutCancel(ctx))
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := n.shuffle.Serve(outlives, n.listener); err != nil {
			n.logger.Error("map output is not served any more", "error", err)
		}
	})
	serving.Go(func() { n.disks.Run(outlives) })
	stopPage := servePage(n.page, n.newPage())
	n.logger.Info("tasknode serves", "name", n.cfg.name, "address", n.cfg.advertise, "http", n.page.Addr().String(), "dir", n.cfg.dir)
	err := n.node.Run(ctx)
	n.logger.Info("tasknode ends", "name", n.cfg.name, "error", err)
	stopPage()
	endServing()
	serving.Wait()
	return errors.Join(err, n.close())
}

// close closes what openTasknode has opened, as far as that is.
func (n *nodeDaemon) close() error {
	var faults []error
	if n.launcher != nil {
		n.launcher.Close()
	}
	faults = append(faults, n.closeCgroup(), closeDrills(n.drills))
	if n.programs != nil {
		n.programs.Close()
	}
	if n.disks != nil {
		faults = append(faults, n.disks.Close())
	}
	if n.masters != nil {
		faults = append(faults, n.masters.Close())
	}
	for _, l := range []net.Listener{n.listener, n.page} {
		if l == nil {
			continue
		}
		if err := l.Close(); !errors.Is(err, net.ErrClosed) {
			faults = append(faults, err)
		}
	}
	if n.files != nil {
		faults = append(faults, n.files.Close())
	}
	if n.lock != nil {
		faults = append(faults, n.lock.Close())
	}
	return errors.Join(faults...)
}

func (n *nodeDaemon) sayReady() {
	err := daemon.WriteReady(n.cfg.readyFile, daemon.Ready{
		Name: n.cfg.name, Address: n.cfg.advertise, HTTP: n.page.Addr().String(), PID: os.Getpid(),
	})
	if err != nil {
		n.logger.Error("nobody hears that this tasknode is ready", "error", err)
	}
}

// readyLink tells when the tasknode has joined for the first time.
type readyLink struct {
	tasknode.Link
	joined func()
	once   sync.Once
}

// Connect implements tasknode.Link.
func (l *readyLink) Connect(ctx context.Context, hello *wire.Report) (tasknode.Session, error) {
	session, err := l.Link.Connect(ctx, hello)
	if err == nil {
		l.once.Do(l.joined)
	}
	return session, err
}
