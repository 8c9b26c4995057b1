package notice

import (
	"fmt"
	"strings"
	"time"
)

// decodePreempted decodes FALSE, or TRUE if the machine is about to be stopped. The deadlines of the
// notices are left out: gcpTime.
func decodePreempted(body []byte) ([]Notice, error) {
	switch p := strings.TrimSpace(string(body)); p {
	case "FALSE":
		return nil, nil
	case "TRUE":
		return []Notice{{Kind: Interruption, Text: "preempted"}}, nil
	default:
		return nil, fmt.Errorf("%.100q; expected TRUE or FALSE", p)
	}
}

// decodeMaintenance decodes NONE, MIGRATE_ON_HOST_MAINTENANCE, or TERMINATE_ON_HOST_MAINTENANCE. A machine
// that migrates continues without an interruption that tasks would notice, so that is no notice.
func decodeMaintenance(body []byte) ([]Notice, error) {
	switch e := strings.TrimSpace(string(body)); e {
	case "NONE", "MIGRATE_ON_HOST_MAINTENANCE":
		return nil, nil
	case "TERMINATE_ON_HOST_MAINTENANCE":
		return []Notice{{Kind: Maintenance, Text: e}}, nil
	default:
		return nil, fmt.Errorf("%.100q; expected NONE or the name of an event", e)
	}
}

// gcpTime returns the time from a notice to the stop, as Google documents it.
func gcpTime(k Kind) time.Duration {
	if k == Interruption {
		return 30 * time.Second
	}
	return time.Minute // an hour for machines with accelerators, which nothing here shows
}
