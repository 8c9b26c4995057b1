package web

import (
	"fmt"
	"slices"

	"github.com/hammr/hammr/internal/docs/apidoc"
)

// addWork gives the first job of a fake cluster a past on four nodes, of which one has a name. 60 maps
// and 8 reduces have preemptions by each mode, a failure, a lost node and a speculation; the last reduce
// has most of the data. The other job has no past.
func (f *fakeSource) addWork(name string, maps, reduces int) {
	f.events = map[string]apidoc.Events{"job_1763700000000_0002": {Since: atMillis}}
	f.columns = map[string]*apidoc.TaskColumns{"job_1763700000000_0002": {}}
	w := work{at: atMillis - 120_000, nodes: []string{"n1", "n2", "n3", name}}
	w.columns = apidoc.TaskColumns{
		Stages: []string{"m", "r"}, Types: []string{"MAP", "REDUCE"}, Nodes: append([]string{""}, w.nodes...), States: []string{"SUCCEEDED", "RUNNING", "PENDING"},
		Places: []string{"unknown", "node", "rack", "other", "any"},
	}
	for i := range maps {
		w.addMap(i)
	}
	w.at = atMillis - 50_000
	for i := range reduces {
		w.addReduce(i)
	}
	slices.SortStableFunc(w.events, func(a, b apidoc.Event) int { return int(a.At - b.At) })
	f.events[aJob] = apidoc.Events{Events: w.events}
	f.columns[aJob] = &w.columns
}

// work makes events and columns.
type work struct {
	at      int64
	nodes   []string
	events  []apidoc.Event
	columns apidoc.TaskColumns
}

func (w *work) add(at int64, kind, attempt, node string) *apidoc.Event {
	w.events = append(w.events, apidoc.Event{At: at, Kind: kind, Attempt: "attempt_1763700000000_0001_" + attempt, Node: node})
	return &w.events[len(w.events)-1]
}

// task adds a row to the columns. A task without an end runs, or waits if it has no start.
func (w *work) task(stage, number int, start, end, duration, bytes int64, node, place int) {
	c, state := &w.columns, int32(0)
	if end == 0 {
		state = 1
	}
	c.Stage, c.Number, c.State = append(c.Stage, int32(stage)), append(c.Number, int32(number)), append(c.State, state)
	c.Start, c.End, c.Duration = append(c.Start, start), append(c.End, end), append(c.Duration, duration)
	c.Bytes, c.Records, c.In, c.Spilled = append(c.Bytes, bytes), append(c.Records, bytes/100), append(c.In, bytes/120), append(c.Spilled, 0)
	c.Node, c.Place, c.Attempts = append(c.Node, int32(node+1)), append(c.Place, int32(place)), append(c.Attempts, 1)
}

func (w *work) addMap(i int) {
	node, round := i%4, i/8
	start := w.at + int64(round)*8000 + int64(i%8)*150
	duration := int64(6000 + i*7919%1500)
	if node == 0 {
		duration += 400
	}
	id, on := fmt.Sprintf("m_%06d_0", i), w.nodes[node]
	w.add(start, "start", id, on)
	end := start + duration
	switch i {
	case 9:
		w.add(start+2000, "order", id, on).Mode = "split"
		w.add(start+2010, "split", id, on).Rest = "task_1763700000000_0001_m_000060"
		w.add(start+2015, "finish", id, on)
		w.add(start+4500, "start", "m_000060_0", "n3")
		w.add(start+7500, "finish", "m_000060_0", "n3")
	case 18:
		order := w.add(start+1500, "order", id, on)
		order.Mode, order.For, order.ForPool = "checkpoint", "job_1763700000000_0002", "etl"
		w.add(start+2300, "checkpoint", id, on).Bytes = 3 << 20
		next := w.add(start+5000, "continue", "m_000018_1", "n2")
		next.Source = "attempt_1763700000000_0001_" + id
		w.add(start+7800, "finish", "m_000018_1", "n2")
	case 23:
		w.add(start+2000, "suspend", id, on).ForPool = "adhoc"
		w.add(start+12_000, "resume", id, on)
		w.add(start+15_000, "finish", id, on)
	case 29:
		w.add(start+3000, "preempt", id, on)
		w.add(start+3200, "exit", id, on)
		w.add(start+6000, "start", "m_000029_1", "n2")
		w.add(start+9000, "finish", "m_000029_1", "n2")
	case 36:
		w.add(start+3500, "fail", id, on)
		w.add(start+5000, "start", "m_000036_1", "n1")
		w.add(start+10_000, "finish", "m_000036_1", "n1")
	case 44:
		w.add(start+9000, "speculate", "m_000044_1", "n2")
		w.add(start+12_000, "finish", "m_000044_1", "n2")
		w.add(start+12_010, "kill", id, on)
		w.add(start+12_300, "exit", id, on)
	case 46:
		w.add(start+3000, "lose", id, on)
		w.add(start+5000, "start", "m_000046_1", "n1")
		w.add(start+11_000, "finish", "m_000046_1", "n1")
	default:
		w.add(end, "finish", id, on)
	}
	w.task(0, i, start, end, duration, 60<<20+int64(i*104729%(8<<20)), node, []int{1, 1, 1, 2, 3}[i%5])
}

func (w *work) addReduce(i int) {
	start := w.at + int64(i)*300
	duration, bytes := int64(9000+i*500), int64(40<<20+i<<20)
	if i == 7 {
		duration, bytes = 48_000, 400<<20
	}
	id, on := fmt.Sprintf("r_%06d_0", i), w.nodes[i%4]
	w.add(start, "start", id, on)
	if i == 6 { // runs still
		w.task(1, i, start, 0, duration, 0, i%4, 4)
		return
	}
	w.add(start+duration, "finish", id, on)
	w.task(1, i, start, start+duration, duration, bytes, i%4, 4)
}
