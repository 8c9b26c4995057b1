package pool

import (
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/testing/must"
)

func TestRevise(t *testing.T) {
	a, err := Parse("f", []byte(`<allocations><queue name="x"><minResources>3 map</minResources><queue name="y"/></queue><user name="amy"><maxRunningJobs>2</maxRunningJobs></user></allocations>`))
	must.Do(t, err)
	b := a.Revise(func(p *Pool) { p.Min, p.Threshold = cluster.Slots{}, .9 })
	if x := b.Find("x.y").Parent; x != b.Find("x.new").Parent || x.Min[0] != 0 || x.Parent != b.Root || x.Children[0] != b.Find("x.y") {
		t.Errorf("the tree is another: %+v", x)
	}
	if p := b.Find("new"); p.Threshold != .9 || b.UserMaxRunning("amy") != 2 {
		t.Errorf("a pool without a description is %+v", p)
	}
	if x := a.Find("x.y").Parent; x.Min[0] != 3 || x.Threshold != .5 || x.Parent != a.Root {
		t.Errorf("what was copied has changed: %+v", x)
	}
}
