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
func apps(c *Call) *document {
	keep, q := c.appFilter()
	limit := c.limit()
	var rows []object
	for j := range c.jobs(q) {
		if len(rows) < limit && keep(&j) {
			rows = append(rows, c.app(&j, 0))
		}
		if len(rows) == limit {
			break
		}
	}
	return &document{root: "apps", body: object{{"app", rows}}}
}

// appFilter returns which jobs the parameters select.
func (c *Call) appFilter() (keep func(*apidoc.Job) bool, q docs.JobQuery) {
	states := c.choices("states", "application-state", appStates)
	if one := c.choices("state", "application-state", appStates); len(one) > 0 {
		states = one
	}
	inTime := c.times()
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
	}, q
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
func (c *Call) row() *apidoc.Job {
	for j := range c.jobs(docs.JobQuery{Text: c.Object.ID}) {
		if j.JobID == c.Object.ID {
			return &j
		}
	}
	r, err := docs.Job.Read(c.ctx, c.Source, docs.JobID{Job: c.Object.ID})
	if errors.Is(err, docs.ErrUnknown) {
		err = notFound("app with id: %s not found", appOf(c.Object.ID))
	}
	c.fail(err)
	j := rowOf(&r.Value)
	return &j
}

func oneApp(c *Call, j *apidoc.Job) *document {
	r := read(c, docs.Job, docs.JobID{Job: c.Object.ID})
	return &document{root: "app", body: c.app(j, r.Counters.Get(counter.SlotMillisMaps)+r.Counters.Get(counter.SlotMillisReduces))}
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
func appStatistics(c *Call) *document {
	states := c.choices("states", "application-state", appStates)
	types := c.listParam("applicationTypes")
	if len(types) > 1 {
		c.fail(badRequest("java.lang.Exception: # of applicationTypes = %d, we temporarily support at most one applicationType", len(types)))
	}
	kind := "*"
	if len(types) == 1 {
		kind = strings.ToLower(types[0])
	}
	counts := c.states()
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
	return &document{root: "appStatInfo", body: object{{"statItem", items}}}
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
func putState(c *Call) *document {
	switch {
	case !slices.Contains(appStates, c.Value):
		c.fail(badRequest("java.lang.Exception: Invalid application-state %s specified. It should be one of [%s]", c.Value, strings.Join(appStates, ", ")))
	case c.Value != "KILLED":
		c.fail(badRequest("java.lang.Exception: Only 'KILLED' is allowed as a target state."))
	}
	j := c.row()
	if c.err == nil && !isOver(j.State) {
		if err := c.change("kill", ""); !errors.Is(err, docs.ErrRefused) { // it has just ended
			c.fail(err)
		}
	}
	d := stateDocument(c, c.row())
	if !isOver(j.State) {
		d.status = http.StatusAccepted
	}
	return d
}

// putQueue answers with the new queue. A follower may apply the change later.
func putQueue(c *Call) *document {
	pool := poolOf(c.Value)
	c.fail(c.change("move", pool))
	return queueDocument(pool)
}

func putPriority(c *Call) *document {
	number, err := strconv.Atoi(c.Value)
	name, known := priorityNamed(min(number, priorities["VERY_HIGH"]))
	if err != nil || !known {
		c.fail(badRequest("java.lang.Exception: priority %s: expected a number from 0 to 5", c.Value))
		return nil
	}
	c.fail(c.change("priority", name))
	return priorityDocument(name)
}
