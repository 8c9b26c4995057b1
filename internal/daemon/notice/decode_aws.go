package notice

import (
	"encoding/json"
	"fmt"
	"time"
)

// decodeAWSAction decodes an interruption:
//
//	{"action": "terminate", "time": "2026-11-26T08:22:00Z"}
func decodeAWSAction(body []byte) ([]Notice, error) {
	var a struct {
		Action string
		Time   time.Time
	}
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, err
	}
	if a.Action == "" {
		return nil, fmt.Errorf("an interruption without an action: %.100q", body)
	}
	return []Notice{{Kind: Interruption, Text: a.Action, Deadline: a.Time}}, nil
}

// decodeAWSMaintenance decodes the events of a machine:
//
//	[{"NotBefore": "21 Jan 2026 09:00:43 GMT", "NotAfter": "21 Jan 2026 09:17:23 GMT", "State": "active",
//	  "Code": "system-reboot", "Description": "scheduled reboot", "EventId": "instance-event-0d59937288b749b32"}]
//
// Events stay in the list when they are over or withdrawn. Maintenance of the network or the power
// (system-maintenance) stops the machine too, or cuts it off.
func decodeAWSMaintenance(body []byte) (notices []Notice, err error) {
	var events []struct{ NotBefore, Code, Description, EventID, State string }
	if err := json.Unmarshal(body, &events); err != nil {
		return nil, err
	}
	for _, e := range events {
		if e.State != "active" {
			continue
		}
		at, err := time.Parse("2 Jan 2006 15:04:05 MST", e.NotBefore)
		if err != nil {
			return nil, fmt.Errorf("event %s: %w", e.EventID, err)
		}
		notices = append(notices, Notice{ID: e.EventID, Kind: Maintenance, Text: e.Code + ": " + e.Description, Deadline: at})
	}
	return notices, nil
}

// decodeAWSRebalance decodes a recommendation, which has no deadline:
//
//	{"noticeTime": "2026-11-26T08:22:00Z"}
func decodeAWSRebalance(body []byte) ([]Notice, error) {
	var r struct{ NoticeTime time.Time }
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, err
	}
	if r.NoticeTime.IsZero() {
		return nil, fmt.Errorf("a recommendation without a time: %.100q", body)
	}
	return []Notice{{Kind: Rebalance, Text: "recommended at " + r.NoticeTime.UTC().Format(time.RFC3339)}}, nil
}
