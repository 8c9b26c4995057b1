package hadoop

import (
	"net/http"
	"strings"

	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/rpc/access"
)

// of makes the function of an endpoint that reads one thing and describes it, unless it cannot be read.
func of[T any](read func(*Call) T, describe func(*Call, T) *document) func(*Call) *document {
	return func(c *Call) *document {
		value := read(c)
		if c.err != nil {
			return nil
		}
		return describe(c, value)
	}
}

// Endpoints returns the table of all paths.
func Endpoints() []*Endpoint {
	get := func(path, object, doc string, serve func(*Call) *document) *Endpoint {
		return &Endpoint{Method: http.MethodGet, Path: path, Verb: access.View, Object: object, Doc: doc, serve: serve}
	}
	put := func(path, key, call, doc string, serve func(*Call) *document) *Endpoint {
		return &Endpoint{Method: http.MethodPut, Path: path, Verb: access.ChangeJob, Object: "job", Call: call, Doc: doc, key: key, serve: serve}
	}
	const cluster, app = "/ws/v1/cluster", "/ws/v1/cluster/apps/{app}"
	all := []*Endpoint{
		get(cluster, "cluster", "The cluster.", of(mastersOf, clusterInfo)),
		get(cluster+"/info", "cluster", "The cluster.", of(mastersOf, clusterInfo)),
		get(cluster+"/metrics", "cluster", "Figures of the cluster.", clusterMetrics),
		get(cluster+"/scheduler", "pool", "The scheduler and its queues.", scheduler),
		get(cluster+"/apps", "job", "Applications.", apps),
		get(cluster+"/appstatistics", "job", "Numbers of applications by state.", appStatistics),
		get(app, "job", "An application.", of((*Call).row, oneApp)),
		get(app+"/appattempts", "job", "Attempts of an application: one.", of((*Call).row, appAttempts)),
		get(app+"/state", "job", "State of an application.", of((*Call).row, stateDocument)),
		get(app+"/queue", "job", "Queue of an application.", of((*Call).row, func(_ *Call, j *apidoc.Job) *document { return queueDocument(j.Queue) })),
		get(app+"/priority", "job", "Priority of an application.", of((*Call).row, func(_ *Call, j *apidoc.Job) *document { return priorityDocument(j.Priority) })),
		put(app+"/state", "state", "Kill", "Kills an application.", putState),
		put(app+"/queue", "queue", "MoveJob", "Moves an application to a queue.", putQueue),
		put(app+"/priority", "priority", "SetPriority", "Changes the priority of an application.", putPriority),
		get(cluster+"/nodes", "node", "Nodes.", nodes),
		get(cluster+"/nodes/{node}", "node", "A node.", oneNode),
		{Method: http.MethodPost, Path: cluster + "/apps", Verb: access.ChangeJob, Object: "job", Call: "Submit", Doc: "Refused: applications are not submitted here.", serve: noSubmit},
		{Method: http.MethodPost, Path: cluster + "/apps/new-application", Verb: access.ChangeJob, Object: "job", Call: "Submit", Doc: "Refused: applications are not submitted here.", serve: noSubmit},

		get("/proxy/{app}/ws/v1/mapreduce", "job", "The application master of a job.", of((*Call).row, masterInfo)),
		get("/proxy/{app}/ws/v1/mapreduce/info", "job", "The application master of a job.", of((*Call).row, masterInfo)),
		get("/proxy/{app}/ws/v1/mapreduce/jobs", "job", "The job of an application.", of((*Call).job, jobOfMaster)),
		get("/ws/v1/mapreduce/jobs", "job", "Jobs that run.", runningJobs),
		get("/ws/v1/history", "cluster", "The history server.", of(mastersOf, historyInfo)),
		get("/ws/v1/history/info", "cluster", "The history server.", of(mastersOf, historyInfo)),
		get("/ws/v1/history/mapreduce/jobs", "job", "Jobs that are over.", finishedJobs),

		get("/cluster", "cluster", "Leads to the overview.", redirect("/")),
		get("/cluster/app/{app}", "job", "Leads to a job.", toJob),
		get("/jobhistory/job/{job}", "job", "Leads to a job.", toJob),
		get("/proxy/{app}", "job", "Leads to a job.", toJob),
		get("/proxy/{app}/{$}", "job", "Leads to a job.", toJob),
		get("/isActive", "master", "200 if the master leads, else 405.", of(mastersOf, isActive)),
	}
	for _, root := range []string{"/proxy/{app}/ws/v1/mapreduce", "/ws/v1/mapreduce", "/ws/v1/history/mapreduce"} {
		job, task, attempt := root+"/jobs/{job}", root+"/jobs/{job}/tasks/{task}", root+"/jobs/{job}/tasks/{task}/attempts/{attempt}"
		all = append(all,
			get(job, "job", "A job.", of((*Call).job, oneJob)),
			get(job+"/jobattempts", "job", "Attempts at a job: one.", of(reportOf, jobAttempts)),
			get(job+"/counters", "job", "Counters of a job.", of(reportOf, jobCounters)),
			get(job+"/conf", "job", "Configuration of a job, as it was set.", of((*Call).job, jobConf)),
			get(job+"/tasks", "job", "Tasks of a job.", tasks),
			get(task, "job", "A task.", of((*Call).taskOf, oneTask)),
			get(task+"/counters", "job", "Counters of a task.", of((*Call).taskOf, taskCounters)),
			get(task+"/attempts", "job", "Attempts at a task.", of((*Call).taskOf, attempts)),
			get(attempt, "job", "An attempt.", of((*Call).attemptOf, oneAttempt)),
			get(attempt+"/counters", "job", "Counters of an attempt.", of((*Call).attemptOf, attemptCounters)),
			get(attempt+"/state", "job", "State of an attempt.", of((*Call).attemptOf, attemptStateDocument)),
		)
	}
	return all
}

// isHistory reports whether the request is to the history server.
func (c *Call) isHistory() bool { return strings.HasPrefix(c.r.URL.Path, "/ws/v1/history") }

func redirect(to string) func(*Call) *document {
	return func(*Call) *document { return &document{to: to} }
}

func toJob(c *Call) *document { return &document{to: "/jobs/" + c.Object.ID} }

func noSubmit(c *Call) *document {
	c.fail(&failure{http.StatusNotImplemented, "java.lang.UnsupportedOperationException",
		"applications are not submitted here: jobs are Go programs, submitted with 'hammr submit'"})
	return nil
}

// isActive answers load balancers of Hadoop, which send readers to the active ResourceManager.
func isActive(c *Call, m apidoc.Masters) *document {
	if haState(m.Leader, c.Self) != "ACTIVE" {
		c.fail(&failure{http.StatusMethodNotAllowed, "org.apache.hadoop.ipc.StandbyException", "this master does not lead; master " + m.Leader + " does"})
	}
	return &document{body: object{}}
}
