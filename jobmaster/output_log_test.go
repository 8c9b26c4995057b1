package jobmaster

import (
	"fmt"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// readers is a leader with one job, and tasknodes that keep the sizes of what they are sent.
type readers struct {
	m        *Master
	j        *cluster.Job
	orders   int
	bytes    int           // of all orders
	encoded  map[*byte]int // sizes of different encodings
	largest  int
	complete int // orders that say so
}

// newReaders attaches tasknodes.
func newReaders(tb testing.TB, machines int) *readers {
	m := &Master{lead: &lead{tasknodes: make(map[string]*tasknodeRecord), records: make(map[cluster.JobID]*record), outputsUnsent: make(map[cluster.JobID]bool)}, board: newBoard(Config{}, nil)}
	m.setState(cluster.New("1"))
	r := &readers{m: m, j: &cluster.Job{ID: cluster.JobID{Cluster: "1", Number: 1}}, encoded: make(map[*byte]int)}
	m.records[r.j.ID] = new(record)
	for i := range machines {
		name := fmt.Sprintf("machine%d", i)
		if _, err := m.state.Apply(cluster.Entry{At: 1, Command: cluster.JoinMachine{Name: name, Instance: "i", Slots: cluster.Slots{1, 1}}}); err != nil {
			tb.Fatal(err)
		}
		m.tasknode(name).attachment = &Attachment{instance: "i", send: r.receive}
	}
	return r
}

func (r *readers) receive(o *wire.Order) {
	packed := o.GetOutputs().Packed
	r.orders++
	r.bytes += len(packed)
	r.largest = max(r.largest, len(packed))
	if len(packed) > 0 {
		r.encoded[&packed[0]] = len(packed)
	}
	if o.GetOutputs().Complete {
		r.complete++
	}
}

// log returns the log of edge 0.
func (r *readers) log() *outputLog { return r.m.records[r.j.ID].outputs.log(0) }

// subscribe sends a machine the log from its beginning.
func (r *readers) subscribe(machine int) {
	r.m.sendLog(fmt.Sprintf("machine%d", machine), r.log(), r.log().orders(r.j.ID, 0, 0))
}

// publish adds the outputs of Nodes in steps of 100.
func (r *readers) publish(outputs, partitions int) {
	for i := range outputs {
		sizes := make([]int64, partitions)
		attempt := fmt.Sprintf("attempt_1700000000000_0001_m_%06d_0", i)
		r.log().Add(&taskproc.MapOutput{
			Task: int32(i), Attempt: attempt, Address: fmt.Sprintf("machine%d:7345", i%1000), IndexChecksum: uint64(i) << 40, Ordinal: int32(i),
			Path: fmt.Sprintf("/data/%d/job_1700000000000_0001/%s/map.out", i%4, attempt), Empty: taskproc.EmptySet(sizes),
		})
		if i == outputs-1 {
			r.log().Complete = true
		}
		if i%100 == 99 || i == outputs-1 {
			r.m.outputsChanged(r.j, 0)
			r.m.sendOutputs()
		}
	}
}

// TestOutputsAreEncodedOnceForAllMachines lets half of the machines read the outputs as they
// are written, and the others when all are written.
func TestOutputsAreEncodedOnceForAllMachines(t *testing.T) {
	const machines, outputs, partitions = 1000, 50_000, 2000
	r := newReaders(t, machines)
	for i := range machines / 2 {
		r.subscribe(i)
	}
	r.publish(outputs, partitions)
	if r.complete != machines/2 {
		t.Errorf("%d orders say that the outputs are complete", r.complete)
	}
	for i := machines / 2; i < machines; i++ {
		r.subscribe(i)
	}
	encoded := 0
	for _, n := range r.encoded {
		encoded += n
	}
	const each = partitions/8 + 100 // a set of empty partitions, and the rest
	if encoded > 2*outputs*each {
		t.Errorf("%d bytes are encoded, %d for each output", encoded, encoded/outputs)
	}
	if r.bytes > machines*outputs*each {
		t.Errorf("%d bytes are sent to each machine, %d for each output", r.bytes/machines, r.bytes/machines/outputs)
	}
	if r.largest > 80<<10 || r.orders > machines*(outputs/100+2) {
		t.Errorf("%d orders, the largest of %d bytes", r.orders, r.largest)
	}
	if r.complete != machines {
		t.Errorf("%d orders to late machines say that the outputs are complete", r.complete-machines/2)
	}
}
