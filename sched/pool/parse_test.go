package pool

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/testing/must"
)

func parse(t *testing.T, text string) *Allocations {
	t.Helper()
	a, err := Parse("fair-scheduler.xml", []byte(text))
	must.Do(t, err)
	return a
}

const old = `<?xml version="1.0"?>
<!-- as of Hadoop 1 -->
<allocations>
  <pool name="ads">
    <minMaps>20</minMaps>
    <minReduces> 5 </minReduces>
    <maxMaps>100</maxMaps>
    <maxReduces>50</maxReduces>
    <maxRunningJobs>5</maxRunningJobs>
    <weight>2.5</weight>
    <minSharePreemptionTimeout>30</minSharePreemptionTimeout>
    <schedulingMode>FIFO</schedulingMode>
  </pool>
  <pool name="john.doe"/>
  <user name="amy"><maxRunningJobs>3</maxRunningJobs></user>
  <user name="bob"/>
  <userMaxJobsDefault>6</userMaxJobsDefault>
  <poolMaxJobsDefault>7</poolMaxJobsDefault>
  <defaultMinSharePreemptionTimeout>60</defaultMinSharePreemptionTimeout>
  <fairSharePreemptionTimeout>0.5</fairSharePreemptionTimeout>
  <defaultPoolSchedulingMode>fair</defaultPoolSchedulingMode>
</allocations>`

const yarn = `<allocations>
  <queue name="root">
    <maxResources>90 map, 30 reduce</maxResources>
    <queue name="research" type="parent">
      <weight>3</weight>
      <schedulingPolicy>drf</schedulingPolicy>
      <fairSharePreemptionTimeout>10</fairSharePreemptionTimeout>
      <fairSharePreemptionThreshold>0.8</fairSharePreemptionThreshold>
      <queue name="nightly">
        <minResources>2048 mb, 8 vcores</minResources>
        <maxRunningApps>0</maxRunningApps>
      </queue>
      <queue name="adhoc"><schedulingPolicy>fair</schedulingPolicy></queue>
    </queue>
  </queue>
  <queue name="prod"><maxResources>vcores=9, memory-mb=77</maxResources></queue>
  <queueMaxAppsDefault>12</queueMaxAppsDefault>
  <userMaxAppsDefault>4</userMaxAppsDefault>
  <defaultQueueSchedulingPolicy>hfsp</defaultQueueSchedulingPolicy>
  <defaultFairSharePreemptionThreshold>0.6</defaultFairSharePreemptionThreshold>
  <defaultFairSharePreemptionTimeout>99</defaultFairSharePreemptionTimeout>
</allocations>`

// show formats a pool in one line.
func show(p *Pool) string {
	limit := func(n int) string {
		if n == Unlimited {
			return "∞"
		}
		return fmt.Sprint(n)
	}
	after := func(ms int64) string {
		if ms == Never {
			return "∞"
		}
		return fmt.Sprint(ms)
	}
	return fmt.Sprintf("%s: w%v %d-%s maps %d-%s reduces, %s jobs, %s, %s/%s at %v", p.Name, p.Weight, p.Min[0], limit(p.Max[0]),
		p.Min[1], limit(p.Max[1]), limit(p.MaxRunning), p.Order, after(p.MinTimeout), after(p.FairTimeout), p.Threshold)
}

func TestPools(t *testing.T) {
	for _, tt := range []struct{ file, pool, want string }{
		{old, "", "default: w1 0-∞ maps 0-∞ reduces, 7 jobs, fair, 60000/500 at 0.5"},
		{old, "ads", "ads: w2.5 20-100 maps 5-50 reduces, 5 jobs, fifo, 30000/500 at 0.5"},
		{old, " root.ads ", "ads: w2.5 20-100 maps 5-50 reduces, 5 jobs, fifo, 30000/500 at 0.5"},
		{old, "john.doe", "john.doe: w1 0-∞ maps 0-∞ reduces, 7 jobs, fair, 60000/500 at 0.5"},
		{yarn, "root", "default: w1 0-∞ maps 0-∞ reduces, 12 jobs, hfsp, ∞/99000 at 0.6"},
		{yarn, "research", "research.default: w1 0-∞ maps 0-∞ reduces, 12 jobs, hfsp, ∞/10000 at 0.8"},
		{yarn, "root.research.nightly", "research.nightly: w1 8-∞ maps 8-∞ reduces, 0 jobs, hfsp, ∞/10000 at 0.8"},
		{yarn, "research.adhoc", "research.adhoc: w1 0-∞ maps 0-∞ reduces, 12 jobs, fair, ∞/10000 at 0.8"},
		{yarn, "research.new.one", "research.new.one: w1 0-∞ maps 0-∞ reduces, 12 jobs, hfsp, ∞/10000 at 0.8"},
		{yarn, "prod", "prod: w1 0-9 maps 0-9 reduces, 12 jobs, hfsp, ∞/99000 at 0.6"},
		{yarn, "prod.part", "prod.part: w1 0-∞ maps 0-∞ reduces, 12 jobs, hfsp, ∞/99000 at 0.6"},
		{"<allocations/>", "any", "any: w1 0-∞ maps 0-∞ reduces, ∞ jobs, fair, ∞/∞ at 0.5"},
	} {
		if got := show(parse(t, tt.file).Find(tt.pool)); got != tt.want {
			t.Errorf("pool %q is\n%s, want\n%s", tt.pool, got, tt.want)
		}
	}
}

func TestTree(t *testing.T) {
	a := parse(t, yarn)
	if got, want := show(a.Root), ": w1 0-90 maps 0-30 reduces, ∞ jobs, fair, ∞/99000 at 0.6"; got != want {
		t.Errorf("the root is %s, want %s", got, want)
	}
	if got, want := show(a.Find("research.adhoc").Parent), "research: w3 0-∞ maps 0-∞ reduces, 12 jobs, drf, ∞/10000 at 0.8"; got != want {
		t.Errorf("research is %s, want %s", got, want)
	}
	for name, parent := range map[string]string{"prod.part": "", "research.new.one": "research", "research": "research"} {
		if p := a.Find(name); p.Parent.Name != parent {
			t.Errorf("%s lies in %q, want %q", name, p.Parent.Name, parent)
		}
	}
	if got := a.LeafNames(); !slices.Equal(got, []string{"prod", "research.adhoc", "research.nightly"}) {
		t.Errorf("jobs may be in %q", got)
	}
}

func TestUsers(t *testing.T) {
	a := parse(t, old)
	if a.UserMaxRunning("amy") != 3 || a.UserMaxRunning("bob") != 6 || a.UserMaxRunning("eve") != 6 {
		t.Errorf("limits are %d, %d, %d", a.UserMaxRunning("amy"), a.UserMaxRunning("bob"), a.UserMaxRunning("eve"))
	}
	for text, want := range map[string]bool{
		"": false, "<pool name='a'/>": false, "<pool name='a'><maxRunningJobs>9</maxRunningJobs></pool>": true,
		"<userMaxJobsDefault>2</userMaxJobsDefault>": true, "<user name='u'><maxRunningJobs>2</maxRunningJobs></user>": true,
		"<poolMaxJobsDefault>2</poolMaxJobsDefault>": true,
	} {
		if got := parse(t, "<allocations>"+text+"</allocations>").LimitsRunningJobs(); got != want {
			t.Errorf("%q: limited is %v", text, got)
		}
	}
}

func TestProblems(t *testing.T) {
	for text, want := range map[string]string{
		"":                         `f.xml:1: no element; expected <allocations>`,
		"pools":                    `f.xml:1: no element; expected <allocations>`,
		"<allocations>\n<pool>":    `f.xml:2: XML syntax error on line 2: unexpected EOF; expected well-formed XML of pools`,
		"\n<configuration/>":       `f.xml:2: <configuration>; expected <allocations>`,
		"<allocations/>\n<other/>": `f.xml:2: a second outermost element; expected well-formed XML of pools`,
		strings.Repeat("<a>", 60):  `f.xml:1: elements nested more than 50 deep; expected well-formed XML of pools`,
	} {
		if _, err := Parse("f.xml", []byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q gives\n%v, want\n%s", text, err, want)
		}
	}
	if _, err := Parse("f.xml", make([]byte, maxBytes+1)); err == nil || !strings.Contains(err.Error(), "more than 4 MiB") {
		t.Errorf("a file that is too long gives %v", err)
	}
}

func TestAllProblemsAtOnce(t *testing.T) {
	_, err := Parse("f.xml", []byte(`<allocations>
<pool name="a"><weight>-1</weight></pool>
<pool name="a"/>
<pool/><pool name="root"/>
<queue name="b"><minResources>50% cpu</minResources>
  <maxResources>8 gpus</maxResources>
  <schedulingPolicy>fifo</schedulingPolicy>
  <queue name="c"><weight>NaN</weight><weight>1</weight></queue>
  <queue name="d.e"/>
</queue>
<user name="u"><maxRunningJobs>many</maxRunningJobs></user>
<user name="u"/>
<userMaxAppsDefault>-3</userMaxAppsDefault>
<fairSharePreemptionTimeout>soon</fairSharePreemptionTimeout>
<defaultFairSharePreemptionThreshold>0</defaultFairSharePreemptionThreshold>
<defaultPoolSchedulingMode>lifo</defaultPoolSchedulingMode>
</allocations>`))
	want := `f.xml:2: <weight> of pool "a" "-1"; expected a number of 0 or more
f.xml:3: pool "a" for the second time, after line 2; expected each pool once
f.xml:4: <pool> without a name; expected an attribute name="…"
f.xml:4: <pool> called "root"; expected another name, since root is the queue around all others
f.xml:5: <minResources> of pool "b" "50% cpu"; expected "N map, M reduce" or "N vcores", in whole numbers
f.xml:6: <maxResources> of pool "b" "8 gpus"; expected map, reduce or vcores as what is counted
f.xml:7: fifo for pool "b", which has pools in it; expected fair or drf
f.xml:8: <weight> of pool "c" "NaN"; expected a number of 0 or more
f.xml:8: <weight> of pool "c" beside that of line 8; expected one of them
f.xml:9: queue "d.e"; expected queues within queues instead of dots
f.xml:11: <maxRunningJobs> of user "u" "many"; expected a whole number of 0 or more
f.xml:12: user "u" for the second time; expected each user once
f.xml:13: <userMaxAppsDefault> "-3"; expected a whole number of 0 or more
f.xml:14: <fairSharePreemptionTimeout> "soon"; expected seconds, 0 or more
f.xml:15: <defaultFairSharePreemptionThreshold> "0"; expected a number above 0, at most 1
f.xml:16: <defaultPoolSchedulingMode> "lifo"; expected one of [fair fifo hfsp drf]`
	if err == nil || err.Error() != want {
		t.Errorf("faults are\n%v, want\n%s", err, want)
	}
	var problem Problem
	if !errors.As(err, &problem) || problem.Line != 2 {
		t.Errorf("the first fault is %+v", problem)
	}
}

func TestWarnings(t *testing.T) {
	a, err := Parse("f.xml", []byte(`<allocations>
<pool name="a"><minMaps>5</minMaps><maxMaps>3</maxMaps><colour>red</colour></pool>
<queue name="b"><minResources>100 mb, 1 vcores</minResources></queue>
<queuePlacementPolicy><rule name="user"/></queuePlacementPolicy>
</allocations>`))
	must.Do(t, err)
	var got []string
	for _, w := range a.Warnings {
		got = append(got, fmt.Sprintf("%d: %s", w.Line, w.Found))
	}
	want := []string{
		`2: <colour> of pool "a", which is unknown and ignored`,
		`2: a minimum of 5 maps in pool "a", whose maximum is 3`,
		`3: <minResources> of pool "b" "100 mb, 1 vcores", of which memory is ignored`,
		`4: <queuePlacementPolicy>, which is unknown and ignored`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("warnings are\n%q, want\n%q", got, want)
	}
	if a.Find("a").Min[0] != 5 || a.Find("b").Min != (cluster.Slots{1, 1}) {
		t.Errorf("pools are %s and %s", show(a.Find("a")), show(a.Find("b")))
	}
}

// FuzzParse checks the documented limits of Pool for every input that parses without errors.
func FuzzParse(f *testing.F) {
	for _, text := range []string{old, yarn, "<allocations/>", "", "<allocations><pool name='a'><weight>1e999</weight></pool></allocations>"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := Parse("f.xml", data)
		if err != nil {
			var problems Problems
			if !errors.As(err, &problems) || len(problems) == 0 {
				t.Fatalf("error %v holds no faults", err)
			}
			return
		}
		checkPool(t, a.Root, nil)
		for _, name := range append(a.LeafNames(), "", "root", "a.b.c") {
			p := a.Find(name)
			checkPool(t, p, p.Parent)
			if len(p.Children) > 0 || a.Find(p.Name).Name != p.Name {
				t.Fatalf("%q finds %s", name, show(p))
			}
		}
	})
}

func checkPool(t *testing.T, p, parent *Pool) {
	sound := p.Parent == parent && p.Weight >= 0 && min(p.Min[0], p.Min[1], p.Max[0], p.Max[1], p.MaxRunning) >= 0 &&
		min(p.MinTimeout, p.FairTimeout) >= 0 && p.Threshold > 0 && p.Threshold <= 1
	if !sound || len(p.Children) > 0 && !p.Order.ofPools() {
		t.Fatalf("unsound pool %s", show(p))
	}
	for _, child := range p.Children {
		checkPool(t, child, p)
	}
}
