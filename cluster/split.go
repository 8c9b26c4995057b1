package cluster

import (
	"fmt"

	"github.com/hammr/hammr/dag"
)

// Split is the state's record of one split of the input.
type Split struct {
	Range   dag.Range // of the whole split, as its format numbers positions
	Hosts   []string  // hosts that have most of its bytes, best first
	Bytes   int64     // its length, and its weight for locality
	Ordinal int       // number of its file among all files of the job's input

	Whole bool // it cannot be read from the middle
}

// Load makes the splits of a job known. The splits come from the staging file that the job
// names by hash, so they are not replicated. Loading splits again has no effect.
func (s *State) Load(id JobID, splits []Split) error {
	j, err := s.job(id)
	if err != nil {
		return err
	}
	if j.loaded {
		return nil
	}
	if want := sourceNodes(j.Spec.Graph); len(splits) != want {
		return fmt.Errorf("cluster: %v: %d splits for %d source nodes", id, len(splits), want)
	}
	j.splits, j.loaded = splits, true
	for _, stage := range j.Stages {
		for t := range stage.Pending() {
			j.indexHosts(stage, t)
		}
	}
	return nil
}

// Unload makes the splits of running jobs unknown again, as in a state from a snapshot. A master calls it
// when it becomes the leader, because it has dropped its record of the splits after its last
// lead.
func (s *State) Unload() {
	for _, j := range s.jobs {
		if j.State > JobRunning || !j.loaded {
			continue
		}
		for _, stage := range j.Stages {
			for t := range stage.Pending() {
				j.unindexHosts(stage, t)
			}
		}
		j.splits, j.loaded = nil, false
	}
}

// Location is where a split of a job lies.
type Location struct {
	Split int      // number of the split
	Hosts []string // hosts that have most of its bytes, best first
}

// Locate adds the hosts of splits that had none when they were loaded. Hosts are not
// replicated either: they change where tasks run, never what tasks compute.
func (s *State) Locate(id JobID, locations []Location) error {
	j, err := s.job(id)
	if err != nil {
		return err
	}
	found := make(map[int]bool, len(locations))
	for _, l := range locations {
		if l.Split < 0 || l.Split >= len(j.splits) {
			return fmt.Errorf("cluster: %v: no split %d", id, l.Split)
		}
		if len(j.splits[l.Split].Hosts) == 0 {
			j.splits[l.Split].Hosts, found[l.Split] = l.Hosts, true
		}
	}
	for _, stage := range j.Stages {
		for t := range stage.Pending() {
			if stage.Source && (t.Split < 0 || found[t.Split]) {
				j.indexHosts(stage, t)
			}
		}
	}
	return nil
}

// sourceNodes returns the number of Nodes that read splits, which is the number of splits.
func sourceNodes(g dag.Graph) int {
	n := 0
	for _, s := range g.Stages {
		if g.IsSource(s.Name) {
			n += s.Nodes
		}
	}
	return n
}

// indexHosts enters a pending task under each host of its split.
func (j *Job) indexHosts(stage *Stage, t *Task) {
	split, _ := j.SplitOf(t)
	for _, host := range split.Hosts {
		set := stage.byHost[host]
		if set == nil {
			set = new(numberSet)
			stage.byHost[host] = set
		}
		set.add(t.ID.Number)
	}
}

// unindexHosts removes a task from the hosts of its split.
func (j *Job) unindexHosts(stage *Stage, t *Task) {
	split, _ := j.SplitOf(t)
	for _, host := range split.Hosts {
		stage.byHost[host].remove(t.ID.Number)
	}
}

// IsLocal reports whether the split of t lies on m.
func (j *Job) IsLocal(t *Task, m *Machine) bool {
	split, _ := j.SplitOf(t)
	for _, host := range split.Hosts {
		for _, name := range m.Hosts {
			if host == name {
				return true
			}
		}
	}
	return false
}
