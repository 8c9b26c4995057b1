package bench

import (
	"context"
	"errors"
	"fmt"

	"github.com/hammr/hammr/sim/tables"
)

// figure is a measurement that documents state, with the value of the commit that wrote them. A change may
// spoil it silently, so `hammr bench programs --figures` measures it again.
type figure struct {
	contest Contest
	// cpu is our CPU time, with that of daemons, over that of the program fixed. rss is our peak memory in
	// bytes, without daemons.
	cpu float64
	rss int64
}

// A figure that is worse than its committed value by more than figureWarns is marked, and by more than
// figureFails fails.
const (
	figureWarns = 1.10
	figureFails = 1.25
)

// fixed is the rival of each figure. Its output is not compared.
var fixed = Entry{"fixed work", func(k *Kit, _, out string) Command {
	return Command{Args: []string{k.Program("fixed")}, Stdout: out}
}}

// repeated runs a command line of hammr often enough to be measured. "$0" is hammr, "$1" the input, "$2" the output.
func repeated(times int, line string) Entry {
	return Entry{"hammr", func(k *Kit, in, out string) Command {
		loop := fmt.Sprintf("mkdir \"$2\" && for i in $(seq %d); do %s >/dev/null || exit 1; done", times, line)
		return Command{Args: []string{"sh", "-c", loop, k.Program("hammr"), in, out}, Env: []string{"TMPDIR=" + k.work}}
	}}
}

// teraRecords is the input of terasort by teragen.
var teraRecords = Input{Name: "teragen", Command: func(k *Kit, name string, bytes int64) Command {
	return Command{Args: []string{k.Program("hammr"), "run", "teragen", "--quiet", fmt.Sprint(bytes / 100), name}}
}}

// figures are measured with --size 256m, in a BENCH_DIR in memory: how long a disk's file system looks for
// a place for a new file depends on what was removed before. Values are medians on two cores of a Xeon.
func figures() []figure {
	words := Input{Name: "zipf-words", Lines: zipfLines}
	tiny := Input{Name: "zipf-tiny", Bytes: kibibyte, Lines: zipfLines}
	return []figure{
		{Contest{Name: "start", About: "hammr version, 20 times", Input: tiny, Ours: repeated(20, `"$0" version`)}, 0.172, 28 << 20},
		{Contest{Name: "job", About: "wordcount of 1 KB, 20 times", Input: tiny, Ours: repeated(20, `"$0" run wordcount --quiet "$1" "$2/$i"`)}, 0.300, 35 << 20},
		{Contest{Name: "tasks", About: "wordcount of 1 KB with 1,000 reduces", Input: tiny, Tasks: 1001, Ours: repeated(1, `"$0" run wordcount -D mapreduce.job.reduces=1000 --quiet "$1" "$2/$i"`)}, 0.425, 61 << 20},
		{Contest{Name: "cluster", About: "1,000 empty maps through three masters", Input: tiny, Tasks: emptyMaps, Ours: clusterMaps, Prepare: startCluster(3, 4)}, 1.89, 38 << 20},
		{Contest{Name: "wordcount", About: "wordcount of Zipf words", Input: words, Ours: wordcount}, 2.98, 205 << 20},
		{Contest{Name: "terasort", About: "100-byte records", Input: teraRecords, Ours: terasort}, 0.930, 121 << 20},
	}
}

// Figures measures again what documents state, each in alternation with a loop of fixed work, and compares
// it with the committed values. A figure that is worse by a quarter is an error.
func Figures(ctx context.Context, cfg Config) error {
	var measured []Contest
	committed := make(map[string]figure)
	for _, f := range figures() {
		f.contest.Rival = fixed
		measured = append(measured, f.contest)
		committed[f.contest.Name] = f
	}
	report, err := runContests(ctx, &cfg, measured, hammrSource)
	if err != nil {
		return err
	}
	t := tables.New("figure", "CPU/fixed|%.3f", "committed|%.3f", "change|%+.0f %%", "RSS MiB", "committed", "change|%+.0f %%", "")
	var worse []error
	for _, r := range report.Results {
		f := committed[r.Case]
		cpu := cpuRatio(r)
		change, grown := cpu/f.cpu, float64(r.Ours.MaxRSSBytes)/float64(f.rss)
		t.Add(r.Case, cpu, f.cpu, 100*(change-1), r.Ours.MaxRSSBytes>>20, f.rss>>20, 100*(grown-1), figureVerdict(max(change, grown)))
		if max(change, grown) > figureFails {
			worse = append(worse, fmt.Errorf("figure %s is worse than committed by more than a quarter: find the cause, or state the new value in bench/figures.go and the documents", r.Case))
		}
	}
	fmt.Fprintln(cfg.Out)
	return errors.Join(t.Text(cfg.Out), errors.Join(worse...))
}

// figureVerdict returns what is printed for a value that is so many times the committed one.
func figureVerdict(change float64) string {
	switch {
	case change > figureFails:
		return "WORSE"
	case change > figureWarns:
		return "worse"
	case change < 2-figureWarns:
		return "better: commit it"
	}
	return ""
}

// cpuRatio returns the median over rounds of our CPU time, with that of daemons, over the rival's.
func cpuRatio(r Result) float64 {
	ours := figuresOf(r.Ours.Samples, func(s Sample) float64 {
		if s.Cluster == nil {
			return s.CPUSeconds
		}
		return s.CPUSeconds + s.Cluster.CPUSeconds
	})
	return spreadOf(ratios(ours, cpuOf(r.Rival.Samples))).Median
}
