package jobmaster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// submitKey identifies a submission. A submission that is sent twice is one job.
type submitKey struct {
	client   string
	sequence uint64
}

// submitted is the answer to a submission.
type submitted = result[cluster.JobID]

type submitRequest struct {
	*submission
	answer chan<- submitted
}

// Submit submits a job whose splits are staged and returns its id when the job is in the
// log. spec names the client and the sequence. An invalid job is refused with all of its
// problems.
//
// A client may send a submission again because the answer was lost. It is still one job,
// because the state remembers the key of each job.
func (m *Master) Submit(ctx context.Context, spec *wire.JobSpec) (string, error) {
	s, err := newSubmission(spec, m.cfg.Limits)
	if err := errors.Join(err, m.checkStaged(ctx, spec)); err != nil {
		return "", err
	}
	if err := m.checkLogDir(ctx, spec.Properties[conf.JobLogDir]); err != nil {
		return "", err
	}
	release, err := m.reserveProgram(ctx, spec)
	if err != nil {
		return "", err
	}
	defer release()
	answer := make(chan submitted, 1)
	id, err := call(ctx, m, &submitRequest{s, answer}, answer)
	if err != nil {
		return "", err
	}
	return id.String(), nil
}

// checkLogDir returns an error unless a job's own directory for logs lies below the
// cluster's. Tasknodes write the logs, and may have more rights there than the job's user.
func (m *Master) checkLogDir(ctx context.Context, own string) error {
	if own == "" || m.cfg.LogDir == "" {
		return nil
	}
	fsys, dir, err := m.cfg.Resolve(ctx, own)
	if err != nil {
		return fmt.Errorf("%s: %w", conf.JobLogDir, err)
	}
	outer, parent, err := m.cfg.Resolve(ctx, m.cfg.LogDir)
	if err != nil {
		return fmt.Errorf("directory for logs: %w", err)
	}
	if fsys.URI() != outer.URI() || !strings.HasPrefix(dir+"/", strings.TrimSuffix(parent, "/")+"/") {
		return fmt.Errorf("%s is %s, and logs are kept only in directories below %s; name one, or unset the property", conf.JobLogDir, own, m.cfg.LogDir)
	}
	return nil
}

func (r *submitRequest) refuse(err error) { r.answer <- submitted{err: err} }

func (r *submitRequest) handle(m *Master) {
	// A job that was accepted may exceed a limit by now, or be over.
	if id, known := m.view.Submitted(r.key.client, r.key.sequence); known {
		r.answer <- submitted{value: id}
		return
	}
	if m.submits[r.key] == nil && len(m.submits) >= m.cfg.MaxSubmissions {
		r.answer <- submitted{err: m.tooMany(m.cfg.MaxSubmissions, "submissions are being written to the log")}
		return
	}
	// This check only reports the error early; SubmitJob makes the decision.
	if other, err := m.view.OutputWriter(r.spec); err != nil && m.submitterOf(other) != r.key {
		r.answer <- submitted{err: err}
		return
	}
	err := errors.Join(m.view.CheckLimits(r.spec), m.checkFits(r.spec), m.checkMemory(r.spec))
	if err != nil {
		r.answer <- submitted{err: err}
		return
	}
	r.spec.Pool = m.poolFor(r.submission)
	if r.age > 0 {
		r.spec.FirstSentAt = max(m.now()-r.age, 1)
	}
	m.submits[r.key] = r.answer
	m.requestIn(r.spec.Pool, r.spec.User, control.Requested{
		Client: r.key.client, Sequence: r.key.sequence, Command: cluster.SubmitJob{Spec: r.spec},
	})
}

// submitterOf returns the key under which a job was submitted.
func (m *Master) submitterOf(id cluster.JobID) submitKey {
	spec := m.record(id).spec
	return submitKey{spec.ClientId, spec.Sequence}
}

// answerSubmit answers the client whose submission was applied.
func (m *Master) answerSubmit(e cluster.Entry, delta cluster.Delta, err error) {
	key := submitKey{e.Client, e.Sequence}
	if answer := m.submits[key]; answer != nil {
		answer <- submitted{delta.Submitted, err}
		delete(m.submits, key)
	}
}

// KillAll kills every unfinished job. It does not wait.
func (m *Master) KillAll(cause string) {
	m.post(func() {
		for j := range m.view.Jobs() {
			if j.State < cluster.JobAborting {
				m.request(cluster.KillJob{Job: j.ID, Cause: cause})
			}
		}
	})
}

// checkFits refuses a job with a gang that can never start on the present machines. It
// accepts other jobs: a task that starts alone waits for a suitable machine, and if there is
// no machine, every job waits.
func (m *Master) checkFits(spec cluster.JobSpec) error {
	var machines []cluster.Slots
	for machine := range m.view.Machines() {
		if machine.TakesTasks() {
			machines = append(machines, machine.Slots)
		}
	}
	if len(machines) == 0 {
		return nil
	}
	layout := spec.Graph.Layout()
	if startsAlone(layout) {
		return nil
	}
	return spec.Graph.CheckFits(layout, machines)
}

// startsAlone reports whether every bundle is one group with one slot, as in a plain
// MapReduce job.
func startsAlone(l *dag.Layout) bool {
	return !slices.ContainsFunc(l.Bundles, func(b dag.BundleClass) bool { return b.Slots.Total() > 1 })
}
