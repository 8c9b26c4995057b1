// Package results turns runs of the simulator into what people read: tables as CSV and text,
// and pictures. It writes what `hammr sim run`, `hammr sim whatif` and the benches leave in
// their output directories.
//
//	report := results.Report{Workload: w, Cluster: cfg, Repetitions: repetitions}
//	dir, err := results.Stage("out")        // a temporary name, renamed by Commit
//	defer dir.Discard()
//	err = errors.Join(report.Write(dir, tasks), dir.Commit(), report.WriteSummary(os.Stdout))
//
// Everything is a function of the runs: the same runs give the same bytes. docs/sim.md
// describes each column.
//
//	runs ─► jobs.csv        a line for each policy and job
//	        tasks.csv       a line for each attempt, on request
//	        sojourn.svg …   distributions, for each class too
//	        slots.svg …     usage over time, by job or pool
//	     ─► summary         a table on the terminal; medians and intervals of repetitions
//
// Times are in s in all tables and pictures, and in ms in sim.Result.
package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/workload"
)

// PolicyRun is the result of a workload under one policy. Policy is the name in tables and
// pictures, with its wrapper if it has one: chronos+fifo.
type PolicyRun struct {
	Policy string
	Result *sim.Result
}

// Repetition is a workload under every policy, with one seed. The seed is that of the
// workload's noise and of the placement of blocks.
type Repetition struct {
	Seed uint64
	Runs []PolicyRun // in the order of the policies, which all repetitions share
}

// Report is everything that `hammr sim run` has to show. All repetitions have the same
// policies, clusters and numbers of jobs; only seeds differ.
type Report struct {
	Workload    *workload.Workload // of the first repetition
	Cluster     sim.Config         // without its policy and seed
	Repetitions []Repetition       // at least one
}

// Write writes the tables of every repetition and the pictures into a directory. With
// several repetitions each has its tables in a directory of its own, run-001 and so on.
// tasks asks for tasks.csv too. tasks.csv has a line for each attempt and may be large.
func (r *Report) Write(dir *Dir, tasks bool) error {
	for i, repetition := range r.Repetitions {
		in := "."
		if len(r.Repetitions) > 1 {
			in = fmt.Sprintf("run-%03d", i+1)
		}
		err := dir.WriteFile(filepath.Join(in, "jobs.csv"), func(w io.Writer) error { return WriteJobs(w, repetition.Runs) })
		if err == nil && tasks {
			err = dir.WriteFile(filepath.Join(in, "tasks.csv"), func(w io.Writer) error { return WriteTasks(w, repetition.Runs) })
		}
		if err != nil {
			return err
		}
	}
	return r.saveFigures(dir.path)
}

// WriteSummary describes the workload and writes a table with a line for each policy: of
// the only repetition, or medians of all. The offered load shows how much queueing to
// expect: above 1 jobs arrive faster than the slots can work.
func (r *Report) WriteSummary(w io.Writer) error {
	load := "all jobs arrive at once, so there is no offered load"
	if r.Workload.LastSubmit() > 0 {
		maps, reduces := r.Workload.OfferedLoad(r.slots())
		load = fmt.Sprintf("offered load %.2f of the map slots, %.2f of the reduce slots", maps, reduces)
	}
	fmt.Fprintf(w, "%s: %d jobs on %d machines; %s\n", r.Workload.Name, len(r.Workload.Jobs), r.Cluster.Machines, load)
	for _, note := range r.Workload.Notes {
		fmt.Fprintf(w, "  %s\n", note)
	}
	fmt.Fprintln(w)
	if len(r.Repetitions) == 1 {
		return WriteSummary(w, r.Repetitions[0].Runs)
	}
	return r.writeMedians(w)
}

// perMachine returns the number of slots of a machine, by kind. Config has less than 0 for
// none.
func (r *Report) perMachine() cluster.Slots {
	return cluster.Slots{max(r.Cluster.MapSlots, 0), max(r.Cluster.ReduceSlots, 0)}
}

// slots returns the number of slots of the cluster.
func (r *Report) slots() (maps, reduces int) {
	all := r.perMachine().Times(r.Cluster.Machines)
	return all[cluster.MapSlot], all[cluster.ReduceSlot]
}

// DecisionLog collects what policies decide about slots, as lines of JSON
// (docs/formats/decisions.md). The zero value is empty. The lines are kept in memory until
// the run has ended, so that a failed run leaves no file.
type DecisionLog struct {
	lines bytes.Buffer
	err   error // of the first decision that could not be encoded
}

// Record makes a run under a policy write its decisions to the log. It takes
// cfg.OnDecision; the field policy distinguishes several runs.
func (d *DecisionLog) Record(cfg *sim.Config, policy string) {
	cfg.OnDecision = func(decision sched.Decision) {
		decision.Policy = policy
		line, err := json.Marshal(decision)
		if err != nil && d.err == nil {
			d.err = err
		}
		d.lines.Write(append(line, '\n'))
	}
}

// Write writes the lines that were recorded. The log is empty afterwards.
func (d *DecisionLog) Write(w io.Writer) error {
	if d.err != nil {
		return d.err
	}
	_, err := d.lines.WriteTo(w)
	return err
}
