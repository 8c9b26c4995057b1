package jobmaster

import (
	"fmt"
	"strings"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/counter"
)

// priorities are Hadoop's names for how urgent a job is.
var priorities = map[string]int{"VERY_HIGH": 2, "HIGH": 1, "NORMAL": 0, "DEFAULT": 0, "LOW": -1, "VERY_LOW": -2}

// priorityName is the name of a priority.
func priorityName(priority int) string {
	return [...]string{"VERY_LOW", "LOW", "NORMAL", "HIGH", "VERY_HIGH"}[min(max(priority, -2), 2)+2]
}

// setLimits takes over what the job's properties say about its running.
func setLimits(spec *cluster.JobSpec, properties map[string]string) error {
	c, err := conf.FromMap(properties)
	if err != nil {
		return fmt.Errorf("jobmaster: properties: %w", err)
	}
	spec.MaxAttempts = [2]int{c.Int("mapreduce.map.maxattempts"), c.Int("mapreduce.reduce.maxattempts")}
	spec.SkipRecords = c.Int("mapreduce.map.skip.maxrecords")
	spec.SlowStartPPM = int(c.Float("mapreduce.job.reduce.slowstart.completedmaps") * 1_000_000)
	spec.TimeoutMillis = c.Duration("mapreduce.task.timeout").Milliseconds()
	spec.Speculative = [2]bool{c.Bool("mapreduce.map.speculative"), c.Bool("mapreduce.reduce.speculative")}
	spec.MaxMachineFailures = c.Int("mapreduce.job.maxtaskfailures.per.tracker")
	spec.FailureDecayMillis = c.Duration(conf.FailureDecay).Milliseconds()
	spec.Priority = priorities[c.String("mapreduce.job.priority")]
	if method := c.String("hammr.job.placement"); !strings.EqualFold(method, "default") {
		spec.Placement = strings.ToLower(method)
	}
	return c.Validate()
}

// checkCounters returns an error if the finished tasks of a job have, together,
// more counters of the user's than the job may have. Each attempt checks its own.
func checkCounters(j *cluster.Job, properties map[string]string) error {
	c, err := conf.FromMap(properties)
	if err != nil {
		return err
	}
	sums := make(counter.Values)
	for _, c := range j.Counters() {
		sums.Add(counter.ID{Group: c.Group, Name: c.Name}, c.Value)
	}
	return sums.CheckLimit(c.Int(conf.CountersLimit))
}

// marksSuccess reports whether the job wants a _SUCCESS file.
func marksSuccess(properties map[string]string) bool {
	c, err := conf.FromMap(properties)
	return err != nil || c.Bool("mapreduce.fileoutputcommitter.marksuccessfuljobs")
}
