package main

import (
	"log/slog"
	"net/http"

	"github.com/hammr/hammr/internal/failpoint"
	"github.com/hammr/hammr/internal/faultrpc"
)

// openDrills has a daemon take part in drills, if it is told to. The control is nil
// for one that does not.
func openDrills(wanted bool, dir string, logger *slog.Logger) (*failpoint.Control, error) {
	if !wanted {
		return nil, nil
	}
	logger.Warn("THIS DAEMON TAKES PART IN DRILLS (--drills): whoever has the cluster's token may have it fail from inside; work may be lost")
	return failpoint.Open(dir)
}

// drillsHandler is where a daemon's page takes the faults of drills, or refuses
// them.
func drillsHandler(token string, control *failpoint.Control, logger *slog.Logger) http.Handler {
	return faultrpc.NewHandler(faultrpc.Config{Token: token, Control: control, Logger: logger})
}

// closeDrills ends what openDrills began.
func closeDrills(control *failpoint.Control) error {
	if control == nil {
		return nil
	}
	return control.Close()
}
