package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/jobmaster"
)

// Job is one that is submitted at a time.
type Job struct {
	Name string        // unique in its plan; the arguments give it to the job
	At   time.Duration // since the start of the run
	Args []string      // of hammr submit, from the program on
	Out  string        // a last argument: the name of a directory for output; "" for none

	blockHosts blockHosts // of its maps' input; nil for maps that read none
}

// Plan is a workload of jobs in the order in which they are submitted.
type Plan struct {
	Name, About string
	Jobs        []Job
	Failures    []Failure
	StopAfter   string // the job at whose end the others are killed; "" for the last one's
}

// Run is what came of a plan.
type Run struct {
	Begin        time.Time
	Jobs         []*wire.JobStatus // by their histories, in the order of the plan
	Files        []string          // those histories
	LostMachines []LostMachine     // machines that were made to fail, in order of time

	blockHosts map[string]blockHosts // of jobs, by their names
}

// Run submits the jobs of a plan at their times, fails machines, and waits until
// all jobs are over, whether they succeed or not.
func (c *Cluster) Run(ctx context.Context, p Plan) (*Run, error) {
	ctx, cancel := c.whileUp(ctx)
	defer cancel(nil)
	r := &Run{Begin: time.Now(), blockHosts: make(map[string]blockHosts)}
	for _, j := range p.Jobs {
		r.blockHosts[j.Name] = j.blockHosts
	}
	failures := c.startFailures(ctx, p.Failures, r.Begin)
	ids, err := c.submitAll(ctx, p, r.Begin)
	if err == nil {
		err = c.await(ctx, p, ids)
	}
	cancel(nil) // a failure that has not come to pass by now never does
	lost, failed := failures()
	if err = errors.Join(err, failed); err != nil {
		return nil, err
	}
	r.LostMachines = lost
	return r, r.read(c.Histories(), ids)
}

// whileUp is a context that ends with the cluster, too.
func (c *Cluster) whileUp(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if c.up != nil {
		go func() {
			select {
			case <-c.up.gone:
				cancel(fmt.Errorf("the cluster ended by itself\n%s", c.up.faults.text()))
			case <-ctx.Done():
			}
		}()
	}
	return ctx, cancel
}

// submitAll returns the ids of the jobs.
func (c *Cluster) submitAll(ctx context.Context, p Plan, begin time.Time) (ids []string, err error) {
	for _, j := range p.Jobs {
		select {
		case <-ctx.Done():
			return ids, context.Cause(ctx)
		case <-time.After(time.Until(begin.Add(j.At))):
		}
		args := append([]string{"submit"}, j.Args...)
		if j.Out != "" {
			args = append(args, j.Out)
		}
		id, err := c.do(ctx, args...)
		if err != nil {
			return ids, fmt.Errorf("job %s: %w", j.Name, err)
		}
		ids = append(ids, strings.TrimSpace(id))
	}
	return ids, nil
}

// await waits until all jobs have their histories: a master writes that of a job
// when it is over.
func (c *Cluster) await(ctx context.Context, p Plan, ids []string) error {
	last := slices.IndexFunc(p.Jobs, func(j Job) bool { return j.Name == p.StopAfter })
	if last >= 0 {
		if err := awaitHistories(ctx, c.Histories(), ids[last:last+1]); err != nil {
			return err
		}
		if err := c.killOthers(ctx, ids); err != nil {
			return err
		}
	}
	return awaitHistories(ctx, c.Histories(), ids)
}

// killOthers ends those of the jobs that run.
func (c *Cluster) killOthers(ctx context.Context, ids []string) error {
	running, err := c.jobs(ctx)
	for _, j := range running {
		if err == nil && slices.Contains(ids, j.JobID) {
			_, err = c.do(ctx, "job", "kill", j.JobID)
		}
	}
	return err
}

// jobProgress is how far a job is.
type jobProgress struct {
	JobID, Name   string
	Maps, Reduces struct {
		Total, Done int
		Fraction    float64
	}
}

// jobs are those that are not over.
func (c *Cluster) jobs(ctx context.Context) (list []jobProgress, err error) {
	text, err := c.do(ctx, "job", "list", "--json")
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, fmt.Errorf("hammr job list: %w", err)
	}
	return list, nil
}

func historyOf(dir, id string) string { return filepath.Join(dir, id+".jsonl") }

// awaitHistories waits for the histories of jobs.
func awaitHistories(ctx context.Context, dir string, ids []string) error {
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for left := ids; len(left) > 0; {
		if _, err := os.Stat(historyOf(dir, left[0])); err == nil {
			left = left[1:]
			continue
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d jobs of %d are not over: %w", len(left), len(ids), context.Cause(ctx))
		case <-look.C:
		}
	}
	return nil
}

// read reads the histories of jobs.
func (r *Run) read(dir string, ids []string) error {
	for _, id := range ids {
		name := historyOf(dir, id)
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		s, err := jobmaster.DecodeHistory(f)
		if err = errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("history %s: %w", name, err)
		}
		r.Jobs, r.Files = append(r.Jobs, s), append(r.Files, name)
	}
	return nil
}

// Failed names the first job that neither succeeded nor was killed.
func (r *Run) Failed() error {
	for _, j := range r.Jobs {
		if j.State != wire.JobState_SUCCEEDED && j.State != wire.JobState_KILLED {
			return fmt.Errorf("job %s (%s) is %v: %s", j.Name, j.JobId, j.State, j.Cause)
		}
	}
	return nil
}
