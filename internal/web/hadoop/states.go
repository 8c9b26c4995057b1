package hadoop

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// appStates are YARN's states of applications. Hammr's jobs are ACCEPTED, RUNNING, FINISHED or
// KILLED.
var appStates = []string{"NEW", "NEW_SAVING", "SUBMITTED", "ACCEPTED", "RUNNING", "FINISHED", "FAILED", "KILLED"}

// jobStates are MapReduce's states of jobs.
var jobStates = []string{"NEW", "INITED", "RUNNING", "SUCCEEDED", "FAILED", "KILL_WAIT", "KILLED", "ERROR"}

// appState returns the state of the application of a job, and its final status.
func appState(state string) (yarn, final string) {
	switch state {
	case "PREP":
		return "ACCEPTED", "UNDEFINED"
	case "SUCCEEDED", "FAILED":
		return "FINISHED", state
	case "KILLED":
		return "KILLED", "KILLED"
	}
	return "RUNNING", "UNDEFINED"
}

// jobsIn returns the states of jobs whose applications are in one of YARN's states.
func jobsIn(yarn []string) (states []string) {
	for _, s := range apidoc.JobStates {
		if is, _ := appState(s); slices.Contains(yarn, is) {
			states = append(states, s)
		}
	}
	return states
}

// jobState returns MapReduce's state of a job.
func jobState(s wire.JobState) string {
	switch s {
	case wire.JobState_PREP:
		return "INITED"
	case wire.JobState_ABORTING:
		return "KILL_WAIT"
	case wire.JobState_COMMITTING:
		return "RUNNING"
	}
	return s.String()
}

// isOver reports whether a job in a state of apidoc.JobStates is over.
func isOver(state string) bool {
	return slices.Index(apidoc.JobStates, state) >= apidoc.FirstFinalState
}

// taskState returns MapReduce's state of a task. A task of a job that is over is over, too.
func taskState(t *wire.TaskStatus, over bool) string {
	switch t.State {
	case wire.TaskState_TASK_SUCCEEDED, wire.TaskState_TASK_FAILED, wire.TaskState_TASK_KILLED:
		return strings.TrimPrefix(t.State.String(), "TASK_")
	case wire.TaskState_TASK_RUNNING:
		if !over {
			return "RUNNING"
		}
	}
	if over {
		return "KILLED"
	}
	return "SCHEDULED"
}

// attemptState returns MapReduce's state of an attempt. A preempted one was killed by the
// scheduler, as YARN sees it.
func attemptState(a *wire.TaskStatus_Attempt, over bool) string {
	switch a.State {
	case wire.AttemptState_ATTEMPT_SUCCEEDED, wire.AttemptState_ATTEMPT_FAILED:
		return strings.TrimPrefix(a.State.String(), "ATTEMPT_")
	case wire.AttemptState_ATTEMPT_RUNNING:
		if !over {
			return "RUNNING"
		}
	}
	return "KILLED"
}

// nodeState returns YARN's state of a tasknode. A silent one may come back at any moment.
func nodeState(state string) string {
	if state == "SILENT" {
		return "RUNNING"
	}
	return state
}

// priorities are YARN's numbers of MapReduce's priorities.
var priorities = map[string]int{"VERY_HIGH": 5, "HIGH": 4, "NORMAL": 3, "LOW": 2, "VERY_LOW": 1}

// priorityNamed returns the name of a number. 0 is MapReduce's DEFAULT.
func priorityNamed(number int) (name string, known bool) {
	if number == 0 {
		return "NORMAL", true
	}
	for name, n := range priorities {
		if n == number {
			return name, true
		}
	}
	return "", false
}

// diagnosticsOf returns why a job has ended. Programs of Hadoop look for the failed task between spaces.
func diagnosticsOf(cause string) string {
	if strings.HasPrefix(cause, "task_") {
		return "Task failed " + cause
	}
	return cause
}

// appOf returns the id of the application of a job.
func appOf(job string) string { return "application" + strings.TrimPrefix(job, "job") }

// jobOfApp returns the id of the job of an application.
func jobOfApp(app string) (string, error) {
	tail, found := strings.CutPrefix(app, "application_")
	if !found {
		return "", badRequest("java.lang.IllegalArgumentException: Invalid ApplicationId prefix: %s. The valid ApplicationId should start with prefix application", app)
	}
	if _, err := cluster.ParseJobID("job_" + tail); err != nil {
		return "", badRequest("java.lang.IllegalArgumentException: Invalid ApplicationId: %s", app)
	}
	return "job_" + tail, nil
}

// queueOf returns the name of a pool as YARN shows it.
func queueOf(pool string) string { return "root." + pool }

// poolOf returns the pool of a queue, which clients name with root in front or without.
func poolOf(queue string) string { return strings.TrimPrefix(queue, "root.") }

// masterContainer returns the id of the container of an application master, which Hammr's jobs do not
// have.
func masterContainer(job string) string {
	return fmt.Sprintf("container%s_01_%06d", strings.TrimPrefix(job, "job"), 1)
}

// containerOf returns the id of the container of an attempt. It follows from the id of the attempt, so
// that masters and tasknodes give the same. Its number has 40 bits in YARN.
func containerOf(a cluster.AttemptID) string {
	const stages, attempts = 1 << 8, 1 << 10
	stage := 0
	switch n, err := strconv.Atoi(strings.TrimPrefix(a.Task.Stage, "s")); {
	case err == nil:
		stage = 2 + n
	case a.Task.Stage == "r":
		stage = 1
	}
	return fmt.Sprintf("container_%s_%04d_01_%06d", a.Task.Job.Cluster, a.Task.Job.Number, 2+(a.Task.Number*stages+stage)*attempts+a.Number)
}

// rowOf returns a job as lists have it. It is for a job that lists do not have any more.
func rowOf(r *report.Report) apidoc.Job {
	return apidoc.Job{
		JobID: r.JobID, Name: r.Name, User: r.User, Queue: r.Queue, Priority: r.Priority, State: cmp.Or(string(r.State), "RUNNING"), WaitsFor: r.WaitsFor,
		SubmitTime: r.StartTime, StartTime: r.StartTime, FinishTime: r.FinishTime,
	}
}
