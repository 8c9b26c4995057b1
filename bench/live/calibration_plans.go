package live

import (
	"fmt"
	"strconv"
	"time"
)

// jobShape is a job of tasks that sleep.
type jobShape struct {
	at, maps, mapMillis, reduces, reduceMillis int
}

// calibrationJobs is a mixed workload for six map slots and three reduce slots: long jobs come first and occupy
// all slots, so policies differ in the job that they serve next. Its tasks sleep for each record, so that jobs
// compete for slots and not for the cores of this machine.
var calibrationJobs = []jobShape{
	{at: 0, maps: 36, mapMillis: 3000, reduces: 3, reduceMillis: 4000},
	{at: 2, maps: 2, mapMillis: 1500, reduces: 1, reduceMillis: 1000},
	{at: 4, maps: 12, mapMillis: 2000, reduces: 2, reduceMillis: 2000},
	{at: 7, maps: 1, mapMillis: 2500},
	{at: 9, maps: 24, mapMillis: 1500, reduces: 3, reduceMillis: 1500},
	{at: 12, maps: 3, mapMillis: 1000, reduces: 1, reduceMillis: 1500},
	{at: 15, maps: 6, mapMillis: 4000, reduces: 1, reduceMillis: 3000},
	{at: 18, maps: 1, mapMillis: 1000},
	{at: 22, maps: 10, mapMillis: 1500, reduces: 2, reduceMillis: 1000},
	{at: 26, maps: 2, mapMillis: 3000},
}

// sleepingCalibration returns the plan of jobs whose tasks sleep.
func sleepingCalibration() Plan {
	p := Plan{Name: "sleeping"}
	for i, s := range calibrationJobs {
		name := fmt.Sprintf("sleep%02d", i)
		p.Jobs = append(p.Jobs, Job{
			Name: name, At: time.Duration(s.at) * time.Second,
			Args: []string{
				"sleep", "-D", "mapreduce.job.name=" + name, "-m", strconv.Itoa(s.maps), "-mt", strconv.Itoa(s.mapMillis),
				"-r", strconv.Itoa(s.reduces), "-rt", strconv.Itoa(s.reduceMillis),
			},
		})
	}
	return p
}

// busyCalibration returns the control: jobs that count the words of a text. The cores of this
// machine, which all slots share, bound their speed. Each job writes to a directory with the
// job's name.
func busyCalibration(text string) Plan {
	const splitBytes = 16 << 20
	p := Plan{Name: "busy"}
	for i, at := range []int{0, 1, 3, 6} {
		name := fmt.Sprintf("count%02d", i)
		p.Jobs = append(p.Jobs, Job{
			Name: name, At: time.Duration(at) * time.Second,
			Args: []string{
				"wordcount", "-D", "mapreduce.job.name=" + name, "-D", "mapreduce.job.reduces=2",
				"-D", "mapreduce.input.fileinputformat.split.maxsize=" + strconv.Itoa(splitBytes>>(i%2)), text,
			},
			Out: name,
		})
	}
	return p
}
