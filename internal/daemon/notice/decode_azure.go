package notice

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// azureKinds are the types of events that stop a machine. A Freeze lasts some seconds and loses
// nothing, so it is no notice.
var azureKinds = map[string]Kind{"Preempt": Interruption, "Terminate": Interruption, "Reboot": Maintenance, "Redeploy": Maintenance}

// decodeAzure decodes a document of events. Each lists the machines that it concerns, by name:
//
//	{"DocumentIncarnation": 2, "Events": [{
//	  "EventId": "602d9444-d2cd-49c7-8624-8643e7171297", "EventType": "Reboot", "EventStatus": "Scheduled",
//	  "ResourceType": "VirtualMachine", "Resources": ["worker-7"], "NotBefore": "Mon, 19 Sep 2026 18:29:47 GMT",
//	  "Description": "Host server is undergoing maintenance.", "EventSource": "Platform", "DurationInSeconds": -1}]}
//
// An event that has started has no time. An acknowledgement would start the event on all of its machines.
func decodeAzure(body []byte, machine string) (notices []Notice, err error) {
	var document struct {
		Events *[]struct {
			EventID, EventType, EventStatus, NotBefore, Description string
			Resources                                               []string
		}
	}
	if err := json.Unmarshal(body, &document); err != nil {
		return nil, err
	}
	if document.Events == nil {
		return nil, fmt.Errorf("a document without events: %.100q", body)
	}
	for _, e := range *document.Events {
		kind, stops := azureKinds[e.EventType]
		concerns := slices.ContainsFunc(e.Resources, func(r string) bool { return strings.EqualFold(r, machine) })
		if !stops || !concerns || e.EventStatus != "Scheduled" && e.EventStatus != "Started" {
			continue
		}
		n := Notice{ID: e.EventID, Kind: kind, Text: strings.TrimSuffix(e.EventType+": "+e.Description, ": ")}
		n.Alone = len(e.Resources) == 1 && e.EventStatus == "Scheduled"
		if e.NotBefore != "" {
			if n.Deadline, err = time.Parse(time.RFC1123, e.NotBefore); err != nil {
				return nil, fmt.Errorf("event %s: %w", e.EventID, err)
			}
		}
		notices = append(notices, n)
	}
	return notices, nil
}
