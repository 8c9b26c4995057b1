package jobmaster

import (
	"context"
	"crypto/sha256"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/kit/syncutil"
)

// PoolFile is a file of pools. The leader watches it and applies its content to the policy.
// The change is made through the log, and therefore on all masters.
type PoolFile struct {
	// Name is the name of the file; there is no default.
	Name string
	// Read returns the content of the file and the time of its last change. It is called
	// outside the loop.
	Read func() (content []byte, changed time.Time, err error)
	// Parse returns the names of the pools that jobs may name. It also returns warnings
	// about settings that are ignored or probably wrong. Its error lists all problems, one
	// on each line.
	Parse func(content []byte) (pools, warnings []string, err error)
	// Set returns a copy of a policy's settings that includes the content. If a policy has
	// no pools, or has pools from another source, its settings stay unchanged.
	Set func(policy string, conf map[string]string, content string) map[string]string
}

const (
	// poolInterval is how often the file is read, as in Hadoop.
	poolInterval = 10 * time.Second
	// poolSettling is how long a file must be unchanged before it is applied, because its
	// author may not have finished the change.
	poolSettling = 5 * time.Second
)

// poolFileState is what the leader knows about the pool file.
type poolFileState struct {
	content   string // content that was applied last
	appliedAt int64  // when content was applied, ms since the epoch; 0 if it was not
	pools     []string
	warnings  []string
	problems  []string // why the present content is not applied
}

// watchPoolFile reads a file regularly until ctx ends, with the lead or when another file
// replaces it.
func (m *Master) watchPoolFile(ctx context.Context, l *lead, file *PoolFile) {
	var r poolReader
	_ = syncutil.Poll(ctx, poolInterval, func(context.Context) (bool, error) { // fails only at the end of ctx
		if content, news, err := r.read(file, m.cfg.Now()); news {
			var pools, warnings []string
			if err == nil {
				pools, warnings, err = file.Parse(content)
			}
			m.postUnder(l, func() {
				if file == m.settings().PoolFile {
					m.poolFileChanged(string(content), pools, warnings, err)
				}
			})
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
	lastError              string            // the error that was reported last, "" for none
}

// read reports whether the file has changed and settled. A file has settled if its last
// change is old enough, or if the previous read returned the same content. The first content
// is reported at once.
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

// poolFileChanged applies the content of the file, unless err says why the file cannot be
// read. If any part is invalid, no part is applied, and the previous content stays in force.
func (m *Master) poolFileChanged(content string, pools, warnings []string, err error) {
	p := &m.lead.poolFile
	if err == nil {
		_, err = m.cfg.Policy(m.view.Policy(), m.withPools(content, m.view.Policy(), m.policyConf()))
	}
	if err != nil {
		p.problems = strings.Split(err.Error(), "\n")
		m.cfg.Logger.Warn("pool file not applied", "file", m.settings().PoolFile.Name, "error", err)
		return
	}
	*p = poolFileState{content: content, appliedAt: m.now(), pools: pools, warnings: warnings}
	for _, w := range warnings {
		m.cfg.Logger.Warn("pool file has a questionable setting", "warning", w)
	}
	m.applyPools()
	m.applyPoolFile()
}

// applyPoolFile requests that the policy gets the pools of the file, unless the policy has
// them.
//
// No command is needed if another master or an earlier leader has given the policy the same
// content. This is common: leaders change often, and the file changes rarely.
func (m *Master) applyPoolFile() {
	name, conf := m.view.Policy(), m.policyConf()
	full := m.withPools(m.lead.poolFile.content, name, conf)
	if maps.Equal(full, conf) {
		return
	}
	m.cfg.Logger.Info("pool file applied", "file", m.settings().PoolFile.Name, "pools", len(m.lead.poolFile.pools))
	m.request(setPolicy(name, full))
}

// withPools returns a policy's settings with the pools of the file, if there is a file.
func (m *Master) withPools(content, policy string, conf map[string]string) map[string]string {
	file := m.settings().PoolFile
	if file == nil || content == "" {
		return conf
	}
	return file.Set(policy, conf, content)
}

// applyPools requests the pools of the configuration and of the file. Until the file is
// read, the pools of the cluster replace those of the file. Jobs in other pools stay there.
func (m *Master) applyPools() {
	file := m.settings().PoolFile
	names := slices.Concat(m.cfg.Pools, m.lead.poolFile.pools)
	if file != nil && m.lead.poolFile.appliedAt == 0 {
		names = append(names, m.lead.pools...)
	}
	if len(m.cfg.Pools) == 0 && file == nil {
		return
	}
	names = append(names, cluster.DefaultPool)
	slices.Sort(names)
	if names = slices.Compact(names); !slices.Equal(names, m.lead.pools) {
		m.lead.pools = names
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

// Policy describes the scheduling policy, its settings and the pool file that this
// master watches.
func (m *Master) Policy(ctx context.Context) (apidoc.Policy, error) {
	return query(ctx, m, func() (apidoc.Policy, error) {
		out := apidoc.Policy{Policy: m.view.Policy(), Conf: m.policyConf(), Fingerprint: m.policyFingerprint(), LastChange: m.lastPolicyChange(), Problem: m.policyProblem}
		if file := m.settings().PoolFile; file != nil {
			p := m.lead.poolFile
			out.Allocations = &apidoc.AllocationFile{File: file.Name, Taken: p.appliedAt, Problems: p.problems, Warnings: p.warnings}
		}
		return out, nil
	})
}
