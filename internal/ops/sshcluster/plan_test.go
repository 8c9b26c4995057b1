package sshcluster

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/conf/hostfile"
	"github.com/hammr/hammr/internal/ops/launch"
	"github.com/hammr/hammr/internal/testing/must"
)

func parsePlan(t testing.TB, text string) *Plan {
	t.Helper()
	f, err := hostfile.Parse("hosts", []byte(text))
	must.Do(t, err)
	p, err := NewPlan(f)
	must.Do(t, err)
	return p
}

// rolesText describes the roles of a plan, as "a=m1+ b=+" for a jobmaster and a tasknode on a
// and a tasknode on b.
func rolesText(p *Plan) string {
	var words []string
	for _, h := range p.Hosts {
		word := h.Name + "=" + h.Jobmaster
		if h.Tasknode {
			word += "+"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func TestRoles(t *testing.T) {
	for text, want := range map[string]string{
		"a":                                      "a=m1+",
		"a\nb":                                   "a=m1+ b=+",
		"a\nb\nc":                                "a=m1+ b=m2+ c=m3+",
		"a\nb\nc\nd":                             "a=m1+ b=m2+ c=m3+ d=+",
		"* masters=1\na\nb\nc":                   "a=m1+ b=+ c=+",
		"* masters=5\na\nb\nc\nd\ne\nf":          "a=m1+ b=m2+ c=m3+ d=m4+ e=m5+ f=+",
		"a\nb\nc\nd\ne\nf\ng\nh":                 "a=m1 b=m2 c=m3 d=+ e=+ f=+ g=+ h=+",
		"a\nb\nc roles=jobmaster":                "a=+ b=+ c=m1",
		"a roles=tasknode\nb\nc\nd":              "a=+ b=m1+ c=m2+ d=m3+",
		"a roles=jobmaster,tasknode\nb":          "a=m1+ b=+",
		"a id=m2 roles=jobmaster\nb\n":           "a=m2 b=+",
		"* masters=3\na\nb id=m1\nc":             "a=m2+ b=m1+ c=m3+",
		"* roles=tasknode\na roles=jobmaster\nb": "a=m1 b=+",
	} {
		if got := rolesText(parsePlan(t, text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestInvalidPlans(t *testing.T) {
	for text, want := range map[string]string{
		"a\nb":                                 "no directory for programs that all machines see; give --staging",
		"a roles=jobmaster\nb roles=jobmaster": "2 of 2 machines have a jobmaster; a cluster has 1, 3 or 5",
		"a roles=jobmaster":                    "no machine has a tasknode",
		"* roles=tasknode\na\nb":               "0 of 2 machines have a jobmaster",
		"a id=x\nb id=x\nc id=y":               "a and b both have the jobmaster x",
		"* masters=3\na\nb":                    "2 of 2 machines have a jobmaster",
	} {
		if err := parsePlan(t, text).Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if err := parsePlan(t, "a").Validate(); err != nil {
		t.Errorf("one machine: %v", err)
	}
	f, err := hostfile.Parse("hosts", []byte("jobmaster m1 a:7080\ntasknode n1 a:7081"))
	must.Do(t, err)
	if _, err := NewPlan(f); err == nil || !strings.Contains(err.Error(), "lists the daemons") {
		t.Errorf("a list of daemons: %v", err)
	}
}

// TestCompletedHostfile checks that the same plan follows from its completed hostfile, for
// random hostfiles.
func TestCompletedHostfile(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	some := func(words ...string) string { return words[r.IntN(len(words))] }
	for range 300 {
		var b strings.Builder
		fmt.Fprintln(&b, "*", some("", "staging=hdfs://nn:1/x"), some("", "cluster-id=7"), some("", "dir=/d/{host}"), some("", "masters=3"), some("", "hadoop-conf=/etc/h"))
		for i := range 1 + r.IntN(10) {
			fmt.Fprintf(&b, "%s%s%d %s %s %s %s %s\n", some("", "ada@"), some("h", "127.0.1."), i, some("", "slots=3"), some("", "roles=tasknode", "roles=jobmaster", "roles=jobmaster,tasknode"),
				some("", "port=99"), some("", "address=10.0.0.1", "listen=0.0.0.0"), some("", "tasknode.rack=/r'1\"", "jobmaster.policy=fair"))
		}
		p := parsePlan(t, b.String())
		if again := parsePlan(t, p.Hostfile()); !reflect.DeepEqual(p, again) {
			t.Fatalf("from\n%s\ncomes\n%s\nwhich is %+v, want %+v", b.String(), p.Hostfile(), again, p)
		}
		for i := range p.Hosts {
			for _, role := range p.Hosts[i].Roles() {
				if _, err := p.settings(&p.Hosts[i], role); err != nil {
					t.Fatalf("from\n%s\n%v", b.String(), err)
				}
			}
		}
	}
}

func TestSettings(t *testing.T) {
	p := parsePlan(t, "* cluster-id=7 staging=hdfs://nn:1/x jobmaster.policy=fair tasknode.http=0.0.0.0:7081\nada@a slots=8 dir=/d\n127.0.1.2 slots=1 dir=/e port=7170\n")
	for _, c := range []struct {
		host       int
		role, name string
		want       string
	}{
		{0, "jobmaster", "masters", "m1=a:7070"}, {0, "jobmaster", "address", ":7070"}, {0, "jobmaster", "http", "127.0.0.1:7080"},
		{0, "jobmaster", "policy", "fair"}, {0, "jobmaster", "initial-policy", launch.InitialPolicy}, {0, "jobmaster", "staging", "hdfs://nn:1/x"}, {0, "jobmaster", "dir", "/d/jobmaster"},
		{0, "tasknode", "address", ":7071"}, {0, "tasknode", "advertise", "a:7071"}, {0, "tasknode", "map-slots", "8"}, {0, "tasknode", "reduce-slots", "4"},
		{0, "tasknode", "http", "0.0.0.0:7081"}, {0, "tasknode", "policy", ""},
		{1, "tasknode", "name", "127.0.1.2"}, {1, "tasknode", "address", "127.0.1.2:7171"}, {1, "tasknode", "masters", "a:7070"}, {1, "tasknode", "reduce-slots", "1"},
	} {
		s, err := p.settings(&p.Hosts[c.host], c.role)
		if err != nil || s[c.name] != c.want {
			t.Errorf("%s of the %s on %s: %q, %v; want %q", c.name, c.role, p.Hosts[c.host].Name, s[c.name], err, c.want)
		}
	}
	one := parsePlan(t, "a dir=/d")
	if s, _ := one.settings(&one.Hosts[0], "jobmaster"); s["staging"] != "file:///d/staging" {
		t.Errorf("staging of one machine: %q", s["staging"])
	}
	fifo := parsePlan(t, "a dir=/d jobmaster.initial-policy=fifo")
	if s, err := fifo.settings(&fifo.Hosts[0], "jobmaster"); err != nil || s["initial-policy"] != "fifo" {
		t.Errorf("policy of the hostfile: %q, %v", s["initial-policy"], err)
	}
	bad := parsePlan(t, "a dir=/d jobmaster.dir=/x")
	if _, err := bad.settings(&bad.Hosts[0], "jobmaster"); err == nil || !strings.Contains(err.Error(), "a: jobmaster.dir is not for hostfiles") {
		t.Errorf("jobmaster.dir: %v", err)
	}
}

// TestAdopt checks what a plan takes from machines that belong to a cluster.
func TestAdopt(t *testing.T) {
	old := parsePlan(t, "* cluster-id=7 staging=hdfs://nn:1/x\na port=7170\nb\nc\nd")
	member := func(dir string) *survey {
		return &survey{state: "cluster", clusterID: "7", dir: dir, etc: dir, cpus: 4, hostfile: old.Hostfile()}
	}
	fresh := &survey{state: "absent", dir: "/f", cpus: 2}

	p := parsePlan(t, "e\nd slots=9\nc\nb\na")
	dropped, err := p.adopt([]*survey{fresh, member("/d"), member("/d"), nil, member("/d")})
	if err != nil || len(dropped) > 0 {
		t.Fatal(dropped, err)
	}
	if got, want := rolesText(p), "e=+ d=+ c=m3+ b=m2+ a=m1+"; got != want {
		t.Errorf("roles %s, want %s", got, want)
	}
	if e, d, a := p.Hosts[0], p.Hosts[1], p.Hosts[4]; p.ClusterID != "7" || p.Staging != "hdfs://nn:1/x" || e.Dir != "/f" || e.Slots != 2 || d.Slots != 9 || d.Dir != "/d" || a.Port != 7170 {
		t.Errorf("%+v", p)
	}

	p = parsePlan(t, "a\nb\nc")
	if dropped, err := p.adopt([]*survey{member("/d"), member("/d"), member("/d")}); err != nil || !slices.Equal(dropped, []string{"d"}) {
		t.Errorf("without d: %q, %v", dropped, err)
	}
	p = parsePlan(t, "a\nd")
	if _, err := p.adopt([]*survey{member("/d"), member("/d")}); err == nil || !strings.Contains(err.Error(), "b: it has the jobmaster m2 of the cluster 7 and is not in the hostfile") {
		t.Errorf("without masters: %v", err)
	}
	other := member("/d")
	other.clusterID = "8"
	p = parsePlan(t, "a\nb")
	if _, err := p.adopt([]*survey{member("/d"), other}); err == nil || !strings.Contains(err.Error(), "7 has a; 8 has b; choose other directories") {
		t.Errorf("two clusters: %v", err)
	}
	p = parsePlan(t, "* cluster-id=9\na")
	if _, err := p.adopt([]*survey{member("/d")}); err == nil || !strings.Contains(err.Error(), "a: the directory is of the cluster 7, not of 9") {
		t.Errorf("another cluster: %v", err)
	}
}
