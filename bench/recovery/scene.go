package recovery

import (
	"fmt"

	"github.com/hammr/hammr/internal/taskproc"
)

// job is a job to submit.
type job struct {
	args   []string // of hammr run, from the program on
	writes bool     // the name of its output follows
	tasks  int      // that have to run before the next step
}

// scene is two jobs that fill a cluster: each has half of the slots, and the one of lower
// priority wants more. Sleeps are long enough that no task of the higher job ends between
// the kill and its recovery, and short enough that the lower job's slots become free by
// themselves within the bound of a step.
type scene struct {
	what          string
	kind          taskproc.Kind
	higher, lower job
}

// highest is the property of a job that fair, too, serves before others.
const highest = "mapreduce.job.priority=VERY_HIGH"

// maps returns a scene on 8 map slots: four maps of half a minute, and eight of half as
// long.
func maps(uri string) scene {
	words := func(files string, records int, more ...string) []string {
		args := append([]string{"wordcount", "-D", "hammr.debug.record.sleep=20", "-D", "mapreduce.job.reduces=0"}, more...)
		return append(args, "-D", fmt.Sprint("mapreduce.input.fileinputformat.split.maxsize=", records*lineBytes), uri+files)
	}
	return scene{
		what: "map", kind: taskproc.Kind_MAP,
		higher: job{args: words("/in/part-[0-3]", lines, "-D", highest), writes: true, tasks: nodes},
		lower:  job{args: words("/in/part-[4-7]", lines/2), writes: true, tasks: nodes},
	}
}

// reduces returns a scene on 4 reduce slots: two reduces of 40 s, and two of four. Each
// sleep is divided into records of 20 ms, so that a checkpoint finds a place soon.
func reduces() scene {
	sleep := func(reduces int, more ...string) []string {
		return append(append([]string{"sleep"}, more...), "-m", "1", "-mt", "20", "-r", fmt.Sprint(reduces), "-rt", "40000", "-recordt", "20")
	}
	return scene{
		what: "reduce", kind: taskproc.Kind_REDUCE,
		higher: job{args: sleep(nodes/2, "-D", highest), tasks: nodes / 2},
		lower:  job{args: sleep(nodes), tasks: nodes / 2},
	}
}
