package tasknoded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/conf/fsconf"
	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/kit/owndir"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/shuffle/transfer"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/tasknode"
	"github.com/hammr/hammr/tasknode/artifact"
	"github.com/hammr/hammr/tasknode/disks"
	"github.com/hammr/hammr/tasknode/masterlink"
	"github.com/hammr/hammr/tasknode/process"
)

// Daemon is a tasknode with its shuffle server, its HTTP page and its directories.
//
//	Open: what the program before this one has left ─► resolve ─► lockDir ─► chooseSlots ─► openDisks ─► OpenDrills ─► listen ─► openParts ─► openTasknode
//	Run:  serve map output and the page; run tasks ──► ctx ends, or the masters refuse it:
//	      tasks end ─► page and shuffle server end ─► everything is closed, latest first
//
// Goroutines: the goroutines of its parts, and one for each of the two listeners.
type Daemon struct {
	daemon.Base
	cfg         Config          // complete after resolve
	files       *storage.Router // for programs and aggregated logs
	disks       *disks.Set      // local directories of tasks
	pageAddress string          // address at which others ask for health and logs
	hosts       []string        // names and addresses of the machine
	shuffle     *transfer.Server
	programs    *artifact.Cache // cache of the programs that tasks run
	directories clusterDirs     // as the leading master names them
	script      healthCheck
	launcher    *process.Launcher
	cgroup      string       // directory of the tasknode's own control group, "" for none
	masters     *rpc.Masters // connections to the masters
	slots       struct {
		sync.Mutex
		settings [2]int // --map-slots and --reduce-slots as they were last read
	}
	membership membership // what the masters make of this tasknode
	tasknode   *tasknode.Daemon
	source     string         // source address of connections to HDFS, "" for any
	handover   *handover      // what the program before this one in the process has left, nil for none
	restarts   chan os.Signal // requests to replace the program; nil if it cannot be replaced
}

func newDaemon(cfg Config) *Daemon {
	d := &Daemon{cfg: cfg}
	d.Init(&d.cfg.Common)
	return d
}

// Open makes a tasknode ready to run. If it fails, it closes what it has opened.
func Open(cfg Config) (*Daemon, error) {
	d := newDaemon(cfg)
	// Drills need the lock of the directory, and must be open before files of tasks are
	// opened.
	if err := d.Steps(d.receive, d.resolve, d.openRestarts, d.lockDir, d.chooseSlots, d.openDisks, d.OpenDrills, d.listen, d.openParts, d.openTasknode); err != nil {
		return nil, err
	}
	return d, nil
}

// receive reads what the program before this one in the process has left. Only a process whose
// main thread starts the tasks can replace its program.
func (d *Daemon) receive() (err error) {
	if d.cfg.Starter != nil {
		d.handover, err = receiveHandover()
	}
	return err
}

// resolve reads the settings that the configuration keeps in files. It reports every error
// at once.
func (d *Daemon) resolve() (err error) {
	errs := []error{d.cfg.Validate(), d.ReadToken()}
	d.cfg.Masters = d.cfg.Addresses()
	d.cfg.Dir, err = filepath.Abs(d.cfg.Dir)
	errs = append(errs, err)
	d.cfg.LocalDirs, err = absolute(d.cfg.Local(d.cfg.Conf))
	errs = append(errs, err)
	d.script.logger = d.cfg.Logger
	d.script.use(d.healthSettings(&d.cfg))
	return errors.Join(append(errs, d.openFiles())...)
}

// absolute makes paths absolute, because tasks have another working directory.
func absolute(dirs []string) (out []string, err error) {
	for _, dir := range dirs {
		abs, absErr := filepath.Abs(dir)
		out, err = append(out, abs), errors.Join(err, absErr)
	}
	return out, err
}

// openFiles opens the file systems that the site's configuration describes.
func (d *Daemon) openFiles() (err error) {
	d.source = sourceAddress(d.cfg.Address)
	if d.source != "" {
		if _, err := d.cfg.Conf.Set(conf.HDFSLocalAddress, d.source); err != nil {
			return err
		}
	}
	if d.files, err = fsconf.NewRouter(d.cfg.Conf, d.cfg.Logger); err == nil {
		d.directories.resolve = d.files.Resolve
		d.Opened.Add(d.files.Close)
	}
	return err
}

// Names in a tasknode's directories.
const (
	tasksDir    = "tasks"     // in each local directory: contains the files of attempts
	programsDir = "artifacts" // contains the programs that tasks run
	lockFile    = "lock"
)

// taskDirs returns the directories that contain the files of attempts.
func (d *Daemon) taskDirs() []string {
	dirs := make([]string, len(d.cfg.LocalDirs))
	for i, dir := range d.cfg.LocalDirs {
		dirs[i] = filepath.Join(dir, tasksDir)
	}
	return dirs
}

// lockDir locks the directory, because only one tasknode at a time may use it.
func (d *Daemon) lockDir() error {
	if err := owndir.Make(d.cfg.Dir, 0o755); err != nil {
		return fmt.Errorf("--dir: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(d.cfg.Dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("--dir: %w", err)
	}
	d.Opened.Add(lock.Close)
	if err := disks.Lock(lock); err != nil {
		return fmt.Errorf("--dir %s: %w", d.cfg.Dir, err)
	}
	if err := recordPID(lock); err != nil {
		return fmt.Errorf("--dir %s: %w", d.cfg.Dir, err)
	}
	return nil
}

// IsRunning reports whether a tasknode uses this directory.
func IsRunning(dir string) (bool, error) {
	lock, err := os.Open(filepath.Join(dir, lockFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("--dir: %w", err)
	}
	defer lock.Close() // the file was only locked
	locked, err := disks.IsLocked(lock)
	if err != nil {
		return false, fmt.Errorf("--dir %s: %w", dir, err)
	}
	return locked, nil
}

// openDisks locks the local directories of tasks. Each tasknode needs its own directories.
func (d *Daemon) openDisks() (err error) {
	d.disks, err = disks.Open(disks.Config{
		Dirs: d.taskDirs(), MinFree: d.cfg.MinFree, Interval: d.cfg.DiskCheck, SlowProbe: d.cfg.SlowDisk, Logger: d.cfg.Logger,
	})
	if err != nil {
		return fmt.Errorf("--local-dir: %w", err)
	}
	d.Opened.Add(d.disks.Close)
	return nil
}

// listen opens both listeners and finds the addresses at which others reach them.
func (d *Daemon) listen() (err error) {
	if d.Listener, err = d.handover.listen("address", d.cfg.Address, defaultPort, d.cfg.Limits()); err != nil {
		return err
	}
	d.Opened.Add(d.Listener.Close)
	if d.Page, err = d.handover.listen("http", d.cfg.HTTP, defaultPagePort, daemon.PageLimits(d.cfg.Logger)); err != nil {
		return err
	}
	d.Opened.Add(d.Page.Close)
	if d.cfg.Advertise == "" {
		if d.cfg.Advertise, err = daemon.AdvertisedAddress(d.Listener); err != nil {
			return err
		}
	}
	// Masters and clients on other machines cannot reach a loopback address.
	if d.Page.IsLoopback() && !d.Listener.IsLoopback() {
		d.pageAddress = d.cfg.Advertise
		return nil
	}
	d.pageAddress, err = pageAddress(d.Page.Addr().String(), d.cfg.Advertise)
	return err
}

// openParts opens what tasks need: the shuffle server, programs, the launcher, and the
// connection to the masters.
func (d *Daemon) openParts() (err error) {
	d.shuffle, err = transfer.NewServer(transfer.ServerConfig{
		Dirs: d.taskDirs(), Key: transfer.ServerKey(d.Token), Other: d.newPublic(), Logger: d.cfg.Logger,
	})
	if err != nil {
		return err
	}
	d.programs, err = artifact.Open(artifact.Config{
		Dir: filepath.Join(d.cfg.Dir, programsDir), Fetch: d.openProgram, MaxProgramBytes: d.cfg.MaxProgram, Logger: d.cfg.Logger,
	})
	if err != nil {
		return err
	}
	d.Opened.Add(func() error { d.programs.Close(); return nil })
	d.Opened.Add(d.closeCgroup)
	if d.handover != nil {
		d.directories.set(d.handover.Staging, d.handover.Logs)
	}
	_, processes := d.handover.tasks()
	d.launcher, err = process.New(process.Config{
		Programs: &stagedPrograms{d.programs, &d.directories}, Cgroup: d.openCgroup(), RunAsDaemonUser: d.cfg.RunAsDaemonUser, Logger: d.cfg.Logger,
		MaxProcesses: d.cfg.MapSlots + d.cfg.ReduceSlots, FaultFile: d.Drills.File(),
		MinUID: uint32(d.cfg.MinUID), BannedUsers: d.cfg.BannedUsers, TaskVariables: d.cfg.TaskVariables,
		Starter: d.cfg.Starter, Handover: processes,
	})
	if err != nil {
		return err
	}
	d.Opened.Add(func() error { d.launcher.Close(); return nil })
	d.masters, err = rpc.New(rpc.Config{Masters: d.cfg.Masters, Token: d.Token, ClusterID: d.cfg.ClusterID})
	if err != nil {
		return err
	}
	d.Opened.Add(d.masters.Close)
	return nil
}

// progressDelay bounds how old the progress may be that masters know about a task.
const progressDelay = 500 * time.Millisecond

// openTasknode finds the location of the machine, for locality, and makes the tasknode from
// all parts.
func (d *Daemon) openTasknode() (err error) {
	if d.hosts, err = hostsOf(d.Listener); err != nil {
		return err
	}
	if d.cfg.Rack, err = d.findRack(context.Background(), d.cfg.Rack); err != nil {
		return err
	}
	attempts, _ := d.handover.tasks()
	d.tasknode, err = tasknode.New(tasknode.Config{
		Name: d.cfg.Name, Handover: attempts, Rack: d.cfg.Rack, Hosts: d.hosts,
		Address: d.cfg.Advertise, HTTP: d.pageAddress,
		MapSlots: d.cfg.MapSlots, ReduceSlots: d.cfg.ReduceSlots, MemoryMB: d.taskMemoryMB(d.cfg.MemoryMB),
		Dirs: d.taskDirs(), DirChooser: d.disks,
		AggregateLogs: (&tasknode.LogAggregator{Machine: d.cfg.Name, Check: d.directories.checkLogs, Resolve: d.files.Resolve}).Aggregate, OnRemoveJob: d.shuffle.RemoveJob,
		OnDirectories: d.directories.set, OnAdmission: d.membership.admitted, KeepSlots: d.keepSlots,
		Launcher: &addressedLauncher{d.launcher, d.source}, Link: &readyLink{Link: masterlink.NewLink(d.masters), membership: &d.membership, joined: func() { d.Announce(d.cfg.Name) }},
		Heartbeat: d.cfg.Heartbeat, ProgressDelay: progressDelay, DiskCheck: d.cfg.DiskCheck, MachineStatus: d.machineStatus, Logger: d.cfg.Logger,
	})
	if err != nil {
		return err
	}
	d.Watchdog = daemon.NewWatchdog(d.tasknode.CheckLoop, d.cfg.Logger)
	return nil
}
