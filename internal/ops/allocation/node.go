package allocation

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Allocation is what a scheduler has given to a job.
type Allocation struct {
	Scheduler string    // Slurm or OAR
	Job       string    // id of the job
	Nodes     []Node    // the first one runs this process
	End       time.Time // when the scheduler ends the job; zero if that is not known
}

// Node is a machine of an allocation.
type Node struct {
	Host     string // as the scheduler names it
	Cores    int
	MemoryMB int // 0 if the scheduler does not limit it
}

// Environment returns the value of an environment variable, "" for none. os.Getenv is one.
type Environment func(name string) string

// first returns the value of the first variable that is set.
func (e Environment) first(names ...string) string {
	for _, name := range names {
		if value := e(name); value != "" {
			return value
		}
	}
	return ""
}

// errOutside is the error of a command that is not run by its scheduler.
func errOutside(scheduler, variable, example string) error {
	return fmt.Errorf("%s is not set: this is not a job of %s; run the command in a job script, for example %s", variable, scheduler, example)
}

// Slurm reads the environment of a job of Slurm. expand returns the hosts of a list such as
// n[1-3], as `scontrol show hostnames` does.
func Slurm(env Environment, expand func(list string) ([]string, error)) (*Allocation, error) {
	a := &Allocation{Scheduler: "Slurm", Job: env("SLURM_JOB_ID")}
	list := env.first("SLURM_JOB_NODELIST", "SLURM_NODELIST")
	if a.Job == "" || list == "" {
		return nil, errOutside(a.Scheduler, "SLURM_JOB_NODELIST", "sbatch --nodes=4 script")
	}
	hosts, err := expand(list)
	if err != nil {
		return nil, fmt.Errorf("nodes of job %s: %w", a.Job, err)
	}
	cores, err := slurmCores(env, len(hosts))
	if err != nil {
		return nil, err
	}
	for i, host := range hosts {
		n := Node{Host: host, Cores: cores[i]}
		if n.MemoryMB, err = slurmMemory(env, cores[i]); err != nil {
			return nil, err
		}
		a.Nodes = append(a.Nodes, n)
	}
	if end := env("SLURM_JOB_END_TIME"); end != "" {
		seconds, err := strconv.ParseInt(end, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("SLURM_JOB_END_TIME=%s: expected seconds since the epoch", end)
		}
		a.End = time.Unix(seconds, 0)
	}
	return a, a.check()
}

// slurmCores returns the processors of each node: SLURM_JOB_CPUS_PER_NODE is a list such as
// 8(x3),4.
func slurmCores(env Environment, nodes int) (cores []int, err error) {
	list := env("SLURM_JOB_CPUS_PER_NODE")
	if list == "" {
		list = env("SLURM_CPUS_ON_NODE") // of this node; all are assumed to be equal
		if list == "" {
			list = "1"
		}
		list += fmt.Sprintf("(x%d)", nodes)
	}
	wrong := fmt.Errorf("SLURM_JOB_CPUS_PER_NODE=%s: expected a list such as 8(x3),4 for %d nodes", list, nodes)
	for item := range strings.SplitSeq(list, ",") {
		count, times, repeated := strings.Cut(strings.TrimSuffix(item, ")"), "(x")
		n, err := strconv.Atoi(count)
		repeat := 1
		if repeated && err == nil {
			repeat, err = strconv.Atoi(times)
		}
		if err != nil || n < 1 || repeat < 1 || len(cores)+repeat > nodes {
			return nil, wrong
		}
		for range repeat {
			cores = append(cores, n)
		}
	}
	if len(cores) != nodes {
		return nil, wrong
	}
	return cores, nil
}

// slurmMemory returns the MiB of memory that a job has on a node, 0 for all of it.
func slurmMemory(env Environment, cores int) (int, error) {
	for name, factor := range map[string]int{"SLURM_MEM_PER_NODE": 1, "SLURM_MEM_PER_CPU": cores} {
		text := env(name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return 0, fmt.Errorf("%s=%s: expected a number of MiB", name, text)
		}
		return n * factor, nil
	}
	return 0, nil
}

// ParseTimeLeft parses the time that a job of Slurm has left, as squeue prints it for %L:
// [DAYS-][[HOURS:]MINUTES:]SECONDS. known is false if the job has no limit.
func ParseTimeLeft(text string) (left time.Duration, known bool, err error) {
	text = strings.TrimSpace(text)
	switch text {
	case "UNLIMITED", "NOT_SET", "INVALID", "":
		return 0, false, nil
	}
	days, clock, hasDays := strings.Cut(text, "-")
	if !hasDays {
		days, clock = "0", text
	}
	d, err := strconv.Atoi(days)
	parts := strings.Split(clock, ":")
	seconds := 0
	for _, part := range parts {
		n, partErr := strconv.Atoi(part)
		err = errors.Join(err, partErr)
		seconds = 60*seconds + n
	}
	if err != nil || len(parts) > 3 || d < 0 || seconds < 0 {
		return 0, false, fmt.Errorf("time left %q: expected [DAYS-][[HOURS:]MINUTES:]SECONDS", text)
	}
	return time.Duration(d)*24*time.Hour + time.Duration(seconds)*time.Second, true, nil
}

// OAR reads the environment of a job of OAR. read returns a file, since the nodes are in the
// file of OAR_NODEFILE: a line for each core that the job has.
func OAR(env Environment, read func(name string) ([]byte, error), now time.Time) (*Allocation, error) {
	a := &Allocation{Scheduler: "OAR", Job: env.first("OAR_JOB_ID", "OAR_JOBID")}
	file := env.first("OAR_NODEFILE", "OAR_NODE_FILE", "OAR_FILE_NODES", "OAR_RESOURCE_FILE")
	if a.Job == "" || file == "" {
		return nil, errOutside(a.Scheduler, "OAR_NODEFILE", "oarsub -l nodes=4,walltime=1 script")
	}
	text, err := read(file)
	if err != nil {
		return nil, fmt.Errorf("nodes of job %s: %w", a.Job, err)
	}
	index := make(map[string]int)
	for host := range strings.FieldsSeq(string(text)) {
		i, known := index[host]
		if !known {
			i = len(a.Nodes)
			index[host], a.Nodes = i, append(a.Nodes, Node{Host: host})
		}
		a.Nodes[i].Cores++
	}
	if walltime := env("OAR_JOB_WALLTIME_SECONDS"); walltime != "" {
		seconds, err := strconv.ParseInt(walltime, 10, 64)
		if err != nil || seconds <= 0 {
			return nil, fmt.Errorf("OAR_JOB_WALLTIME_SECONDS=%s: expected a number of seconds", walltime)
		}
		a.End = now.Add(time.Duration(seconds) * time.Second)
	}
	return a, a.check()
}

// check refuses an allocation without nodes, or with one node twice.
func (a *Allocation) check() error {
	seen := make(map[string]bool)
	for _, n := range a.Nodes {
		if seen[n.Host] {
			return fmt.Errorf("%s names node %s twice in job %s", a.Scheduler, n.Host, a.Job)
		}
		seen[n.Host] = true
	}
	if len(a.Nodes) == 0 {
		return fmt.Errorf("%s names no node in job %s", a.Scheduler, a.Job)
	}
	return nil
}
