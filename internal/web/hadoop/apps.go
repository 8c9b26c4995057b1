package hadoop

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
)

// apps answers with the applications that the parameters select.
func apps(c *Call) (*document, error) {
	keep, q, err := c.appFilter()
	if err != nil {
		return nil, err
	}
	limit, err := c.limit()
	if err != nil {
		return nil, err
	}
	var rows []object
	for j, err := range c.jobs(q) {
		if err != nil {
			return nil, err
		}
		if len(rows) < limit && keep(&j) {
			rows = append(rows, c.app(&j, 0))
		}
		if len(rows) == limit {
			break
		}
	}
	return &document{root: "apps", body: object{{"app", rows}}}, nil
}

// appFilter returns which jobs the parameters select.
func (c *Call) appFilter() (keep func(*apidoc.Job) bool, q docs.JobQuery, err error) {
	states, err := c.choices("states", "application-state", appStates)
	if err != nil {
		return nil, q, err
	}
	if one, err := c.choices("state", "application-state", appStates); err != nil {
		return nil, q, err
	} else if len(one) > 0 {
		states = one
	}
	inTime, err := c.times()
	if err != nil {
		return nil, q, err
	}
	q = docs.JobQuery{States: jobsIn(states), User: c.param("user"), Text: c.param("name")}
	types, tags, queue, final := c.listParam("applicationTypes"), c.listParam("applicationTags"), c.param("queue"), c.param("finalStatus")
	return func(j *apidoc.Job) bool {
		yarn, status := appState(j.State)
		switch {
		case len(states) > 0 && !slices.Contains(states, yarn), final != "" && !strings.EqualFold(final, status):
		case queue != "" && poolOf(queue) != j.Queue, len(tags) > 0: // no application has tags
		case len(types) > 0 && !containsFold(types, "MAPREDUCE"):
		case c.param("name") != "" && c.param("name") != j.Name:
		case !inTime(j.SubmitTime, j.FinishTime):
		default:
			return true
		}
		return false
	}, q, nil
}

// app describes a job as an application. slotMillis is the time for which it has used slots.
func (c *Call) app(j *apidoc.Job, slotMillis int64) object {
	state, final := appState(j.State)
	running, elapsed, ui := j.Maps.Running+j.Reduces.Running, c.now-j.SubmitTime, "ApplicationMaster"
	diagnostics := j.WaitsFor
	if isOver(j.State) {
		running, elapsed, ui, diagnostics = 0, j.FinishTime-j.SubmitTime, "History", c.diagnostics(j.Cause)
	}
	progress := 100.0
	if total := j.Maps.Total + j.Reduces.Total; !isOver(j.State) && total > 0 {
		progress = 100 * (j.Maps.Fraction*float64(j.Maps.Total) + j.Reduces.Fraction*float64(j.Reduces.Total)) / float64(total)
	} else if state == "ACCEPTED" {
		progress = 0
	}
	number, _, _ := strings.Cut(strings.TrimPrefix(j.JobID, "job_"), "_")
	cluster, _ := strconv.ParseInt(number, 10, 64)
	return object{
		{"id", appOf(j.JobID)}, {"user", j.User}, {"name", j.Name}, {"queue", queueOf(j.Queue)}, {"state", state}, {"finalStatus", final},
		{"progress", progress}, {"trackingUI", ui}, {"trackingUrl", c.url("/proxy/" + appOf(j.JobID) + "/")}, {"diagnostics", diagnostics},
		{"clusterId", cluster}, {"applicationType", "MAPREDUCE"}, {"applicationTags", ""}, {"priority", priorities[j.Priority]},
		{"startedTime", j.SubmitTime}, {"launchTime", j.StartTime}, {"finishedTime", j.FinishTime}, {"elapsedTime", max(0, elapsed)},
		{"amContainerLogs", c.url("/jobs/" + j.JobID)}, {"amHostHttpAddress", c.r.Host}, {"amRPCAddress", c.r.Host}, {"masterNodeId", c.r.Host},
		{"allocatedMB", running * SlotMB}, {"allocatedVCores", running}, {"reservedMB", 0}, {"reservedVCores", 0}, {"runningContainers", running},
		{"memorySeconds", slotMillis * SlotMB / 1000}, {"vcoreSeconds", slotMillis / 1000}, {"queueUsagePercentage", 0.0}, {"clusterUsagePercentage", 0.0},
		{"resourceSecondsMap", object{{"entry", object{{"key", "vcores"}, {"value", strconv.FormatInt(slotMillis/1000, 10)}}}}},
		{"preemptedResourceMB", 0}, {"preemptedResourceVCores", 0}, {"numNonAMContainerPreempted", 0}, {"numAMContainerPreempted", 0},
		{"preemptedMemorySeconds", 0}, {"preemptedVcoreSeconds", 0}, {"preemptedResourceSecondsMap", object{}},
		{"logAggregationStatus", "DISABLED"}, {"unmanagedApplication", false}, {"amNodeLabelExpression", ""},
		{"timeouts", object{{"timeout", []object{{{"type", "LIFETIME"}, {"expiryTime", "UNLIMITED"}, {"remainingTimeInSeconds", -1}}}}}},
	}
}

// row returns the job of the request as lists have it. Lists do not have jobs whose histories only
// are kept.
func (c *Call) row() (*apidoc.Job, error) {
	for j, err := range c.jobs(docs.JobQuery{Text: c.Object.ID}) {
		if err != nil {
			return nil, err
		}
		if j.JobID == c.Object.ID {
			return &j, nil
		}
	}
	r, err := read(c, docs.Job, docs.JobID{Job: c.Object.ID})
	if errors.Is(err, docs.ErrUnknown) {
		err = notFound("app with id: %s not found", appOf(c.Object.ID))
	}
	if err != nil {
		return nil, err
	}
	j := rowOf(&r)
	return &j, nil
}

func oneApp(c *Call) (*document, error) {
	j, err := c.row()
	if err != nil {
		return nil, err
	}
	r, err := read(c, docs.Job, docs.JobID{Job: c.Object.ID})
	if err != nil {
		return nil, err
	}
	return &document{root: "app", body: c.app(j, r.Counters.Get(counter.SlotMillisMaps)+r.Counters.Get(counter.SlotMillisReduces))}, nil
}

func appAttempts(c *Call, j *apidoc.Job) *document {
	state, _ := appState(j.State)
	return &document{root: "appAttempts", body: object{{"appAttempt", []object{{
		{"id", 1}, {"startTime", j.SubmitTime}, {"finishedTime", j.FinishTime}, {"containerId", masterContainer(j.JobID)},
		{"nodeHttpAddress", c.r.Host}, {"nodeId", c.r.Host}, {"logsLink", c.url("/jobs/" + j.JobID)}, {"blacklistedNodes", ""}, {"nodesBlacklistedBySystem", ""},
		{"appAttemptId", "appattempt" + strings.TrimPrefix(j.JobID, "job") + "_000001"}, {"exportPorts", "null"}, {"appAttemptState", state},
	}}}}}
}

// appStatistics counts the applications in each state, of the type MAPREDUCE or of any.
func appStatistics(c *Call) (*document, error) {
	states, err := c.choices("states", "application-state", appStates)
	if err != nil {
		return nil, err
	}
	types := c.listParam("applicationTypes")
	if len(types) > 1 {
		return nil, badRequest("java.lang.Exception: # of applicationTypes = %d, we temporarily support at most one applicationType", len(types))
	}
	kind := "*"
	if len(types) == 1 {
		kind = strings.ToLower(types[0])
	}
	counts, err := c.states()
	if err != nil {
		return nil, err
	}
	if len(states) == 0 {
		states = appStates
	}
	var items []object
	for _, s := range states {
		n := 0
		for state, jobs := range counts {
			if yarn, _ := appState(state); yarn == s && (kind == "*" || kind == "mapreduce") {
				n += jobs
			}
		}
		items = append(items, object{{"state", s}, {"type", kind}, {"count", n}})
	}
	return &document{root: "appStatInfo", body: object{{"statItem", items}}}, nil
}

func stateDocument(_ *Call, j *apidoc.Job) *document {
	state, _ := appState(j.State)
	return &document{body: object{{"state", state}}}
}

func queueDocument(pool string) *document {
	return &document{body: object{{"queue", queueOf(pool)}}}
}

func priorityDocument(name string) *document {
	return &document{body: object{{"priority", priorities[name]}}}
}

// putState kills an application. The status is 202 until it is over. To kill it again does nothing.
func putState(c *Call) (*document, error) {
	if !slices.Contains(appStates, c.Value) {
		return nil, badRequest("java.lang.Exception: Invalid application-state %s specified. It should be one of [%s]", c.Value, strings.Join(appStates, ", "))
	}
	if c.Value != "KILLED" {
		return nil, badRequest("java.lang.Exception: Only 'KILLED' is allowed as a target state.")
	}
	j, err := c.row()
	if err == nil && !isOver(j.State) {
		err = c.change("kill", "")
		if errors.Is(err, docs.ErrRefused) { // it has just ended
			err = nil
		}
	}
	if err != nil {
		return nil, err
	}
	changed, err := c.row()
	if err != nil {
		return nil, err
	}
	d := stateDocument(c, changed)
	if !isOver(j.State) {
		d.status = http.StatusAccepted
	}
	return d, nil
}

// putQueue answers with the new queue. A follower may apply the change later.
func putQueue(c *Call) (*document, error) {
	pool := poolOf(c.Value)
	return queueDocument(pool), c.change("move", pool)
}

func putPriority(c *Call) (*document, error) {
	number, err := strconv.Atoi(c.Value)
	name, known := priorityNamed(min(number, priorities["VERY_HIGH"]))
	if err != nil || !known {
		return nil, badRequest("java.lang.Exception: priority %s: expected a number from 0 to 5", c.Value)
	}
	return priorityDocument(name), c.change("priority", name)
}
