package analysis

import (
	"cmp"
	"slices"

	"github.com/hammr/hammr/internal/docs/apidoc"
)

// PlaceNames are the places of a Locality, the nearest first: with the input of the task, in its rack,
// elsewhere, and those of tasks that read no split or whose place is not known.
var PlaceNames = []string{"node", "rack", "other", "any", "unknown"}

// PlaceCounts are numbers by place, in the order of PlaceNames.
type PlaceCounts [5]int64

// Locality is where tasks ran relative to their input. A task counts by its winner or, without one, by
// its latest attempt.
type Locality struct {
	Places []string        `json:"places"` // order of all lists of counts
	Stages []StageLocality `json:"stages"` // that have started tasks
	Nodes  []NodeLocality  `json:"nodes"`  // those with the most tasks far from their input first, at most 100
}

// StageLocality is the locality of a stage.
type StageLocality struct {
	Stage   string      `json:"stage"` // code, as in ids
	Type    string      `json:"type"`  // MAP or REDUCE
	Tasks   PlaceCounts `json:"tasks"`
	Records PlaceCounts `json:"records"` // that the tasks have read
	Bytes   PlaceCounts `json:"bytes"`   // of their splits that finished tasks have read, by the counter Bytes Read
	Times   []PlacesAt  `json:"times"`   // starts over time: at most 60 parts of the same length
	Reads   bool        `json:"reads"`   // its tasks read splits, so places matter
	Share   float64     `json:"share"`   // tasks with their input on the node, of those whose place is node, rack or other
	Median  [5]int64    `json:"median"`  // median duration of finished tasks by place, ms; 0 if there are none
}

// Far returns the bytes that were read from other machines: all but those of tasks with their input on
// the node, as far as places are known.
func (c PlaceCounts) Far() int64 { return c[1] + c[2] }

// PlacesAt has the tasks that started in a part of the time.
type PlacesAt struct {
	At    int64       `json:"time"` // begin, ms since the epoch
	Tasks PlaceCounts `json:"tasks"`
}

// NodeLocality is the locality of the tasks of a tasknode.
type NodeLocality struct {
	Node  string      `json:"node"`
	Tasks PlaceCounts `json:"tasks"`
	Bytes PlaceCounts `json:"bytes"` // as in StageLocality
}

const (
	maxTimes         = 60
	maxLocalityNodes = 100
)

// LocalityOf returns the locality of the tasks of a job.
func LocalityOf(c *apidoc.TaskColumns) Locality {
	out := Locality{Places: PlaceNames, Stages: []StageLocality{}, Nodes: []NodeLocality{}}
	places := make([]int, len(c.Places))
	for i, name := range c.Places {
		places[i] = max(slices.Index(PlaceNames, name), -1)
		if places[i] < 0 {
			places[i] = len(PlaceNames) - 1
		}
	}
	rows := make([][]int32, len(c.Stages))
	nodes := make(map[int32]*NodeLocality)
	for i := range c.Stage {
		if c.Start[i] == 0 {
			continue
		}
		rows[c.Stage[i]] = append(rows[c.Stage[i]], int32(i))
		n := nodes[c.Node[i]]
		if n == nil {
			n = &NodeLocality{Node: c.Nodes[c.Node[i]]}
			nodes[c.Node[i]] = n
		}
		n.Tasks[places[c.Place[i]]]++
		n.Bytes[places[c.Place[i]]] += c.ReadBytes(i)
	}
	for s, list := range rows {
		if len(list) > 0 {
			out.Stages = append(out.Stages, localityOfStage(c, places, list, s))
		}
	}
	for _, n := range nodes {
		out.Nodes = append(out.Nodes, *n)
	}
	slices.SortFunc(out.Nodes, func(a, b NodeLocality) int {
		return cmp.Or(cmp.Compare(b.Tasks[2], a.Tasks[2]), cmp.Compare(b.Tasks[1], a.Tasks[1]), compareNames(a.Node, b.Node))
	})
	out.Nodes = out.Nodes[:min(len(out.Nodes), maxLocalityNodes)]
	return out
}

func localityOfStage(c *apidoc.TaskColumns, places []int, rows []int32, stage int) StageLocality {
	s := StageLocality{Stage: c.Stages[stage], Type: c.Types[stage]}
	first, last := c.Start[rows[0]], c.Start[rows[0]]
	var durations [5][]int64
	for _, i := range rows {
		place := places[c.Place[i]]
		s.Tasks[place]++
		s.Records[place] += c.In[i]
		s.Bytes[place] += c.ReadBytes(int(i))
		first, last = min(first, c.Start[i]), max(last, c.Start[i])
		if c.End[i] > 0 {
			durations[place] = append(durations[place], c.Duration[i])
		}
	}
	for place := range durations {
		slices.Sort(durations[place])
		s.Median[place] = quantile(durations[place], .5)
	}
	if placed := s.Tasks[0] + s.Tasks[1] + s.Tasks[2]; placed > 0 {
		s.Reads, s.Share = true, float64(s.Tasks[0])/float64(placed)
	}
	step := (last-first)/maxTimes + 1
	s.Times = make([]PlacesAt, (last-first)/step+1)
	for i := range s.Times {
		s.Times[i].At = first + int64(i)*step
	}
	for _, i := range rows {
		s.Times[(c.Start[i]-first)/step].Tasks[places[c.Place[i]]]++
	}
	return s
}
