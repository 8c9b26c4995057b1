package jobmaster

import (
	"slices"
	"strings"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/wire"
)

// poolWish is the pool that a job is to be put into.
type poolWish struct {
	name     string
	optional bool // when there is no such pool, the default one will do
}

// poolNameProperty names the property.
const poolNameProperty = "mapred.fairscheduler.poolnameproperty"

// wishOf is the pool that a job names, else that of a property that the
// configuration names: of the user, of the user's group, or any other. A pool
// that a property names need not exist: not every user has one.
func wishOf(spec *wire.JobSpec) poolWish {
	c, err := conf.FromMap(spec.Properties)
	if err != nil {
		return poolWish{} // a fault of the specification, which is told elsewhere
	}
	if property := c.String(poolNameProperty); property != "" && !c.IsSet(conf.JobQueue) {
		return poolWish{name: strings.TrimSpace(valueFor(c, spec, property)), optional: true}
	}
	return poolWish{name: c.String(conf.JobQueue)}
}

// valueFor is the value of a property as far as pools go by it.
func valueFor(c *conf.Conf, spec *wire.JobSpec, property string) string {
	switch property {
	case "user.name", "mapreduce.job.user.name":
		return spec.User
	case "group.name":
		return spec.Group
	}
	return c.String(property)
}

// among is the pool for the job: the one that is wished for, where it is there or
// has to be.
func (w poolWish) among(pools []string) string {
	if w.optional && !slices.Contains(pools, w.name) {
		return cluster.DefaultPool
	}
	return w.name
}
