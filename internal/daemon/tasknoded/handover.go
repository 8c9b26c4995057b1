package tasknoded

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/kit/procfs"
	"github.com/hammr/hammr/tasknode"
	"github.com/hammr/hammr/tasknode/process"
)

// handover is what a tasknode leaves for the program that replaces it in the same process; see
// docs/formats/handover.md. It is a JSON document in a file in memory, whose descriptor is in
// an environment variable.
type handover struct {
	Version   int                         `json:"version"`
	Listeners map[string]listenerHandover `json:"listeners"` // by setting
	Staging   string                      `json:"staging"`   // directories of the cluster, as the master named them
	Logs      string                      `json:"logs"`
	Tasknode  *tasknode.Handover          `json:"tasknode"`
	Processes *process.Handover           `json:"processes"`
}

// listenerHandover is a listener that stays open.
type listenerHandover struct {
	Setting string `json:"setting"` // value of the setting, such as "127.0.0.1:0"
	FD      int    `json:"fd"`
}

// handoverVersion is the version that this program writes, and handoverVersions are those that
// it reads.
const handoverVersion = 1

var handoverVersions = []int{1}

// handoverVariable names the descriptor of the document.
const handoverVariable = "HAMMR_TASKNODE_HANDOVER"

// maxHandover limits the size of a document in bytes. A job's configuration, of at most 64 MiB,
// is in it once for each attempt.
const maxHandover = 4 << 30

// write writes the document to a file in memory.
func (h *handover) write() (*os.File, error) {
	data, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("handover: %w", err)
	}
	fd, err := unix.MemfdCreate("hammr-handover", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("handover: %w", err)
	}
	f := os.NewFile(uintptr(fd), "handover")
	if _, err := f.Write(data); err != nil {
		return nil, errors.Join(fmt.Errorf("handover: %w", err), f.Close())
	}
	return f, nil
}

// receiveHandover reads what the program before this one has left, nil if there was none. It is
// called once.
func receiveHandover() (*handover, error) {
	text, found := os.LookupEnv(handoverVariable)
	if !found {
		return nil, nil
	}
	if err := os.Unsetenv(handoverVariable); err != nil {
		return nil, err
	}
	fd, err := strconv.ParseUint(text, 10, 16)
	if err != nil || fd <= 2 {
		return nil, fmt.Errorf("%s=%s: not the descriptor of a file; only a tasknode sets it", handoverVariable, text)
	}
	f := procfs.Inherited(int(fd), "handover")
	defer f.Close()
	data, err := io.ReadAll(io.NewSectionReader(f, 0, maxHandover))
	if err != nil {
		return nil, fmt.Errorf("handover: %w", err)
	}
	return decodeHandover(data)
}

// decodeHandover decodes a document. It looks at the version before the rest.
func decodeHandover(data []byte) (*handover, error) {
	var head struct{ Version int }
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("handover: %w", err)
	}
	if !slices.Contains(handoverVersions, head.Version) {
		return nil, fmt.Errorf("handover of version %d; this program reads %v", head.Version, handoverVersions)
	}
	h := new(handover)
	if err := json.Unmarshal(data, h); err != nil {
		return nil, fmt.Errorf("handover: %w", err)
	}
	if h.Tasknode == nil || h.Processes == nil {
		return nil, errors.New("handover: it lacks the tasknode or its processes")
	}
	return h, nil
}

// listen returns the listener that the program before this one has left for a setting. If there
// is none, or the setting has changed, it opens one.
func (h *handover) listen(setting, address, defaultPort string, limits daemon.Limits) (*daemon.Listener, error) {
	if h != nil {
		if l, left := h.Listeners[setting]; left {
			f := procfs.Inherited(l.FD, setting)
			if l.Setting == address {
				return daemon.InheritedListener(f, limits)
			}
			if err := f.Close(); err != nil {
				return nil, err
			}
		}
	}
	return daemon.Listen(setting, address, defaultPort, limits)
}

// tasks returns the parts for the tasknode and the launcher; nil for none.
func (h *handover) tasks() (*tasknode.Handover, *process.Handover) {
	if h == nil {
		return nil, nil
	}
	return h.Tasknode, h.Processes
}
