package daemon

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/hammr/hammr/internal/kit/jsonfile"
)

// Programs that start a daemon must know when it serves, and at which address if it chose a
// free port. They wait for its ready file:
//
//	{"name":"m1","address":"127.0.0.1:7070","http":"127.0.0.1:7080","pid":4711}

// Ready is the content of the ready file.
type Ready struct {
	Name    string `json:"name"`    // name of a tasknode, or id of a master
	Address string `json:"address"` // host:port at which the daemon listens
	HTTP    string `json:"http"`    // host:port of the daemon's page
	PID     int    `json:"pid"`     // of the daemon's process
}

// WriteReady writes the ready file atomically: a reader sees the complete file or none. If
// path is "", it does nothing.
func WriteReady(path string, r Ready) error {
	if path == "" {
		return nil
	}
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("ready file: %w", err)
	}
	if err := os.WriteFile(path+".new", append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("ready file: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("ready file: %w", err)
	}
	return nil
}

// ReadReady reads the ready file. If the daemon is not ready, the error wraps
// fs.ErrNotExist.
func ReadReady(path string) (r Ready, err error) {
	err = jsonfile.Read(path, &r)
	return r, err
}
