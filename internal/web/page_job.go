package web

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/report"
)

// jobData is the page of a job.
type jobData struct {
	jobHead
	jobPast
	Job     apidoc.Job // the job's line of the list; the zero value if the list does not have it
	Report  report.Report
	Explain apidoc.Explanation
	Elapsed int64 // ms
	Graph   Graph
	Stages  []apidoc.Stage // as many as the page shows
	LeftOut int            // other stages
	Waits   []waitBar
	Final   bool
	Forms   []Form
	Audit   apidoc.Audit
}

func showJob(c *call) error {
	d := jobData{jobHead: c.jobHead()}
	if d.Report = read(c, docs.Job, docs.JobID{Job: d.ID}); c.err != nil {
		return c.err
	}
	d.Explain, d.Job = c.explain(d.ID, ""), read(c, docs.Line, docs.JobID{Job: d.ID})
	d.Final = d.Report.State != report.Running
	d.Elapsed = cmp.Or(d.Report.FinishTime, c.cfg.Now().UnixMilli()) - d.Report.StartTime
	d.Stages, d.LeftOut = shownStages(d.Explain.Stages)
	d.Waits = waitBars(d.Explain.Waits, d.Stages)
	past, written := c.pastOf(&d.Report)
	d.jobPast, d.Graph, d.Audit = past, drawGraph(d.Stages, written), optional(c, docs.Audit, docs.AuditQuery{Job: d.ID})
	if !d.Final {
		without := "resume"
		if d.Job.Suspended {
			without = "suspend"
		}
		d.Forms = formsOn(docs.ActionsOn("job", without), d.ID, c.poolNames())
	}
	id := shellWord(d.ID)
	commands := []Command{{"its state", "hammr job status " + id}, {"why it waits", "hammr job explain " + id}, {"its logs", "hammr job logs " + id}}
	if d.Final {
		day := time.UnixMilli(d.Report.FinishTime).UTC().Format(time.DateOnly)
		commands = append(commands, whatIf("from", day, "to", day))
	}
	return c.render(http.StatusOK, "job", d.ID, &d, commands...)
}

// explain returns why a job or a task has or lacks slots. Only the leader knows that: without a leader
// the page is shown without it.
func (c *call) explain(job, task string) (e apidoc.Explanation) {
	if c.err != nil {
		return e
	}
	a, err := docs.Explanation.Read(c.ctx, c.cfg.Source, docs.TaskID{Job: job, Task: task})
	if errors.Is(err, docs.ErrUnavailable) {
		c.stale = cmp.Or(c.stale, err)
		return e
	}
	return use(c, a, err)
}

// poolNames returns the names of the pools that accept jobs. A form is shown without them if they
// are not known.
func (c *call) poolNames() (names []string) {
	for _, p := range optional(c, docs.Pools, docs.No{}) {
		if p.State == "RUNNING" {
			names = append(names, p.Name)
		}
	}
	return names
}

// State returns the state of the job as users see it.
func (d *jobData) State() string { return cmp.Or(docs.ShownState(d.Job), string(d.Report.State)) }

// Maps and Reduces return the numbers of tasks by the stages of the explanation if the list does not
// have the job.
func (d *jobData) Maps() apidoc.Progress { return d.progress(d.Job.Maps, "map") }

// Reduces is like Maps.
func (d *jobData) Reduces() apidoc.Progress { return d.progress(d.Job.Reduces, "reduce") }

func (d *jobData) progress(listed apidoc.Progress, slot string) apidoc.Progress {
	if d.Job.JobID != "" {
		return listed
	}
	var p apidoc.Progress
	for _, s := range d.Explain.Stages {
		if s.Slot == slot || s.Slot == "" && s.Name == slot {
			p.Total, p.Done, p.Running = p.Total+s.Tasks, p.Done+s.Finished, p.Running+s.Running
		}
	}
	if p.Total > 0 {
		p.Fraction = float64(p.Done) / float64(p.Total)
	}
	return p
}

// maxShownStages bounds the stages on the page of a job. An iterative program can have hundreds.
const maxShownStages = 40

// shownStages returns the stages that the page shows. It leaves out the first ones that are finished,
// then the last ones.
func shownStages(all []apidoc.Stage) (shown []apidoc.Stage, leftOut int) {
	leftOut = max(0, len(all)-maxShownStages)
	first := 0
	for first < leftOut && all[first].Finished == all[first].Tasks {
		first++
	}
	return all[first:min(len(all), first+maxShownStages)], leftOut
}

// maxShownFailures bounds the failures on the page of a job.
const maxShownFailures = 20

// Failures returns the failures that the page shows, the first cause on top.
func (d *jobData) Failures() []report.Failure {
	return d.Report.Failures[:min(len(d.Report.Failures), maxShownFailures)]
}

// attemptRow is an attempt on the page of its task.
type attemptRow struct {
	report.Attempt
	attemptStory
	Cause   string // why it was killed or preempted, or has failed; "" if unknown
	Elapsed int64
	Streams []string
	Forms   []Form
	Profile *profileForm // nil if its process cannot answer
}

func showTask(c *call) error {
	job, id := c.params["job"], c.params["task"]
	q := docs.TaskID{Job: job, Task: id}
	task, events, explanation := read(c, docs.Task, q), read(c, docs.Events, q), c.explain(job, id)
	stories := storiesOf(events.Events)
	causes := make(map[string]apidoc.ExplainedAttempt)
	if explanation.Task != nil {
		for _, attempt := range explanation.Task.Attempts {
			causes[attempt.ID] = attempt
		}
	}
	var rows []attemptRow
	for _, attempt := range slices.Backward(task.Attempts) {
		r := attemptRow{Attempt: attempt, Cause: causes[attempt.ID].Cause, Streams: docs.LogStreams}
		if attempt.FinishTime != 0 {
			r.Elapsed = attempt.FinishTime - attempt.StartTime
		}
		if story := stories[attempt.ID]; story != nil {
			r.attemptStory = *story
		}
		if attempt.State == report.Running {
			without := "resume"
			r.Profile = newProfileForm("attempt", attempt.ID)
			if causes[attempt.ID].State == apidoc.Suspended {
				r.State, without, r.Profile = apidoc.Suspended, "preempt", nil
			}
			r.Forms = formsOn(docs.ActionsOn("attempt", without), attempt.ID, nil)
		}
		rows = append(rows, r)
	}
	return c.render(http.StatusOK, "task", id, struct {
		jobHead
		Task     report.Task
		Explain  *apidoc.ExplainedTask
		Attempts []attemptRow
		Since    string // before when the events are not complete, "" if they are
	}{c.jobHead(), task, explanation.Task, rows, eventsSince(events.Since)},
		Command{"why it waits", "hammr job explain " + shellWord(job) + " " + shellWord(id)}, Command{"its logs", "hammr task logs " + shellWord(id)})
}

// counterGroup is a group of counters, in Hadoop's order.
type counterGroup struct {
	Name     string
	Counters []counterRow
}

type counterRow struct {
	Name        string
	Value       int64
	Map, Reduce int64 // of its tasks; 0 if unknown
}

func showCounters(c *call) error {
	q := docs.JobID{Job: c.params["job"]}
	r, byType := read(c, docs.Job, q), optional(c, docs.TypeCounters, q, docs.ErrUnknown)
	return c.render(http.StatusOK, "counters", "Counters of "+c.params["job"], struct {
		jobHead
		Task   string
		Groups []counterGroup
		Split  bool // the counters of maps and of reduces are known
	}{c.jobHead(), "", splitGroups(r.Counters, byType), len(byType) > 0}, Command{"its counters", "hammr job counters " + shellWord(c.params["job"])})
}

func counterGroups(values counter.Values) (groups []counterGroup) {
	for _, name := range values.Groups() {
		g := counterGroup{Name: strings.TrimSpace(name)}
		for _, counterName := range values.Names(name) {
			g.Counters = append(g.Counters, counterRow{Name: counterName, Value: values[name][counterName]})
		}
		groups = append(groups, g)
	}
	return groups
}

// property is a line of a job's configuration.
type property struct{ Name, Value, Default, Doc string }

func showConfiguration(c *call) error {
	set := read(c, docs.Configuration, docs.JobID{Job: c.params["job"]})
	changed, same := sortProperties(set, c.params["all"] == "yes")
	return c.render(http.StatusOK, "conf", "Configuration of "+c.params["job"], struct {
		jobHead
		Changed, Same []property
		All           string // URL of the page with all defaults
	}{c.jobHead(), changed, same, "/jobs/" + url.PathEscape(c.params["job"]) + "/conf?all=yes"},
		Command{"it as JSON", fmt.Sprintf("hammr job status %s --json", shellWord(c.params["job"]))})
}

// sortProperties returns the properties that differ from their defaults, or have none, and the
// others. If all is set, the others include properties that are not set.
func sortProperties(set map[string]string, all bool) (changed, same []property) {
	known := make(map[string]conf.Key)
	for _, k := range conf.Keys() {
		known[k.Name] = k
		if _, isSet := set[k.Name]; all && !isSet {
			same = append(same, property{k.Name, k.Default, k.Default, k.Doc})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		k, declared := known[name]
		p := property{name, set[name], k.Default, k.Doc}
		if declared && p.Value == k.Default {
			same = append(same, p)
		} else {
			changed = append(changed, p)
		}
	}
	slices.SortFunc(same, func(a, b property) int { return strings.Compare(a.Name, b.Name) })
	return changed, same
}
