package task

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/data/hashtable"
)

// sideTableIdle is how long a hash table that no Node uses is kept. Between two waves of tasks
// of a job there may be a moment without a reader.
const sideTableIdle = 5 * time.Second

// SideTables are the hash tables that the Nodes of a process have built from side inputs. Nodes
// of one job that read the same edge share one table, in one attempt or in several. Any
// goroutine may use it. The zero value has no tables.
//
//	        first Node                 built             last Node released it
//	absent ────────────► being built ────────► in use ─────────────────────────► idle
//	   ▲                      │                  ▲                                │ │
//	   ├── not built ─────────┘                  └────────── another Node ────────┘ │
//	   └── idle for sideTableIdle, or an attempt starts that does not read it ──────┘
//
// Every broadcast edge has the same records for each of its readers. So the job and the edge
// identify a table, as long as the outputs that it was built from are those that can be read. If
// an output was written again, with other records perhaps, the next Node builds another table.
type SideTables struct {
	mu struct {
		sync.Mutex
		tables map[sideID]*sideTable
	}
}

// sideID identifies a side input of a job.
type sideID struct {
	job  string
	edge int // place in the graph's edges
}

// sideTable is the table of a side input. Its builder sets table and writers before it closes
// built, and they do not change then.
type sideTable struct {
	built   chan struct{}
	table   *hashtable.Table // nil if it could not be built
	writers map[string]bool  // attempts whose outputs the table has

	users     int       // guarded by SideTables.mu; 0: idle, unless it is being built
	idleSince time.Time // guarded by SideTables.mu; valid if users is 0
}

// acquire returns the table of a side, and whether the caller must build it. The caller
// becomes a user of it.
func (s *SideTables) acquire(id sideID) (t *sideTable, build bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t = s.mu.tables[id]
	if t == nil {
		if s.mu.tables == nil {
			s.mu.tables = make(map[sideID]*sideTable)
		}
		t, build = &sideTable{built: make(chan struct{})}, true
		s.mu.tables[id] = t
	}
	t.users++
	return t, build
}

// finish ends the building of a table. A nil table means that it failed: the Nodes that wait
// for it try themselves, since the error is that of another attempt.
func (s *SideTables) finish(id sideID, t *sideTable, table *hashtable.Table, writers []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.table, t.writers = table, setOf(writers)
	if table == nil {
		s.forgetLocked(id, t)
	}
	close(t.built)
}

// forget makes the next Node build another table. The users of this one keep it.
func (s *SideTables) forget(id sideID, t *sideTable) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetLocked(id, t)
}

func (s *SideTables) forgetLocked(id sideID, t *sideTable) {
	if s.mu.tables[id] == t {
		delete(s.mu.tables, id)
	}
}

// release ends the use of a table by a Node.
func (s *SideTables) release(t *sideTable) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.users--; t.users > 0 {
		return
	}
	t.idleSince = time.Now()
	time.AfterFunc(sideTableIdle+time.Second, func() {
		before := time.Now().Add(-sideTableIdle)
		s.removeIdle(func(_ sideID, t *sideTable) bool { return t.idleSince.Before(before) })
	})
}

// keepOnly removes the idle tables that an attempt of the job does not read, to leave the memory
// to it.
func (s *SideTables) keepOnly(job string, edges []int) {
	s.removeIdle(func(id sideID, _ *sideTable) bool { return id.job != job || !slices.Contains(edges, id.edge) })
}

// removeIdle removes idle tables.
func (s *SideTables) removeIdle(remove func(sideID, *sideTable) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.mu.tables, func(id sideID, t *sideTable) bool { return t.users == 0 && remove(id, t) })
}

// SideTable returns the named input, a side, as a hash table. It waits until all writers of the
// side have finished. The Node shares the table with others, and keeps it until it ends.
func (n *NodeRun) SideTable(input string) (*hashtable.Table, error) {
	channels, err := n.named([]string{input})
	if err != nil {
		return nil, err
	}
	c := channels[0]
	if c.Connection != dag.Broadcast {
		return nil, &FatalError{Err: fmt.Errorf("node %v: input %q is no broadcast: each Node reads other records", n, input)}
	}
	if t := n.sides[c.Edge]; t != nil {
		return t.table, nil
	}
	for {
		t, build := n.group.sideTables().acquire(sideID{n.Attempt.Start.JobId, c.Edge})
		if build {
			err = n.buildSideTable(c, t)
		} else {
			err = n.awaitSideTable(c, t)
		}
		if err == nil && t.table != nil {
			if n.sides == nil {
				n.sides = make(map[int]*sideTable)
			}
			n.sides[c.Edge] = t
			return t.table, nil
		}
		n.group.sideTables().release(t)
		if err != nil && err != errOldTable {
			return nil, err
		}
	}
}

// errOldTable reports that an output that a table has was written again.
var errOldTable = errors.New("the side was written again")

// buildSideTable builds the table of an input. Whatever happens, the Nodes that wait for it
// continue.
func (n *NodeRun) buildSideTable(c Channel, t *sideTable) (err error) {
	var table *hashtable.Table
	r := n.Reduce(c.Input)
	defer func() { n.group.sideTables().finish(sideID{n.Attempt.Start.JobId, c.Edge}, t, table, r.writers) }()
	defer r.Close()
	groups, err := r.Groups(nil)
	if err != nil {
		return err
	}
	b := hashtable.NewBuilder(r.intake.Stats().Bytes + r.total)
	for groups.NextGroup() {
		b.AddKey(groups.Key())
		for groups.NextValue() {
			b.AddValue(groups.Value())
			if err := n.pollBuilding(groups.Records()); err != nil {
				return err
			}
		}
	}
	if err := groups.Err(); err != nil {
		return err
	}
	table, err = b.Table()
	return err
}

// pollBuilding reports progress, and returns the cause if the attempt ends. It does so for one
// record in many.
func (n *NodeRun) pollBuilding(record int64) error {
	if record%1024 != 0 {
		return nil
	}
	n.Attempt.KeepAlive()
	return context.Cause(n.Attempt.ctx)
}

// awaitSideTable waits for a table that another Node builds, and until it is known that the table has the
// output of each writer. If it gets one, the Node counts the records as if it had read them itself. So the
// counters of a job do not depend on which Nodes share a process. Neither Node reports the side as fetched,
// because an attempt that resumes reads it again.
func (n *NodeRun) awaitSideTable(c Channel, t *sideTable) error {
	defer n.beginWait()()
	select {
	case <-t.built:
	case <-n.Attempt.ctx.Done():
		return context.Cause(n.Attempt.ctx)
	}
	if t.table == nil {
		return nil
	}
	outputs := n.group.board.subscribe([]int{c.Edge})
	defer outputs.close()
	for {
		other, complete := n.group.board.compare(c.Edge, t.writers)
		if other {
			n.group.sideTables().forget(sideID{n.Attempt.Start.JobId, c.Edge}, t)
			return errOldTable
		}
		if complete {
			break
		}
		select {
		case <-outputs.ready:
		case <-n.Attempt.ctx.Done():
			return context.Cause(n.Attempt.ctx)
		}
	}
	n.Attempt.Counters.Add(counter.ReduceInputRecords, t.table.Records())
	return nil
}

// releaseSides ends the use of the Node's tables. It may be called twice.
func (n *NodeRun) releaseSides() {
	for _, t := range n.sides {
		n.group.sideTables().release(t)
	}
	n.sides = nil
}

// fileInputs returns the edges that are files and lead to Nodes of the group.
func (g *groupRun) fileInputs() (edges []int) {
	for _, n := range g.nodes {
		for _, c := range fileChannels(n.inputs) {
			edges = append(edges, c.Edge)
		}
	}
	return edges
}

// sideTables returns the tables that the group shares: those of the process, if its server has
// them.
func (g *groupRun) sideTables() *SideTables {
	if g.server != nil && g.server.Sides != nil {
		return g.server.Sides
	}
	return &g.ownSides
}
