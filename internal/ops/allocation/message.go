package allocation

import (
	"time"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/ops/launch"
)

// Run and Serve exchange JSON documents, one on each line. Run sends requests, one after the
// other; Serve answers each, and also reports daemons that end by themselves.

// request is a request to a machine. Exactly one field is set.
type request struct {
	Open  *openRequest  `json:",omitempty"`
	Port  bool          `json:",omitempty"` // a free port, for a master
	Tool  []string      `json:",omitempty"` // run the program with these arguments to its end
	Start *startRequest `json:",omitempty"`
	Stop  string        `json:",omitempty"` // name of a daemon
	Save  *saveRequest  `json:",omitempty"`
}

// openRequest makes the directory of a tasknode or of a master, and fills it with saved files.
type openRequest struct {
	Place  place
	Saved  string   // directory with saved files of the tasknode, "" for none
	Want   treeInfo // what it has, as the manifest says
	Shared string   // directory on the shared file system for local files; "" if they are local
}

// place says where the files of a daemon lie on a machine: link is the same in every
// allocation, since files name each other by their full names; the directory may be another.
type place struct {
	Link string // made as a symbolic link to a directory below Base
	Base string // "" for the machine's directory for temporary files; may have $VARIABLES of the machine
}

// startRequest starts a daemon and waits until it is ready.
type startRequest struct {
	launch.Daemon // without a ready file the answer does not wait for it
	Args          []string
	Env           []string // NAME=VALUE, in addition to the environment of Serve
	Timeout       time.Duration
}

// saveRequest copies what a tasknode has to keep.
type saveRequest struct {
	From string // directory with the files of attempts
	To   string // new directory on the shared file system
}

// answer is the answer to a request. If Ended is set it is not: it reports that a daemon has
// ended without a request.
type answer struct {
	Error    string       `json:",omitempty"`
	Address  string       `json:",omitempty"` // to Port: host:port
	MemoryMB int          `json:",omitempty"` // to Open: MiB of memory of the machine
	Ready    daemon.Ready `json:",omitzero"`  // to Start
	Tree     treeInfo     `json:",omitzero"`  // to Open and Save: what was copied

	Ended string `json:",omitempty"` // name of the daemon
	Cause string `json:",omitempty"` // how it ended
}
