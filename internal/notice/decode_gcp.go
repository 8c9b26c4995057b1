package notice

import (
	"fmt"
	"strings"
	"time"
)

// decodeGCP decodes the two values of the service:
//
//	preempted          FALSE, or TRUE if the machine is about to be stopped
//	maintenance-event  NONE, MIGRATE_ON_HOST_MAINTENANCE, or TERMINATE_ON_HOST_MAINTENANCE
//
// A machine that migrates continues without an interruption that tasks would notice, so that is no
// notice. The deadlines are left out: gcpTime.
func decodeGCP(preempted, event string) (notices []Notice, err error) {
	switch p := strings.TrimSpace(preempted); p {
	case "FALSE":
	case "TRUE":
		notices = append(notices, Notice{Kind: Interruption, Text: "preempted"})
	default:
		return nil, fmt.Errorf("%s is %.100q; expected TRUE or FALSE", gcpPreemptedPath, p)
	}
	switch e := strings.TrimSpace(event); e {
	case "NONE", "MIGRATE_ON_HOST_MAINTENANCE":
	case "TERMINATE_ON_HOST_MAINTENANCE":
		notices = append(notices, Notice{Kind: Maintenance, Text: e})
	default:
		return nil, fmt.Errorf("%s is %.100q; expected NONE or the name of an event", gcpMaintenancePath, e)
	}
	return notices, nil
}

// gcpTime returns the time from a notice to the stop, as Google documents it.
func gcpTime(k Kind) time.Duration {
	if k == Interruption {
		return 30 * time.Second
	}
	return time.Minute // an hour for machines with accelerators, which nothing here shows
}
