package jobmaster

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
	"google.golang.org/protobuf/proto"
)

// submitKey names a submission.
type submitKey struct {
	client   string
	sequence uint64
}

type submitted struct {
	job cluster.JobID
	err error
}

type submitRequest struct {
	key    submitKey
	spec   cluster.JobSpec
	wish   poolWish
	answer chan<- submitted
}

// Submit hands in a job whose splits are staged already, and returns its id
// once that is in the log. The spec names its client and sequence.
func (m *Master) Submit(ctx context.Context, spec *wire.JobSpec) (string, error) {
	converted, err := jobSpec(spec)
	if err != nil {
		return "", err
	}
	if spec.ClientId == "" {
		return "", errors.New("jobmaster: submission without a client id")
	}
	answer := make(chan submitted, 1)
	request := &submitRequest{submitKey{spec.ClientId, spec.Sequence}, converted, wishOf(spec), answer}
	got, err := call(ctx, m, request, answer)
	if err != nil {
		return "", err
	}
	return got.job.String(), got.err
}

func (r *submitRequest) refuse(err error) { r.answer <- submitted{err: err} }

func (r *submitRequest) handle(m *Master) {
	if other, busy := m.writerOf(r.spec.OutputDir); busy && m.submitterOf(other) != r.key {
		r.answer <- submitted{err: fmt.Errorf("output directory %s is being written by %v", r.spec.OutputDir, other)}
		return
	}
	if err := m.checkFits(r.spec); err != nil {
		r.answer <- submitted{err: err}
		return
	}
	if r.spec.Pool = r.wish.among(m.view.Pools()); m.cfg.OnePool {
		r.spec.Pool = cluster.DefaultPool
	}
	m.submits[r.key] = r.answer
	m.events = append(m.events, control.Requested{
		Client: r.key.client, Sequence: r.key.sequence, Command: cluster.SubmitJob{Spec: r.spec},
	})
}

// writerOf is the job, not over yet, that writes to a directory.
func (m *Master) writerOf(dir string) (cluster.JobID, bool) {
	if dir == "" {
		return cluster.JobID{}, false
	}
	for j := range m.view.Jobs() {
		if j.Spec.OutputDir == dir && !j.State.Final() {
			return j.ID, true
		}
	}
	return cluster.JobID{}, false
}

func (m *Master) submitterOf(id cluster.JobID) submitKey {
	spec := m.record(id).spec
	return submitKey{spec.ClientId, spec.Sequence}
}

// answerSubmit answers the client whose submission is in the log.
func (m *Master) answerSubmit(e cluster.Entry, delta cluster.Delta, err error) {
	key := submitKey{e.Client, e.Sequence}
	if answer := m.submits[key]; answer != nil {
		answer <- submitted{delta.Submitted, err}
		delete(m.submits, key)
	}
}

// killAllRequest kills every job that is not over.
type killAllRequest struct{ cause string }

// KillAll asks for the end of every job that is not over.
func (m *Master) KillAll(cause string) { m.inbox.Put(&killAllRequest{cause}) }

func (r *killAllRequest) refuse(error) {}

func (r *killAllRequest) handle(m *Master) {
	for j := range m.view.Jobs() {
		if j.State < cluster.JobAborting {
			m.request(cluster.KillJob{Job: j.ID, Cause: r.cause})
		}
	}
}

// jobSpec is what the state needs of a submitted job. It reports every fault at
// once.
func jobSpec(spec *wire.JobSpec) (cluster.JobSpec, error) {
	document, err := proto.Marshal(spec)
	if err != nil {
		return cluster.JobSpec{}, fmt.Errorf("jobmaster: job specification: %w", err)
	}
	out := cluster.JobSpec{
		Name: spec.Name, User: spec.User, OutputDir: spec.OutputDir,
		Graph: taskproc.ToGraph(spec.Graph), Document: document,
	}
	limits := setLimits(&out, spec.Properties)
	return out, errors.Join(out.Graph.Validate(), checkGraph(out.Graph, spec), limits, setPreemption(&out, spec))
}

// checkGraph holds a graph against what the client says of it.
func checkGraph(g dag.Graph, spec *wire.JobSpec) error {
	if want := g.Fingerprint(); spec.Fingerprint != "" && spec.Fingerprint != want {
		return fmt.Errorf("jobmaster: fingerprint %s of a graph whose own is %s", spec.Fingerprint, want)
	}
	return nil
}

// checkFits refuses a job with bundles that could never start on the machines
// that are here. Tasks that start alone wait for a machine to come, and so does
// everything while there is none.
func (m *Master) checkFits(spec cluster.JobSpec) error {
	var machines []dag.SlotCounts
	for machine := range m.view.Machines() {
		if !machine.Lost && !machine.Excluded {
			machines = append(machines, dag.SlotCounts{Map: machine.Slots[cluster.MapSlot], Reduce: machine.Slots[cluster.ReduceSlot]})
		}
	}
	if len(machines) == 0 || startsAlone(spec.Graph.Layout()) {
		return nil
	}
	return spec.Graph.CheckFits(machines)
}

// startsAlone reports whether each bundle is one group with one slot.
func startsAlone(l *dag.Layout) bool {
	return !slices.ContainsFunc(l.Bundles, func(b dag.BundleClass) bool { return b.Slots.Map+b.Slots.Reduce > 1 })
}
