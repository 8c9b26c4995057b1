package hadoop

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/kit/clean"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// job is a job with its tasks.
type job struct {
	*wire.JobStatus
	over bool
}

// ofJob returns a document of the job of a request. The id of the job in a path below /proxy
// must be that of the application.
func ofJob[A any](c *Call, d docs.Document[docs.JobID, A]) A {
	a, err := d.Read(c.ctx, c.Source, docs.JobID{Job: c.Object.ID})
	app := c.r.PathValue("app")
	if id, wrong := jobOfApp(app); app != "" && (wrong != nil || id != c.Object.ID) {
		err = docs.ErrUnknown
	}
	if errors.Is(err, docs.ErrUnknown) {
		err = notFound("job, %s, is not found", c.Object.ID)
	}
	c.fail(err)
	return a.Value
}

// reportOf returns the job of a request without its tasks.
func reportOf(c *Call) report.Report { return ofJob(c, docs.Job) }

// job returns the job of a request, with its tasks.
func (c *Call) job() *job {
	s := ofJob(c, docs.Status)
	return &job{s, s.GetState().Final()}
}

func masterInfo(c *Call, j *apidoc.Job) *document {
	elapsed := c.now - j.SubmitTime
	if isOver(j.State) {
		elapsed = j.FinishTime - j.SubmitTime
	}
	return &document{root: "info", body: object{
		{"appId", appOf(j.JobID)}, {"name", j.Name}, {"user", j.User}, {"startedOn", j.SubmitTime}, {"elapsedTime", max(0, elapsed)},
	}}
}

func jobOfMaster(c *Call, j *job) *document {
	return &document{root: "jobs", body: object{{"job", []object{c.masterJob(j)}}}}
}

// runningJobs answers with the jobs of all application masters that would run now.
func runningJobs(c *Call) *document {
	var rows []object
	for row := range c.jobs(docs.JobQuery{States: []string{"PREP", "RUNNING"}}) {
		c.Object.ID = row.JobID
		j := c.job()
		if c.err != nil {
			break
		}
		rows = append(rows, c.masterJob(j))
	}
	return &document{root: "jobs", body: object{{"job", rows}}}
}

func oneJob(c *Call, j *job) *document {
	if c.isHistory() {
		return &document{root: "job", body: c.historyJob(j)}
	}
	return &document{root: "job", body: c.masterJob(j)}
}

// tally counts attempts of one kind of tasks, and adds up the times of the successful ones.
type tally struct {
	running, failed, killed, successful int32
	total, shuffle                      int64 // ms
}

func isReduce(t *wire.TaskStatus) bool { return t.Kind == taskproc.Kind_REDUCE }

func (j *job) tally() (m, r tally) {
	for _, t := range j.Tasks {
		counts := &m
		if isReduce(t) {
			counts = &r
		}
		for _, a := range t.Attempts {
			switch attemptState(a, j.over) {
			case "RUNNING":
				counts.running++
			case "FAILED":
				counts.failed++
			case "KILLED":
				counts.killed++
			default:
				counts.successful++
				counts.total += a.FinishTime - max(a.StartTime, a.ShuffleFinishTime)
				counts.shuffle += max(0, a.ShuffleFinishTime-a.StartTime)
			}
		}
	}
	return m, r
}

// mean returns a time of one successful attempt, ms.
func (t *tally) mean(total int64) int64 { return total / int64(max(1, t.successful)) }

// masterJob describes a job as its application master does.
func (c *Call) masterJob(j *job) object {
	m, r := j.tally()
	end := c.now
	if j.over {
		end = j.FinishTime
	}
	return object{
		{"startTime", cmp.Or(j.StartTime, j.SubmitTime)}, {"finishTime", j.FinishTime}, {"elapsedTime", max(0, end-j.SubmitTime)}, {"id", j.JobId}, {"name", j.Name}, {"user", j.User},
		{"queue", queueOf(j.Queue)}, {"state", jobState(j.State)}, {"mapsTotal", j.Maps}, {"mapsCompleted", j.MapsDone},
		{"reducesTotal", j.Reduces}, {"reducesCompleted", j.ReducesDone}, {"mapProgress", 100 * j.MapProgress}, {"reduceProgress", 100 * j.ReduceProgress},
		{"mapsPending", j.pending(j.Maps, j.MapsDone, j.MapsRunning)}, {"mapsRunning", j.MapsRunning},
		{"reducesPending", j.pending(j.Reduces, j.ReducesDone, j.ReducesRunning)}, {"reducesRunning", j.ReducesRunning},
		{"uberized", false}, {"diagnostics", diagnosticsOf(c.diagnostics(j.Cause))},
		{"newReduceAttempts", 0}, {"runningReduceAttempts", r.running}, {"failedReduceAttempts", r.failed}, {"killedReduceAttempts", r.killed},
		{"successfulReduceAttempts", r.successful}, {"newMapAttempts", 0}, {"runningMapAttempts", m.running}, {"failedMapAttempts", m.failed},
		{"killedMapAttempts", m.killed}, {"successfulMapAttempts", m.successful},
	}
}

// pending returns how many tasks wait.
func (j *job) pending(all, done, running int32) int32 {
	if j.over {
		return 0
	}
	return max(0, all-done-running)
}

// historyJob describes a job as the history server does. It has no time of merges of its own: what
// follows the shuffle counts as the reduce.
func (c *Call) historyJob(j *job) object {
	m, r := j.tally()
	return append(historyRow(&apidoc.Jobs([]*wire.JobStatus{j.JobStatus})[0]),
		field{"uberized", false}, field{"diagnostics", diagnosticsOf(c.diagnostics(j.Cause))}, field{"avgMapTime", m.mean(m.total)}, field{"avgReduceTime", r.mean(r.total)},
		field{"avgShuffleTime", r.mean(r.shuffle)}, field{"avgMergeTime", 0},
		field{"failedReduceAttempts", r.failed}, field{"killedReduceAttempts", r.killed}, field{"successfulReduceAttempts", r.successful},
		field{"failedMapAttempts", m.failed}, field{"killedMapAttempts", m.killed}, field{"successfulMapAttempts", m.successful})
}

func historyRow(j *apidoc.Job) object {
	return object{
		{"submitTime", j.SubmitTime}, {"startTime", j.StartTime}, {"finishTime", j.FinishTime}, {"id", j.JobID}, {"name", j.Name}, {"queue", queueOf(j.Queue)},
		{"user", j.User}, {"state", j.State}, {"mapsTotal", j.Maps.Total}, {"mapsCompleted", j.Maps.Done}, {"reducesTotal", j.Reduces.Total},
		{"reducesCompleted", j.Reduces.Done},
	}
}

// finishedJobs answers with the jobs that are over and that the parameters select.
func finishedJobs(c *Call) *document {
	limit, inTime := c.limit(), c.times()
	states := apidoc.JobStates[apidoc.FirstFinalState:]
	if state := c.param("state"); state != "" {
		if !slices.Contains(jobStates, state) {
			c.fail(&failure{400, "java.lang.IllegalArgumentException", "No enum constant org.apache.hadoop.mapreduce.v2.api.records.JobState." + state})
		}
		states = slices.DeleteFunc(slices.Clone(states), func(s string) bool { return s != state })
	}
	var rows []object
	for j := range c.jobs(docs.JobQuery{States: states, User: c.param("user")}) {
		switch {
		case !slices.Contains(states, j.State), c.param("queue") != "" && poolOf(c.param("queue")) != j.Queue:
		case !inTime(j.StartTime, j.FinishTime):
		default:
			rows = append(rows, historyRow(&j))
		}
		if len(rows) == limit {
			break
		}
	}
	return &document{root: "jobs", body: object{{"job", rows}}}
}

// jobAttempts answers with the one attempt at a job: a job survives the end of a master.
func jobAttempts(c *Call, r report.Report) *document {
	return &document{root: "jobAttempts", body: object{{"jobAttempt", []object{{
		{"nodeHttpAddress", c.r.Host}, {"nodeId", c.r.Host}, {"id", 1}, {"startTime", r.StartTime}, {"containerId", masterContainer(r.JobID)},
		{"logsLink", c.url("/jobs/" + r.JobID)},
	}}}}}
}

// jobConf answers with the properties that were set, without secrets.
func jobConf(_ *Call, j *job) *document {
	var properties []object
	shown := clean.Properties(j.Properties)
	for _, name := range slices.Sorted(maps.Keys(shown)) {
		properties = append(properties, object{{"name", name}, {"value", shown[name]}, {"source", []string{"job.xml"}}})
	}
	return &document{root: "conf", body: object{{"path", j.JobId + "_conf.xml"}, {"property", properties}}}
}
