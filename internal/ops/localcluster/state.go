package localcluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hammr/hammr/internal/kit/jsonfile"
)

// Names of files in a cluster's directory.
const (
	StateFile = "cluster.json" // State of what runs
	TokenFile = "token"        // only its owner may read it

	layoutFile   = "layout.json"
	startingFile = "cluster.json.starting" // State of daemons that are started and not ready yet
	lockFile     = "lock"
	stagingDir   = "staging" // masters create history and joblogs next to it
)

// State is the running cluster.
//
//	cluster.json.starting   written before daemons are ready, so that Down can end them
//	cluster.json            written when all are ready; readers use only this one
type State struct {
	ID        string     `json:"id"` // of the cluster
	Masters   []Master   `json:"masters"`
	Tasknodes []Tasknode `json:"tasknodes"`
}

// Master is a running jobmaster.
type Master struct {
	ID string `json:"id"`
	Process
}

// Tasknode is a running tasknode.
type Tasknode struct {
	Name string `json:"name"`
	Process
}

// fileMode is the mode of layout.json and cluster.json.
const fileMode = 0o644

// Process is a daemon's process and its addresses.
type Process struct {
	Address string `json:"address"` // host:port
	HTTP    string `json:"http"`    // host:port
	PID     int    `json:"pid"`
	Dir     string `json:"dir"`
	Started string `json:"started"` // clock ticks from the machine's start to the process's
}

// Addresses returns the addresses of the masters, for clients.
func (s *State) Addresses() []string {
	var out []string
	for _, m := range s.Masters {
		out = append(out, m.Address)
	}
	return out
}

// processes returns all daemons by name.
func (s *State) processes() (tasknodes, masters map[string]Process) {
	tasknodes, masters = make(map[string]Process), make(map[string]Process)
	for _, n := range s.Tasknodes {
		tasknodes[n.Name] = n.Process
	}
	for _, m := range s.Masters {
		masters[m.ID] = m.Process
	}
	return tasknodes, masters
}

// ReadState reads the running cluster of a directory. The error wraps fs.ErrNotExist if
// there is none.
func ReadState(dir string) (*State, error) {
	s := new(State)
	return s, jsonfile.Read(filepath.Join(dir, StateFile), s)
}

// readRunning reads the state of running daemons, ready or not. The state is empty if none
// runs. The file of a start in progress is newer than cluster.json.
func readRunning(dir string) (*State, error) {
	s := new(State)
	err := jsonfile.ReadOwn(filepath.Join(dir, startingFile), s)
	if errors.Is(err, fs.ErrNotExist) {
		err = jsonfile.ReadOwn(filepath.Join(dir, StateFile), s)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return s, errors.Join(err, s.checkDirs(dir))
}

// checkDirs refuses a process that is not of a daemon of this directory, as after a copy of the
// directory: Process.Alive proves only that the process is that of the directory which it names.
func (s *State) checkDirs(dir string) error {
	tasknodes, masters := s.processes()
	for _, group := range []map[string]Process{tasknodes, masters} {
		for name, p := range group {
			if p.PID > 0 && !sameDir(p.Dir, filepath.Join(dir, name)) {
				return fmt.Errorf("%s names process %d of %s, which is not in this directory: end that cluster with its own directory, and remove the file",
					filepath.Join(dir, StateFile), p.PID, p.Dir)
			}
		}
	}
	return nil
}

// sameDir reports whether two paths are of one directory, or equal.
func sameDir(a, b string) bool {
	if a == b {
		return true
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}
