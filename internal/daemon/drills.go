package daemon

import (
	"log/slog"
	"net/http"

	"github.com/hammr/hammr/internal/kit/failpoint"
	"github.com/hammr/hammr/internal/rpc/faultrpc"
)

// Drills injects faults into a daemon. The zero value is disabled: its page refuses faults.
//
// The faults are in a file in the daemon's directory. The daemon's tasks read their faults
// from this file.
type Drills struct {
	control *failpoint.Control // nil if drills are disabled
}

// openDrills enables fault injection in a daemon that is started with --drills. dir is the
// daemon's own directory.
func openDrills(enabled bool, dir string, logger *slog.Logger) (Drills, error) {
	if !enabled {
		return Drills{}, nil
	}
	logger.Warn("daemon takes part in drills (--drills): holders of the cluster's token can make it fail, and work may be lost")
	control, err := failpoint.Open(dir)
	return Drills{control}, err
}

// Handler returns the handler of faultrpc.Path on the daemon's page.
func (d Drills) Handler(token string, logger *slog.Logger) http.Handler {
	return faultrpc.NewHandler(faultrpc.Config{Token: token, Control: d.control, Logger: logger})
}

// File returns the file from which tasks read their faults, "" if drills are disabled.
func (d Drills) File() string {
	if d.control == nil {
		return ""
	}
	return d.control.File()
}

// Close removes the faults.
func (d Drills) Close() error {
	if d.control == nil {
		return nil
	}
	return d.control.Close()
}
