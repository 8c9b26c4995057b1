package daemon

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/hammr/hammr/internal/jsonfile"
)

// Programs that start a daemon must know when it serves, and at which address if it chose a
// free port. They wait for its ready file:
//
//	{"name":"m1","address":"127.0.0.1:7070","http":"127.0.0.1:7080","pid":4711}

// Ready is what a daemon announces when it begins to serve.
type Ready struct {
	Name    string `json:"name"`    // of a tasknode; id of a master
	Address string `json:"address"` // host:port that it listens on
	HTTP    string `json:"http"`    // host:port of its page
	PID     int    `json:"pid"`     // of its process
}

// WriteReady writes the ready file atomically: a reader sees it complete or not at all.
// Without a path it does nothing.
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

// ReadReady reads the ready file. The error wraps fs.ErrNotExist if the daemon is not ready.
func ReadReady(path string) (r Ready, err error) {
	err = jsonfile.Read(path, &r)
	return r, err
}
