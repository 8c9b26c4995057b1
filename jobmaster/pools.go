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
	"github.com/hammr/hammr/internal/syncutil"
	"github.com/hammr/hammr/internal/wire"
)

// PoolFile is a file of pools. The leader watches it and applies its content to the
// policy, through the log and so on all masters.
type PoolFile struct {
	// Name is the name of the file; there is no default.
	Name string
	// Read returns the content of the file and when it was changed. It is called outside
	// the loop.
	Read func() (content []byte, changed time.Time, err error)
	// Parse returns the names of the pools that jobs may name, and warnings about
	// settings that are ignored or make little sense. Its error lists all problems, one
	// a line.
	Parse func(content []byte) (pools, warnings []string, err error)
	// Set returns a copy of a policy's settings with the content in it. The settings of
	// a policy without pools, or with pools of another source, stay as they are.
	Set func(policy string, conf map[string]string, content string) map[string]string
}

const (
	// poolInterval is how often the file is read, as in Hadoop.
	poolInterval = 10 * time.Second
	// poolSettling is how long a file must be unchanged before it is applied: its author
	// may be in the middle of a change.
	poolSettling = 5 * time.Second
)

// poolFileState is the leader's record of the pool file.
type poolFileState struct {
	content   string // applied last
	appliedAt int64  // when that was, ms since the epoch; 0 for not yet
	pools     []string
	warnings  []string
	problems  []string // why the present content is not applied
}

// watchPoolFile reads the file regularly until ctx ends, with the lead.
func (m *Master) watchPoolFile(ctx context.Context, l *lead) {
	var r poolReader
	_ = syncutil.Poll(ctx, poolInterval, func(context.Context) (bool, error) { // only the end of ctx ends it
		if content, news, err := r.read(m.cfg.PoolFile, m.cfg.Now()); news {
			var pools, warnings []string
			if err == nil {
				pools, warnings, err = m.cfg.PoolFile.Parse(content)
			}
			m.postUnder(l, func() { m.poolFileChanged(string(content), pools, warnings, err) })
		}
		return false, nil
	})
}

// poolReader remembers the content of a file, so that it reports each change once.
//
// A file is read every poolInterval. Its author may write it in several steps, so a
// change is reported only when the file has settled:
//
//	read A (first)  ──► reported at once: the leader needs pools
//	read A          ──► nothing
//	read B          ──► nothing yet: it has just changed
//	read B again, or B is older than poolSettling ──► reported
type poolReader struct {
	started                bool
	lastRead, lastReported [sha256.Size]byte // hashes of the content that was read last and reported last
	lastError              string            // reported last, "" for none
}

// read reports whether the file has changed and settled: it is old enough, or was the
// same when it was read before. The first content is reported at once.
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

// poolFileChanged applies the content of the file, unless err says why it cannot be read.
// If any of it is invalid, none of it is applied and the content before it stays in force.
func (m *Master) poolFileChanged(content string, pools, warnings []string, err error) {
	p := &m.lead.poolFile
	if err == nil {
		_, err = m.cfg.Policy(m.view.Policy(), m.withPools(content, m.view.Policy(), m.policyConf()))
	}
	if err != nil {
		p.problems = strings.Split(err.Error(), "\n")
		m.cfg.Logger.Warn("pool file not applied", "file", m.cfg.PoolFile.Name, "error", err)
		return
	}
	*p = poolFileState{content: content, appliedAt: m.now(), pools: pools, warnings: warnings}
	for _, w := range warnings {
		m.cfg.Logger.Warn("pool file has a questionable setting", "warning", w)
	}
	m.applyPools()
	m.applyPoolFile()
}

// applyPoolFile requests that the policy gets the pools of the file, unless it has them.
//
// A policy that another master or an earlier leader has given the same content needs no
// command: leaders change often, and the file rarely.
func (m *Master) applyPoolFile() {
	name, conf := m.view.Policy(), m.policyConf()
	full := m.withPools(m.lead.poolFile.content, name, conf)
	if maps.Equal(full, conf) {
		return
	}
	m.cfg.Logger.Info("pool file applied", "file", m.cfg.PoolFile.Name, "pools", len(m.lead.poolFile.pools))
	m.request(setPolicy(name, full))
}

// withPools adds the pools of the file, if there is one, to a policy's settings.
func (m *Master) withPools(content, policy string, conf map[string]string) map[string]string {
	if m.cfg.PoolFile == nil || content == "" {
		return conf
	}
	return m.cfg.PoolFile.Set(policy, conf, content)
}

// applyPools requests the pools of the configuration and of the file, or, until the file
// is read, of the cluster. Jobs in other pools stay there.
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

// setPolicy returns the command that sets a policy. Its settings are sorted, so that
// equal settings are equal commands.
func setPolicy(name string, conf map[string]string) cluster.SetPolicy {
	c := cluster.SetPolicy{Name: name}
	for _, setting := range slices.Sorted(maps.Keys(conf)) {
		c.Conf = append(c.Conf, cluster.Setting{Name: setting, Value: conf[setting]})
	}
	return c
}

// SetPolicy replaces the scheduling policy and its settings. The policy is made here
// only to check the settings; each leader makes its own from the settings in the state.
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

// Policy describes the scheduling policy, its settings and the pool file that this
// master watches.
func (m *Master) Policy(ctx context.Context) (*wire.GetPolicyResponse, error) {
	return query(ctx, m, func() (*wire.GetPolicyResponse, error) {
		out := &wire.GetPolicyResponse{Name: m.view.Policy(), Conf: m.policyConf()}
		if m.cfg.PoolFile != nil {
			p := m.lead.poolFile
			out.Allocations = &wire.AllocationFile{Name: m.cfg.PoolFile.Name, AppliedTime: p.appliedAt, Problems: p.problems, Warnings: p.warnings}
		}
		return out, nil
	})
}
