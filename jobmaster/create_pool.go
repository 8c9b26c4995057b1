package jobmaster

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/internal/kit/pattern"
)

// Values of Config.CreatePools.
const (
	CreateUserPools = "user" // a pool with the name of the job's user
	CreateAnyPool   = "any"  // a pool with any name
	CreateNoPools   = "none" // only declared pools take jobs
)

// maxCreatedPools bounds the pools that have jobs and are not declared. Policies compute a share
// for each. Submissions that are on their way through the log may exceed it.
const maxCreatedPools = 1000

// creatable matches the names of pools that are created. A name is also a part of the paths of pages.
var creatable = pattern.New(`^[A-Za-z0-9_-][A-Za-z0-9._-]*$`)

// takesJobs reports whether a job of a user may be in a pool: the pool is declared, or its name is
// one that Config.CreatePools allows.
func (m *Master) takesJobs(pool, user string) bool {
	mode := m.cfg.CreatePools
	named := mode == CreateAnyPool || mode == CreateUserPools && pool == user
	return m.declared(pool) || named && creatable().MatchString(pool)
}

// declared reports whether a pool takes jobs of all users.
func (m *Master) declared(pool string) bool { return slices.Contains(m.lead.pools, pool) }

// canCreate reports whether a pool has jobs, or may have its first one.
func (m *Master) canCreate(pool string) bool {
	created := make(map[string]bool)
	for j := range m.view.Jobs() {
		if j.State.Final() {
			continue
		}
		if j.Spec.Pool == pool {
			return true
		}
		if !m.declared(j.Spec.Pool) {
			created[j.Spec.Pool] = true
		}
	}
	return len(created) < maxCreatedPools
}

// poolFor returns the pool for a submission. If it may be in no pool, that is the pool that it
// names, which the state refuses.
func (m *Master) poolFor(s *submission) string {
	name := s.pool.name
	takes := m.takesJobs(name, s.spec.User) && (m.declared(name) || m.canCreate(name))
	if m.cfg.OnePool || s.pool.optional && !takes {
		return cluster.DefaultPool
	}
	return name
}

// requestIn requests a command, which puts a job of a user into a pool unless pool is "". The state
// refuses pools that it does not list. A pool that is created is listed for this command only, within
// one batch of the log: it exists as long as it has jobs, and nothing has to remove it.
func (m *Master) requestIn(pool, user string, r control.Requested) {
	create := !m.declared(pool) && m.takesJobs(pool, user) && m.canCreate(pool)
	if create {
		m.request(cluster.SetPools{Names: append(slices.Clone(m.lead.pools), pool)})
	}
	m.events = append(m.events, r)
	if create {
		m.request(cluster.SetPools{Names: m.lead.pools})
	}
}
