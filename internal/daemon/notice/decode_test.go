package notice

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"
)

// at returns a time of a fixed day.
func at(clock string) time.Time {
	t, err := time.Parse(time.DateTime, "2026-11-26 "+clock)
	if err != nil {
		panic(err)
	}
	return t
}

// decodeCases are documents as the clouds describe them, and some that are damaged.
var decodeCases = []struct {
	name   string
	decode func(body string) ([]Notice, error)
	body   string
	want   []Notice
	err    string // part of the error; "" for none
}{
	{"AWS: terminate", awsAction, `{"action": "terminate", "time": "2026-11-26T08:22:00Z"}`,
		[]Notice{{Kind: Interruption, Text: "terminate", Deadline: at("08:22:00")}}, ""},
	{"AWS: stop", awsAction, `{"action": "stop", "time": "2026-11-26T08:22:00Z"}`,
		[]Notice{{Kind: Interruption, Text: "stop", Deadline: at("08:22:00")}}, ""},
	{"AWS: hibernate begins at once", awsAction, `{"action": "hibernate"}`, []Notice{{Kind: Interruption, Text: "hibernate"}}, ""},
	{"AWS: no action", awsAction, `{}`, nil, "an interruption without an action"},
	{"AWS: a wrong time", awsAction, `{"action": "stop", "time": "soon"}`, nil, "soon"},
	{"AWS: a page of a proxy", awsAction, `<html>`, nil, "invalid character"},

	{"AWS: no events", awsMaintenance, `[]`, nil, ""},
	{"AWS: a reboot", awsMaintenance, `[{"NotBefore": "26 Nov 2026 09:00:43 GMT", "Code": "system-reboot", "Description": "scheduled reboot",
		"EventId": "instance-event-0d59937288b749b32", "NotAfter": "26 Nov 2026 09:17:23 GMT", "State": "active"}]`,
		[]Notice{{ID: "instance-event-0d59937288b749b32", Kind: Maintenance, Text: "system-reboot: scheduled reboot", Deadline: at("09:00:43")}}, ""},
	{"AWS: a day of one digit, and no end", awsMaintenance, `[{"NotBefore": "1 Jan 2027 02:00:00 GMT", "Code": "instance-stop", "Description": "degraded hardware",
		"EventId": "e1", "State": "active"}]`,
		[]Notice{{ID: "e1", Kind: Maintenance, Text: "instance-stop: degraded hardware", Deadline: time.Date(2027, 1, 1, 2, 0, 0, 0, time.UTC)}}, ""},
	{"AWS: events that are over or withdrawn", awsMaintenance, `[{"NotBefore": "26 Nov 2026 09:00:43 GMT", "Code": "system-reboot", "Description": "[Completed] scheduled reboot", "EventId": "e1", "State": "completed"},
		{"NotBefore": "26 Nov 2026 09:00:43 GMT", "Code": "system-reboot", "Description": "[Canceled] scheduled reboot", "EventId": "e2", "State": "canceled"}]`, nil, ""},
	{"AWS: an event with a wrong time", awsMaintenance, `[{"NotBefore": "tomorrow", "EventId": "e1", "State": "active"}]`, nil, "event e1"},

	{"AWS: a recommendation", awsRebalance, `{"noticeTime": "2026-11-26T08:22:00Z"}`,
		[]Notice{{Kind: Rebalance, Text: "recommended at 2026-11-26T08:22:00Z"}}, ""},
	{"AWS: no time", awsRebalance, `{}`, nil, "a recommendation without a time"},

	{"GCP: nothing", gcpValues, "FALSE NONE", nil, ""},
	{"GCP: preempted", gcpValues, "TRUE NONE", []Notice{{Kind: Interruption, Text: "preempted"}}, ""},
	{"GCP: a migration", gcpValues, "FALSE MIGRATE_ON_HOST_MAINTENANCE", nil, ""},
	{"GCP: a termination", gcpValues, "FALSE TERMINATE_ON_HOST_MAINTENANCE", []Notice{{Kind: Maintenance, Text: "TERMINATE_ON_HOST_MAINTENANCE"}}, ""},
	{"GCP: both", gcpValues, "TRUE TERMINATE_ON_HOST_MAINTENANCE",
		[]Notice{{Kind: Interruption, Text: "preempted"}, {Kind: Maintenance, Text: "TERMINATE_ON_HOST_MAINTENANCE"}}, ""},
	{"GCP: not a value", gcpValues, "<html> NONE", nil, `preempted: "<html>"; expected TRUE`},
	{"GCP: not an event", gcpValues, "FALSE <html>", nil, `maintenance-event: "<html>"; expected NONE`},

	{"Azure: no events", azureEvents, `{"DocumentIncarnation": 1, "Events": []}`, nil, ""},
	{"Azure: a reboot", azureEvents, azureEvent("Reboot", "Scheduled", `"worker-7"`, "Thu, 26 Nov 2026 18:29:47 GMT"),
		[]Notice{{ID: "e1", Kind: Maintenance, Text: "Reboot: of the host", Deadline: at("18:29:47"), Alone: true}}, ""},
	{"Azure: preempted, of several machines", azureEvents, azureEvent("Preempt", "Scheduled", `"other", "WORKER-7"`, "Thu, 26 Nov 2026 18:29:47 GMT"),
		[]Notice{{ID: "e1", Kind: Interruption, Text: "Preempt: of the host", Deadline: at("18:29:47")}}, ""},
	{"Azure: has started", azureEvents, azureEvent("Terminate", "Started", `"worker-7"`, ""),
		[]Notice{{ID: "e1", Kind: Interruption, Text: "Terminate: of the host"}}, ""},
	{"Azure: a pause", azureEvents, azureEvent("Freeze", "Scheduled", `"worker-7"`, "Thu, 26 Nov 2026 18:29:47 GMT"), nil, ""},
	{"Azure: over", azureEvents, azureEvent("Reboot", "Completed", `"worker-7"`, ""), nil, ""},
	{"Azure: other machines", azureEvents, azureEvent("Redeploy", "Scheduled", `"worker-8"`, "Thu, 26 Nov 2026 18:29:47 GMT"), nil, ""},
	{"Azure: an event with a wrong time", azureEvents, azureEvent("Redeploy", "Scheduled", `"worker-7"`, "tomorrow"), nil, "event e1"},
	{"Azure: an error as a document", azureEvents, `{"error": "Bad request"}`, nil, "a document without events"},
}

func awsAction(body string) ([]Notice, error)      { return decodeAWSAction([]byte(body)) }
func awsMaintenance(body string) ([]Notice, error) { return decodeAWSMaintenance([]byte(body)) }
func awsRebalance(body string) ([]Notice, error)   { return decodeAWSRebalance([]byte(body)) }
func azureEvents(body string) ([]Notice, error)    { return decodeAzure([]byte(body), "worker-7") }

// gcpValues polls a service with two values.
func gcpValues(body string) ([]Notice, error) {
	preempted, event, _ := strings.Cut(body, " ")
	p := newGCP(Address).poller
	p.get = func(_ context.Context, path string, _ time.Duration) ([]byte, error) {
		return []byte(map[string]string{gcpPreemptedPath: preempted, gcpMaintenancePath: event + "\n"}[path]), nil
	}
	return p.Poll(context.Background(), 0)
}

// azureEvent returns a document with one event.
func azureEvent(typ, status, resources, notBefore string) string {
	return `{"DocumentIncarnation": 2, "Events": [{"EventId": "e1", "EventType": "` + typ + `", "EventStatus": "` + status + `",
		"ResourceType": "VirtualMachine", "Resources": [` + resources + `], "NotBefore": "` + notBefore + `",
		"Description": "of the host", "EventSource": "Platform", "DurationInSeconds": -1}]}`
}

func TestDecoders(t *testing.T) {
	for _, c := range decodeCases {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.decode(c.body)
			if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v, want %q", err, c.err)
			}
			if !slices.EqualFunc(got, c.want, sameNotice) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

// sameNotice compares notices whose deadlines may be in different zones.
func sameNotice(a, b Notice) bool {
	equal := a.Deadline.Equal(b.Deadline)
	a.Deadline, b.Deadline = time.Time{}, time.Time{}
	return equal && a == b
}

// FuzzDecoders decodes what is no document. The decoders must not panic, and return no notice with
// an error.
func FuzzDecoders(f *testing.F) {
	for _, c := range decodeCases {
		f.Add(c.body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		for _, decode := range []func(string) ([]Notice, error){awsAction, awsMaintenance, awsRebalance, gcpValues, azureEvents} {
			if notices, err := decode(body); err != nil && len(notices) > 0 {
				t.Errorf("%v with %+v", err, notices)
			}
		}
	})
}

func TestChoose(t *testing.T) {
	now := at("12:00:00")
	interruption := Notice{Kind: Interruption, Deadline: at("12:02:00")}
	soon, distant := Notice{Kind: Maintenance, Deadline: at("12:10:00")}, Notice{Kind: Maintenance, Deadline: at("12:10:01")}
	started, rebalance := Notice{Kind: Maintenance}, Notice{Kind: Rebalance}
	followed := []Kind{Interruption, Maintenance}
	for name, c := range map[string]struct {
		notices []Notice
		kinds   []Kind
		want    *Notice
	}{
		"none":                               {nil, followed, nil},
		"the first deadline":                 {[]Notice{soon, interruption}, followed, &interruption},
		"a maintenance much later":           {[]Notice{distant}, followed, nil},
		"a maintenance soon":                 {[]Notice{soon}, followed, &soon},
		"without a deadline":                 {[]Notice{started}, followed, &started},
		"without a deadline comes last":      {[]Notice{started, interruption}, followed, &interruption},
		"a kind that is not followed":        {[]Notice{rebalance}, followed, nil},
		"a recommendation that is followed":  {[]Notice{rebalance}, []Kind{Rebalance}, &rebalance},
		"an interruption is not followed":    {[]Notice{interruption}, []Kind{Rebalance}, nil},
		"an interruption whose time is over": {[]Notice{{Kind: Interruption, Deadline: at("11:00:00")}}, followed, &Notice{Kind: Interruption, Deadline: at("11:00:00")}},
	} {
		got := choose(c.notices, c.kinds, now)
		if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestDetect(t *testing.T) {
	for want, fields := range map[string]map[string]string{
		CloudAWS:   {"sys_vendor": "Amazon EC2", "product_name": "m5.large"},
		CloudGCP:   {"sys_vendor": "Google", "product_name": "Google Compute Engine"},
		CloudAzure: {"sys_vendor": "Microsoft Corporation", "chassis_asset_tag": azureTag},
		"":         {"sys_vendor": "Microsoft Corporation", "product_name": "Virtual Machine"}, // Hyper-V
	} {
		if got := detect(func(name string) string { return fields[name] }); got != want {
			t.Errorf("%v: %q, want %q", fields, got, want)
		}
	}
}
