package jobmaster

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/sched"
)

// policyRecord is the latest change of the policy that a user has asked for.
type policyRecord struct {
	by   string
	at   int64 // ms since the epoch; 0 for none
	name string
	conf []cluster.Setting // before it
}

// policyFingerprint identifies a policy with its settings.
func (m *Master) policyFingerprint() string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%q\n", m.view.Policy())
	for _, s := range m.view.PolicyConf() {
		fmt.Fprintf(sum, "%q=%q\n", s.Name, s.Value)
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:8])
}

// SetPolicy replaces the scheduling policy and its settings, whatever they are.
func (m *Master) SetPolicy(ctx context.Context, name string, conf map[string]string) error {
	return m.ChangePolicy(ctx, name, conf, "")
}

// ChangePolicy replaces the scheduling policy and its settings. The policy is made here only to check
// the settings; each leader makes its own from the settings in the state. The error wraps
// cluster.ErrRefused for bad settings, and if the policy does not have the expected fingerprint ("" for any) or
// is just being changed: another user was faster.
func (m *Master) ChangePolicy(ctx context.Context, name string, conf map[string]string, expected string) error {
	return m.change(ctx, func() (change, error) {
		if err := m.checkExpected(expected); err != nil {
			return change{}, err
		}
		full := m.withPools(m.lead.poolFile.content, name, conf)
		if _, err := m.cfg.Policy(name, full); err != nil {
			return change{}, fmt.Errorf("%w: %w", cluster.ErrRefused, err)
		}
		m.lead.policyChange = policyRecord{UserOf(ctx), m.now(), m.view.Policy(), slices.Clone(m.view.PolicyConf())}
		command := setPolicy(name, full)
		return change{command, func() bool { return m.view.Policy() == name && slices.Equal(m.view.PolicyConf(), command.Conf) }}, nil
	})
}

// checkExpected refuses a change of the policy that its user has not seen as it is. Changes that are
// on their way through the log count as other policies.
func (m *Master) checkExpected(expected string) error {
	if expected == "" {
		return nil
	}
	by := "another user"
	if m.lead.policyChange.by != "" {
		by = m.lead.policyChange.by
	}
	for _, c := range m.changes {
		if _, under := c.command.(cluster.SetPolicy); under {
			return fmt.Errorf("%w: %s is changing the policy at this moment; look at the new one first", cluster.ErrRefused, by)
		}
	}
	if found := m.policyFingerprint(); found != expected {
		return fmt.Errorf("%w: %s has changed the policy to %s since you looked at it; look at the new one first", cluster.ErrRefused, by, m.view.Policy())
	}
	return nil
}

// lastPolicyChange describes the latest change of the policy under this lead, nil for none.
func (m *Master) lastPolicyChange() *apidoc.PolicyChange {
	r := &m.lead.policyChange
	if r.at == 0 {
		return nil
	}
	conf := make(map[string]string)
	for _, s := range r.conf {
		conf[s.Name] = s.Value
	}
	return &apidoc.PolicyChange{By: r.by, Time: r.at, Policy: r.name, Conf: conf}
}

// maxPreviewed bounds the preemptions in a preview.
const maxPreviewed = 200

// PreviewPolicy returns what a policy would do now: the shares of pools, and the attempts that would
// lose their slots at once. It changes nothing. What depends on time, such as how long a pool has
// been below its share, begins from zero in a new policy, and so does it here. The error wraps
// cluster.ErrRefused for bad settings.
func (m *Master) PreviewPolicy(ctx context.Context, name string, conf map[string]string) (apidoc.PolicyPreview, error) {
	return query(ctx, m, func() (out apidoc.PolicyPreview, err error) {
		policy, err := m.cfg.Policy(name, m.withPools(m.lead.poolFile.content, name, conf))
		if err != nil {
			return out, fmt.Errorf("%w: %w", cluster.ErrRefused, err)
		}
		if err := m.lead.considered.spend(m.now()); err != nil {
			return out, err
		}
		plan, pools := m.brain.Preview(m.now(), policy)
		out = apidoc.PolicyPreview{
			Policy: name, Conf: conf, Preempted: int32(len(plan.Preempts)), Preemptions: []apidoc.PreemptionPreview{}, Expected: m.policyFingerprint(), Time: m.now(),
		}
		for range plan.AllStarts() {
			out.Started++
		}
		for range plan.AllResumes() {
			out.Started++
		}
		loses := make(map[string]apidoc.Slots)
		for _, p := range plan.Preempts[:min(len(plan.Preempts), maxPreviewed)] {
			lost := m.previewPreemption(p)
			out.Preemptions = append(out.Preemptions, lost)
			n := loses[lost.Pool]
			if lost.Slot == cluster.MapSlot.String() {
				n.Map++
			} else {
				n.Reduce++
			}
			loses[lost.Pool] = n
		}
		out.Pools = m.previewPools(pools, loses)
		return out, nil
	})
}

// previewPools returns the use of all pools, what they would lose, and their shares under the present policy
// and another one.
func (m *Master) previewPools(after []sched.Pool, loses map[string]apidoc.Slots) []apidoc.PoolPreview {
	pools := make(map[string]*apidoc.PoolPreview)
	for name, q := range m.countQueues() {
		pools[name] = &apidoc.PoolPreview{Name: name, Running: q.Running, Loses: loses[name]}
	}
	for _, p := range m.brain.Pools(m.now()) {
		if q := pools[p.Name]; q != nil {
			q.Before = &apidoc.Share{Map: p.Share[0], Reduce: p.Share[1]}
		}
	}
	for _, p := range after {
		if q := pools[p.Name]; q != nil {
			q.After = &apidoc.Share{Map: p.Share[0], Reduce: p.Share[1]}
		}
	}
	out := make([]apidoc.PoolPreview, 0, len(pools))
	for _, p := range pools {
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b apidoc.PoolPreview) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func (m *Master) previewPreemption(p sched.Preempt) apidoc.PreemptionPreview {
	out := apidoc.PreemptionPreview{Attempt: p.Attempt.String(), Job: p.Attempt.Task.Job.String(), Mode: string(p.Mode), Cause: p.Cause}
	if j, _, a, known := m.view.Attempt(p.Attempt); known {
		out.Pool, out.Node, out.Slot = j.Spec.Pool, a.Machine, a.Slot.String()
	}
	return out
}
