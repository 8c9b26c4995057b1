package jobmaster

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/wire"
)

// PoolFile is a file of pools that the master that leads follows: what it holds
// becomes what the policy is set to, on all masters.
type PoolFile struct {
	// Name is that of the file; there is no default.
	Name string
	// Read is what the file holds, and when it was changed. It is called by a
	// goroutine of its own.
	Read func() (content []byte, changed time.Time, err error)
	// Parse names the pools that jobs can be in, and what of the content is
	// ignored or makes little sense. An error is all of its faults.
	Parse func(content []byte) (pools, warnings []string, err error)
	// Set puts the content into what a policy is set to, in a copy. A policy
	// without pools, and one that was set to other pools, stays as it is.
	Set func(policy string, conf map[string]string, content string) map[string]string
}

const (
	// poolInterval is how often the file is looked at, as in Hadoop.
	poolInterval = 10 * time.Second
	// poolSettling is how long a file has to lie still before it is read: who
	// changes it may not be done.
	poolSettling = 5 * time.Second
)

// poolFileState is what the master that leads knows of the file of pools.
type poolFileState struct {
	content   string // that was taken over last
	appliedAt int64  // when that was, ms since the epoch; 0 for not yet
	pools     []string
	warnings  []string
	problems  []string // of what the file holds now
}

// poolFileChange is something else than before in the file of pools.
type poolFileChange struct {
	lead     *lead
	content  string
	pools    []string
	warnings []string
	err      error
}

// watchPoolFile looks at the file now and then until ctx, that of a lead, ends.
func (m *Master) watchPoolFile(ctx context.Context, l *lead) {
	tick := time.NewTicker(poolInterval)
	defer tick.Stop()
	var r poolReader
	for {
		if content, news, err := r.read(m.cfg.PoolFile, m.cfg.Now()); news {
			n := &poolFileChange{lead: l, content: string(content), err: err}
			if err == nil {
				n.pools, n.warnings, n.err = m.cfg.PoolFile.Parse(content)
			}
			m.inbox.Put(n)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// poolReader remembers what a file held, so that nothing is told twice.
type poolReader struct {
	started                bool
	lastRead, lastReported [sha256.Size]byte // of what was read last, and of what was told of last
	lastError              string            // that was told of last, "" for none
}

// read tells of a file that has changed and lies still: it is old enough, or was
// the same the last time. What it holds at first counts at once.
func (r *poolReader) read(f *PoolFile, now time.Time) (content []byte, news bool, err error) {
	content, changed, err := f.Read()
	if err != nil {
		news = r.lastError != err.Error()
		r.lastError = err.Error()
		return nil, news, err
	}
	sum := sha256.Sum256(content)
	settled := !r.started || sum == r.lastRead || now.Sub(changed) >= poolSettling
	news = settled && (!r.started || sum != r.lastReported || r.lastError != "")
	r.started, r.lastRead = true, sum
	if news {
		r.lastReported, r.lastError = sum, ""
	}
	return content, news, nil
}

func (n *poolFileChange) refuse(error) {}

// handle takes over what the file holds. Of one with faults nothing counts, and
// what was there before stays.
func (n *poolFileChange) handle(m *Master) {
	if n.lead != m.lead {
		return
	}
	p, err := &m.lead.poolFile, n.err
	if err == nil {
		_, err = m.cfg.Policy(m.view.Policy(), m.withPools(n.content, m.view.Policy(), m.policyConf()))
	}
	if err != nil {
		p.problems = strings.Split(err.Error(), "\n")
		m.cfg.Logger.Warn("the file of pools is not taken over", "file", m.cfg.PoolFile.Name, "error", err)
		return
	}
	*p = poolFileState{content: n.content, appliedAt: m.now(), pools: n.pools, warnings: n.warnings}
	for _, w := range n.warnings {
		m.cfg.Logger.Warn("in the file of pools", "warning", w)
	}
	m.applyPools()
	m.applyPoolFile()
}

// applyPoolFile sets the policy to the pools of the file, unless it is.
func (m *Master) applyPoolFile() {
	name, conf := m.view.Policy(), m.policyConf()
	full := m.withPools(m.lead.poolFile.content, name, conf)
	if maps.Equal(full, conf) {
		return
	}
	m.cfg.Logger.Info("pools are taken over", "file", m.cfg.PoolFile.Name, "pools", len(m.lead.poolFile.pools))
	m.request(setPolicy(name, full))
}

// withPools is what a policy is to be set to, with the pools of the file if there
// is one.
func (m *Master) withPools(content, policy string, conf map[string]string) map[string]string {
	if m.cfg.PoolFile == nil || content == "" {
		return conf
	}
	return m.cfg.PoolFile.Set(policy, conf, content)
}

// applyPools lets jobs be put into the pools of the configuration and of the
// file, or while that is not known, of the cluster. Jobs in others stay there.
func (m *Master) applyPools() {
	names := slices.Concat(m.cfg.Pools, m.lead.poolFile.pools)
	if m.cfg.PoolFile != nil && m.lead.poolFile.appliedAt == 0 {
		names = append(names, m.view.Pools()...)
	}
	if len(m.cfg.Pools) == 0 && m.cfg.PoolFile == nil {
		return
	}
	names = append(names, cluster.DefaultPool)
	slices.Sort(names)
	if names = slices.Compact(names); !slices.Equal(names, m.view.Pools()) {
		m.request(cluster.SetPools{Names: names})
	}
}

// setPolicy is the command that sets a policy.
func setPolicy(name string, conf map[string]string) cluster.SetPolicy {
	c := cluster.SetPolicy{Name: name}
	for _, setting := range slices.Sorted(maps.Keys(conf)) {
		c.Conf = append(c.Conf, cluster.Setting{Name: setting, Value: conf[setting]})
	}
	return c
}

// SetPolicy chooses the policy that gives out slots, and what it is set to.
func (m *Master) SetPolicy(ctx context.Context, name string, conf map[string]string) error {
	return m.change(ctx, func() (change, error) {
		full := m.withPools(m.lead.poolFile.content, name, conf)
		if _, err := m.cfg.Policy(name, full); err != nil {
			return change{}, fmt.Errorf("%w: %w", cluster.ErrRefused, err)
		}
		c := setPolicy(name, full)
		return change{c, func() bool { return m.view.Policy() == name && slices.Equal(m.view.PolicyConf(), c.Conf) }}, nil
	})
}

// Policy is the policy that gives out slots, what it is set to, and the file of
// pools that this master follows.
func (m *Master) Policy(ctx context.Context) (*wire.GetPolicyResponse, error) {
	return query(ctx, m, func() (*wire.GetPolicyResponse, error) {
		out := &wire.GetPolicyResponse{Name: m.view.Policy(), Conf: m.policyConf()}
		if m.cfg.PoolFile != nil {
			p := m.lead.poolFile
			out.Allocations = &wire.AllocationFile{Name: m.cfg.PoolFile.Name, Taken: p.appliedAt, Faults: p.problems, Warnings: p.warnings}
		}
		return out, nil
	})
}
