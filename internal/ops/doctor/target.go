package doctor

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/daemon/tasknoded"
	"github.com/hammr/hammr/storage"
)

// Target is what is examined. NewTarget sets the fields that describe the machine; the caller sets the others.
type Target struct {
	// Host is the name of this machine.
	Host string
	// Version is the version of this program; "" if unknown.
	Version string
	// UID is the effective uid of this process. A daemon is assumed to run as the same user.
	UID int
	// Daemons are those that run, or will run, on this machine. Default none.
	Daemons []Daemon
	// Dirs are further directories. Default none.
	Dirs []string
	// Users are users whose tasks should run on this machine. Default none.
	Users []string
	// Masters are the addresses (host:port) of masters, in addition to those that the daemons name. Default none.
	Masters []string
	// Reach are addresses (host:port) that should accept connections from this machine. Default none.
	Reach []string
	// TokenFiles are the files of clients with the cluster's token, in addition to those of the daemons. Default none.
	TokenFiles []string
	// Conf is the site's configuration, as Hadoop's files have it; nil if it cannot be read.
	Conf *conf.Conf
	// ConfWarnings and ConfErr are what the reader of these files has reported.
	ConfWarnings []string
	ConfErr      error
	// Resolve opens the file system of a name. Default nil: no file system can be opened.
	Resolve func(ctx context.Context, name string) (storage.FS, string, error)
	// View is what a cluster has answered; nil if none was asked.
	View *View

	// Where the kernel shows its state. Tests have directories of their own.
	proc, sys string // default /proc and /sys
}

// NewTarget returns this machine, without daemons.
func NewTarget() *Target {
	host, _ := os.Hostname() // a check reports a machine without a name
	return &Target{Host: host, UID: os.Geteuid(), proc: "/proc", sys: "/sys"}
}

// Kinds of daemons. Their pages begin with the same words.
const (
	Jobmaster = "jobmaster"
	Tasknode  = "tasknode"
)

// Daemon is a daemon as its configuration describes it, with all defaults.
type Daemon struct {
	// Source is the file of the configuration.
	Source string
	// Err is why the configuration cannot be used; nil if it can. Other fields may be missing then.
	Err error
	// Kind is Jobmaster or Tasknode, and Name its --id or --name.
	Kind, Name string
	// Common has its settings. Masters are the addresses (host:port) of the masters that it names, and
	// Advertise is what it gives to others, "" if that is the name of the machine.
	daemon.Common
	// Tasknode has the other settings of a tasknode.
	Tasknode tasknoded.Config
	// Dirs are the directories that it uses.
	Dirs []Dir
	// Staging is the directory for splits and programs, of a jobmaster; "" if that is not known.
	Staging string
}

// Dir is a directory of a daemon.
type Dir struct {
	Path string
	Use  DirUse
	// MinFree is the free space in bytes below which the daemon does not work; 0 for any.
	MinFree int64
	// Slow is the time of a write from which the daemon does not use the directory; 0 for any.
	Slow time.Duration
}

// DirUse says what a directory contains.
type DirUse int

const (
	// OtherFiles are files of any kind.
	OtherFiles DirUse = iota
	// LogFiles are the log of a master.
	LogFiles
	// Programs are programs of jobs, which are executed there.
	Programs
	// LocalFiles are map output, spills and checkpoints.
	LocalFiles
)

// describe names a daemon in findings.
func (d *Daemon) describe() string { return d.Kind + " " + d.Name }

// ofKind returns the daemons of a kind whose configuration can be used.
func (t *Target) ofKind(kind string) (all []*Daemon) {
	for _, d := range usable(t) {
		if d.Kind == kind {
			all = append(all, d)
		}
	}
	return all
}

// usable returns the daemons whose configuration can be used.
func usable(t *Target) (all []*Daemon) {
	for i := range t.Daemons {
		if d := &t.Daemons[i]; d.Err == nil {
			all = append(all, d)
		}
	}
	return all
}

// dirs returns all directories, each once. If several daemons name one, the first counts, except that a directory
// of programs stays one.
func (t *Target) dirs() (all []Dir) {
	index := make(map[string]int)
	add := func(d Dir) {
		if i, found := index[d.Path]; found {
			if d.Use == Programs {
				all[i].Use = Programs
			}
			all[i].MinFree, all[i].Slow = max(all[i].MinFree, d.MinFree), max(all[i].Slow, d.Slow)
			return
		}
		index[d.Path] = len(all)
		all = append(all, d)
	}
	for _, d := range usable(t) {
		for _, dir := range d.Dirs {
			add(dir)
		}
	}
	for _, dir := range t.Dirs {
		add(Dir{Path: dir})
	}
	return all
}

// AllMasters returns the addresses of the masters that the caller, a daemon or a master has named, each once.
func (t *Target) AllMasters() (once []string) {
	add := func(address string) {
		if !slices.Contains(once, address) {
			once = append(once, address)
		}
	}
	for _, address := range t.Masters {
		add(address)
	}
	for _, d := range usable(t) {
		for _, address := range d.Masters {
			add(address)
		}
	}
	if t.View != nil {
		for _, m := range t.View.Masters {
			add(m.Address)
		}
	}
	return once
}
