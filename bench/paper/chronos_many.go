package paper

import (
	"fmt"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/web/draw"
)

// whyTotals is the reason for other times of whole sets of jobs.
const whyTotals = "the paper does not say which of the jobs have 17 GB and which 56 GB, nor when they arrive; here they alternate, one second apart"

// whyMean is the reason for a smaller gain of the mean.
const whyMean = "only job 1 gains, because the lost tasks are its own, and here it is one job of many"

// wordcounts returns n jobs, of 17 and 56 GB in turn. They arrive one second apart, so that
// fifo serves them in the order of their numbers.
func wordcounts(n, reduces int) jobMix {
	m := jobMix{name: fmt.Sprintf("%d word counts", n), sigma: 0.1}
	for i := range n {
		blocks := smallJobBlocks
		if i%2 == 1 {
			blocks = largeJobBlocks
		}
		m.jobs = append(m.jobs, wordcount(fmt.Sprintf("job %d", i+1), float64(i), blocks, reduces))
	}
	return m
}

// row is a line of tables 1 and 2: mean time and total time, in s. Fields that end in By are
// times with Chronos.
type row struct {
	name                         string
	jobs, workers                int
	mean, meanBy, total, totalBy float64 // under Hadoop, and with Chronos
}

// table returns an experiment with a point for each row. One machine fails when half of the
// maps of job 1 have finished.
//
// It measures, in s: the mean sojourn time of all jobs and the time until the last one has
// ended, under fifo and under chronos, and the change in %. Each row is a point, and its
// number of machines and jobs replaces those of the experiment.
func table(id, title, setup string, rows []row) Experiment {
	e := Experiment{ID: id, Title: title, Setup: setup, Arms: threeArms("fifo"), Cluster: paperCluster(16), Workload: jobMix{}.source()}
	for _, line := range rows {
		workload := wordcounts(line.jobs, 32).source()
		e.Points = append(e.Points, Point{Name: line.name, Set: func(t *Trial) {
			t.Workload, t.Cluster.Machines = workload, line.workers
			failMachines(1, "job 1", "map", 50)(t)
		}})
		average := func(arm string) func(Repeat) float64 {
			return func(r Repeat) float64 { return r.At(arm, line.name).Summary().Mean }
		}
		total := func(arm string) func(Repeat) float64 {
			return func(r Repeat) float64 { return r.At(arm, line.name).Summary().End }
		}
		less := func(of func(arm string) func(Repeat) float64) func(Repeat) float64 {
			return func(r Repeat) float64 { return 100 * (of(withChronos)(r)/of(fifoOnly)(r) - 1) }
		}
		e.Measures = append(e.Measures,
			Measure{Name: line.name + ": mean time of a job, fifo", Unit: "s", Paper: line.mean, Of: average(fifoOnly), Reason: whyTotals},
			Measure{Name: line.name + ": mean time of a job, chronos", Unit: "s", Paper: line.meanBy, Of: average(withChronos), Reason: whyTotals},
			Measure{Name: line.name + ": mean time of a job, change", Unit: "%", Paper: 100 * (line.meanBy/line.mean - 1), Of: less(average), Reason: whyMean},
			Measure{Name: line.name + ": all jobs, fifo", Unit: "s", Paper: line.total, Of: total(fifoOnly), Reason: whyTotals},
			Measure{Name: line.name + ": all jobs, chronos", Unit: "s", Paper: line.totalBy, Of: total(withChronos), Reason: whyTotals},
			Measure{Name: line.name + ": all jobs, change", Unit: "%", Paper: 100 * (line.totalBy/line.total - 1), Of: less(total), Reason: whyNoGain},
			Measure{Name: line.name + ": mean time of a job, no failure", Unit: "s", Of: average(noFailure)},
		)
	}
	return e
}

// chronosJobs reproduces table 1: more jobs on the same machines. With more jobs, the job
// that loses tasks is a smaller part of the mean.
func chronosJobs(o Options) Experiment {
	rows := []row{
		{"4 jobs", 4, 16, 306.5, 256, 350.1, 323.5},
		{"8 jobs", 8, 16, 350.5, 330.9, 410.1, 379.3},
		{"16 jobs", 16, 16, 314.4, 297.3, 540.1, 406.7},
	}
	if o.Short {
		rows = rows[:1]
	}
	return table("table1", "More jobs (section 6.6, table 1)",
		"4 to 16 word counts, of 17 and 56 GB in turn, on 17 machines, of which one is the master.", rows)
}

// chronosClusterSizes reproduces table 2: the same jobs on more machines. With more machines
// one failure is a smaller part of the cluster.
func chronosClusterSizes(o Options) Experiment {
	rows := []row{
		{"9 machines", 8, 8, 730.6, 639, 1564.1, 1298.2},
		{"17 machines", 8, 16, 350.5, 330.9, 410.1, 379.3},
		{"33 machines", 8, 32, 205.1, 177.6, 245.8, 233.1},
	}
	if o.Short {
		rows = rows[1:2]
	}
	e := table("table2", "More machines (section 6.6, table 2)",
		"8 word counts, of 17 and 56 GB in turn, on 9 to 33 machines, of which one is the master.", rows)
	e.Notes = []string{`In the paper, 17 machines take 410 s for the jobs that take 9 machines 1564 s, and the times
of table 1 hardly grow with the number of jobs. No mix of these jobs that is the same in all
runs of a table can explain both.`}
	return e
}

// moments are the times in Fig. 11 at which the machine fails.
var moments = []struct {
	name, phase string
	percent     float64
}{
	{"at half of job 1's maps", "map", 50},
	{"at the end of job 1's maps", "map", 100},
	{"at half of job 1's reduces", "reduce", 50},
}

// whyNoLoss is the reason why job 2 loses nothing by the slots that job 1 takes from its
// reduces.
const whyNoLoss = "in the paper, checkpointed reduces of job 2 wait for slots and delay the job. Here they get slots again when job 1 ends. Job 2's own maps end at about that time, and its reduces have to wait for them anyway"

// chronosMoments reproduces Fig. 11. The paper gives changes for two jobs at one moment, and
// words for the rest.
//
// What is lost depends on the time of the failure. At half of the maps, running maps and some output are
// lost; at the end of the maps, only output. At half of the reduces, long reduces are lost
// with all that they have fetched. Reduces occupy all slots here, so a lost reduce waits for
// one under fifo.
func chronosMoments() Experiment {
	m := jobMix{name: "three word counts", sigma: 0.1, jobs: []jobSpec{
		wordcount("job 1", 0, smallJobBlocks, 64), wordcount("job 2", 1, largeJobBlocks, 64), wordcount("job 3", 2, largeJobBlocks, 64),
	}}
	for i := range m.jobs {
		m.jobs[i].afterAllMaps = false
	}
	e := Experiment{
		ID: "moments", Title: "When the machine fails (section 6.7, Fig. 11)",
		Setup: `Word counts of 17, 56 and 56 GB with 64 reduces of 20 s each, as many as the reduce slots of
16 machines. Reduces start when 5 % of a job's maps have finished.`,
		Arms: threeArms("fifo"), Cluster: paperCluster(16), Workload: m.source(),
	}
	jobs := []string{"job 1", "job 2", "job 3"}
	papers := map[string]float64{"at half of job 1's reduces job 1": -40, "at half of job 1's reduces job 2": 10}
	for _, at := range moments {
		e.Points = append(e.Points, Point{Name: at.name, Set: failMachines(1, "job 1", at.phase, at.percent)})
		for _, job := range jobs {
			paper, quote, why := papers[at.name+" "+job], "", whyChange
			switch {
			case paper > 0:
				why = whyNoLoss
			case paper == 0 && job == "job 1":
				quote = "shorter, most of all jobs"
			}
			e.Measures = append(e.Measures,
				Measure{Name: at.name + ": " + job + " takes longer by, chronos against fifo", Unit: "%", Paper: paper, Quote: quote, Of: relativeChangeAt(at.name, fifoOnly, withChronos, job), Reason: why},
				Measure{Name: at.name + ": " + job + " takes longer by, fifo against no failure", Unit: "%", Of: relativeChangeAt(at.name, noFailure, fifoOnly, job)},
			)
		}
		for _, kind := range []cluster.Slot{cluster.MapSlot, cluster.ReduceSlot} {
			for _, arm := range []string{fifoOnly, withChronos} {
				e.Measures = append(e.Measures, Measure{Name: fmt.Sprintf("%s: recovery wait of job 1's %vs, %s", at.name, kind, arm), Unit: "s",
					Of: func(r Repeat) float64 { return recoveryWait(r.At(arm, at.name), kind, "job 1") }})
			}
		}
		e.Charts = append(e.Charts, Chart{Name: fmt.Sprintf("moments-%s-%.0f", at.phase, at.percent), Caption: "Times of the jobs, failure " + at.name, Draw: func(all []Repeat) *draw.Figure {
			return bars(draw.Axes{Y: "sojourn time [s]"}, all, []string{fifoOnly, withChronos, noFailure}, jobs,
				func(r Repeat, arm, job string) float64 { return sojourn(r.At(arm, at.name), job) })
		}})
	}
	return e
}
