package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hammr/hammr/bench/data"
	"github.com/hammr/hammr/sim/workload"
)

// samplerBytes is the input of the map that measures how fast maps compute. It is large, so
// that the start of the process hardly counts.
const samplerBytes = 64 << 20

// samples is the number of measurements. The fastest counts, since the others may have
// shared a core.
const samples = 3

// computePlan returns a plan of jobs whose maps count words. The text of a map has the size
// that a map running alone processes in the time given by the workload. The rate of this
// machine is measured once. A map with a core to itself therefore takes the time of the
// workload. If it takes longer in a trial, the difference is the cost of sharing cores.
func (r *Runner) computePlan(ctx context.Context, c *Cluster, w *workload.Workload, fast float64) (p Plan, err error) {
	dir := filepath.Join(r.Work, "computing")
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o777)); err != nil {
		return p, err
	}
	if r.mapRate == 0 {
		if r.mapRate, err = measureMapRate(ctx, c, dir); err != nil {
			return p, err
		}
		r.Logf("maps compute at %.1f MB/s", r.mapRate/1e6)
	}
	p = Plan{Name: w.Name}
	for i := range w.Jobs {
		j := &w.Jobs[i]
		in := filepath.Join(dir, fileName(j.ID))
		if err := writeParts(in, len(j.Maps), int(r.mapRate*Mean(j.Maps)/fast/1000)); err != nil {
			return p, err
		}
		p.Jobs = append(p.Jobs, wordcountJob(j, fast, in, in+".out", wholeFiles))
	}
	return p, nil
}

// wholeFiles is the setting with which each file is one split: the minimum size of a split is larger
// than any file.
const wholeFiles = "mapreduce.input.fileinputformat.split.minsize=1g"

// measureMapRate returns the bytes a second that one map processes while it runs alone. The
// cluster is idle otherwise.
func measureMapRate(ctx context.Context, c *Cluster, dir string) (float64, error) {
	in := filepath.Join(dir, "pace")
	if err := writeParts(in, 1, samplerBytes); err != nil {
		return 0, err
	}
	fastest := 0.0
	for n := range samples {
		one, err := sample(ctx, c, in, fmt.Sprintf("%s.out%d", in, n))
		if err != nil {
			return 0, fmt.Errorf("pace of a map: %w", err)
		}
		fastest = max(fastest, one)
	}
	return fastest, nil
}

// sample measures once how many bytes a second a map processes while it runs alone. The time
// is the duration of the map's attempt in the history.
func sample(ctx context.Context, c *Cluster, in, out string) (float64, error) {
	j := workload.Job{ID: "pace", Maps: make([]workload.Task, 1)}
	run, err := c.Run(ctx, Plan{Jobs: []Job{wordcountJob(&j, 1, in, out, wholeFiles)}}, "")
	if err != nil {
		return 0, err
	}
	for _, task := range run.Jobs[0].Tasks {
		for _, a := range task.Attempts {
			if took := time.Duration(a.FinishTime-a.StartTime) * time.Millisecond; took > 0 {
				return samplerBytes / took.Seconds(), nil
			}
		}
	}
	return 0, errors.New("its history has no attempt with a time")
}

// writeParts creates a directory of n files with the same text. They are hard links to one
// file. Links keep a plan with many maps from filling the disk. There are few words, so reduces have little to do.
func writeParts(dir string, n, size int) error {
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	first := filepath.Join(dir, "part-0")
	if err := os.WriteFile(first, data.Text(size, 4093), 0o666); err != nil {
		return err
	}
	for i := 1; i < n; i++ {
		if err := os.Link(first, filepath.Join(dir, fmt.Sprintf("part-%d", i))); err != nil {
			return err
		}
	}
	return nil
}
