package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hammr/hammr/bench/paper"
	"github.com/hammr/hammr/internal/ops/minihdfs"
	"github.com/hammr/hammr/sim/workload"
)

// hadoop runs the jobs of a trial by Hadoop's MapReduce, on YARN over the trials' HDFS, and
// keeps histories and logs in a directory. On a machine without Hadoop's jars the trial is
// left out.
//
// It is the only arm that does not run Hammr. Its blocks and sleeps equal those of the other
// arms. Hadoop starts a JVM for each task, so its total times are longer. Local maps and
// their waits are comparable.
type hadoop struct {
	*hdfsInput
	scratch, keep string
	scale         Scale
	trial         paper.Trial
}

// run returns the outcome, in the time of the workload. YARN is started for each trial, so
// that no state of an earlier one helps. cfg is the cluster of the other arms.
func (h hadoop) run(ctx context.Context, w *workload.Workload, cfg Config) (o *paper.Outcome, err error) {
	if len(w.Jobs) != 1 {
		return nil, fmt.Errorf("workload %s for Hadoop's MapReduce: it has %d jobs, expected exactly one", w.Name, len(w.Jobs))
	}
	if _, err := minihdfs.YarnJars(ctx); err != nil {
		return nil, &paper.LeftOut{Reason: err.Error()}
	}
	yarn, end, err := h.start(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	j := h.scale.reading(&w.Jobs[0])
	in, err := h.input(ctx, h.trial, j)
	if err != nil {
		return nil, err
	}
	args, err := j.streamed(h.scratch)
	if err != nil {
		return nil, err
	}
	id, _, err := yarn.Stream(ctx, append(args, "-input", in, "-output", h.output(h.trial, j.ID))...)
	if err != nil {
		return nil, err
	}
	return h.outcome(ctx, yarn, id, j)
}

// start starts YARN: on this machine, or on the machines of a hostfile beside the daemons of Hammr,
// which have no work. end ends it and keeps its logs, also after a failure. On this machine it
// removes YARN's directory, since containers leave their files there.
func (h hadoop) start(ctx context.Context, cfg Config) (client *minihdfs.Client, end func() error, err error) {
	logs := filepath.Join(h.keep, "yarn")
	if cfg.Testbed == nil {
		yarn, err := minihdfs.StartYarn(ctx, h.hdfs, minihdfs.YarnConfig{Maps: h.trial.Cluster.MapSlots, Properties: h.waits()})
		if err != nil {
			return nil, nil, err
		}
		return &yarn.Client, func() error {
			return errors.Join(yarn.Close(), os.RemoveAll(logs), os.CopyFS(logs, os.DirFS(yarn.Logs())), os.RemoveAll(yarn.Dir()))
		}, nil
	}
	cfg.Yarn, cfg.Hadoop = true, h.waits()
	c, err := Start(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	h.attach(c)
	end = func() error { return errors.Join(c.ssh.CollectLogs(context.WithoutCancel(ctx), logs), c.Stop()) }
	if client, err = c.Yarn(ctx); err != nil {
		err = errors.Join(err, end())
	}
	return client, end, err
}

// waits returns settings that make the FairScheduler wait for local slots by the clock, as
// the simulated arm does. The FairScheduler does so only with continuous scheduling;
// otherwise it counts reports of NodeManagers. The waits are those of the trial divided by
// its speed-up.
func (h hadoop) waits() map[string]string {
	d := h.trial.Setup.Placement.Delay
	return map[string]string{
		"yarn.scheduler.fair.continuous-scheduling-enabled": "true",
		"yarn.scheduler.fair.locality-delay-node-ms":        strconv.FormatInt(h.scale.wallTime(d.MachineWait).Milliseconds(), 10),
		"yarn.scheduler.fair.locality-delay-rack-ms":        strconv.FormatInt(h.scale.wallTime(d.RackWait).Milliseconds(), 10),
	}
}

// The programs of a streaming job that counts words. They sleep for each line of a map and
// each word of a reduce. A shell reads a pipe byte by byte, so blanks are removed before.
const (
	mapScript = `#!/bin/sh
stdbuf -oL tr -s ' ' | while IFS= read -r line; do
	sleep %[1]s
	for word in $line; do echo "$word	1"; done
done
`
	reduceScript = `#!/bin/sh
last= n=0
while read -r word one; do
	if [ "$word" != "$last" ]; then
		[ -z "$last" ] || echo "$last	$n"
		sleep %[1]s
		last=$word n=0
	fi
	n=$((n + one))
done
[ -z "$last" ] || echo "$last	$n"
`
)

// streamed writes the job's programs into a directory, and returns the arguments of
// Hadoop's streaming without input and output. Speculative execution is off, since a second
// attempt would change the number of local maps.
func (j blockReadingJob) streamed(dir string) ([]string, error) {
	args := append(properties(j.Job), "-D", fmt.Sprintf("mapreduce.job.reduces=%d", len(j.Reduces)),
		"-D", "mapreduce.map.speculative=false", "-D", "mapreduce.reduce.speculative=false")
	nap := strconv.FormatFloat(j.recordSleep().Seconds(), 'f', 6, 64)
	var files, programs []string
	for _, program := range [][2]string{{"mapper", mapScript}, {"reducer", reduceScript}} {
		file := filepath.Join(dir, program[0]+".sh")
		if err := os.WriteFile(file, fmt.Appendf(nil, program[1], nap), 0o777); err != nil {
			return nil, err
		}
		files, programs = append(files, file), append(programs, "-"+program[0], filepath.Base(file))
	}
	return append(append(args, "-files", strings.Join(files, ",")), programs...), nil
}

// outcome saves and reads the history of the job. It returns the outcome in the time of the
// workload.
func (h hadoop) outcome(ctx context.Context, yarn *minihdfs.Client, id string, j blockReadingJob) (*paper.Outcome, error) {
	if err := os.MkdirAll(h.keep, 0o777); err != nil {
		return nil, err
	}
	file, err := yarn.History(ctx, id, h.keep)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	past, err := readHadoop(f)
	if err != nil {
		return nil, fmt.Errorf("history %s: %w", file, err)
	}
	return past.outcome(j), nil
}
