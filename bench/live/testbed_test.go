package live

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/bench/paper"
	"github.com/hammr/hammr/internal/conf/hostfile"
	"github.com/hammr/hammr/internal/testing/must"
)

// testbedOf returns the testbed of a hostfile.
func testbedOf(t *testing.T, text string) *Testbed {
	t.Helper()
	f, err := hostfile.Parse("hosts", []byte(text))
	must.Do(t, err)
	b := new(Testbed)
	b.Config.File = f
	return b
}

// TestLayout checks which daemons an experiment has on which machines, and that what the hostfile says
// of roles does not count.
func TestLayout(t *testing.T) {
	b := testbedOf(t, "a roles=tasknode\nb dir=/data port=9000\nc\nd\n* masters=3 tasknode.rack=/r\n")
	f, err := b.layout(Config{Tasknodes: 2, MapSlots: 4, Expiry: 5 * time.Second, Pools: []string{"low"}})
	must.Do(t, err)
	var got []string
	for _, m := range f.Machines {
		got = append(got, m.Host+" "+m.Options[hostfile.Roles]+" "+m.Options[hostfile.Dir]+" "+m.Options["tasknode.http"])
	}
	want := "a jobmaster /var/tmp/hammr-experiment-{host} ; b tasknode /data/experiment :9011; c tasknode /var/tmp/hammr-experiment-{host} :7081"
	if strings.Join(got, "; ") != want {
		t.Errorf("machines %s\nwant %s", strings.Join(got, "; "), want)
	}
	for name, value := range map[string]string{
		"jobmaster.expiry": "5000ms", "tasknode.heartbeat": "1000ms", "jobmaster.pools": "low", "tasknode.map-slots": "4", "tasknode.reduce-slots": "1",
		"tasknode.rack": "/r", "hdfs": "true", "masters": "",
	} {
		if f.Cluster[name] != value {
			t.Errorf("%s is %q, want %q", name, f.Cluster[name], value)
		}
	}
	if b.Config.File.Machines[0].Options[hostfile.Roles] != "tasknode" || b.Config.File.Cluster["masters"] != "3" {
		t.Errorf("the hostfile of the user has changed: %+v", b.Config.File)
	}
	for _, c := range []Config{{Tasknodes: 4}, {Tasknodes: 2, Masters: 5}} {
		if _, err := b.layout(c); err == nil || !strings.Contains(err.Error(), "needs") {
			t.Errorf("%+v: error %v, want one that names the machines", c, err)
		}
	}
	yarn := Config{Tasknodes: 1, Yarn: true, Hadoop: map[string]string{"x": "y"}}
	if f, err := b.layout(yarn); err != nil || f.Cluster["yarn"] != "true" || f.Cluster["hadoop.x"] != "y" {
		t.Errorf("with YARN %+v, %v", f, err)
	}
	if _, err := testbedOf(t, "a\n* staging=file:///nfs\n").layout(yarn); !errors.As(err, new(*paper.LeftOut)) {
		t.Errorf("YARN without an HDFS: %v", err)
	}
	one, err := testbedOf(t, "a\n* staging=file:///nfs\n").layout(Config{Tasknodes: 1})
	must.Do(t, err)
	if len(one.Machines) != 1 || one.Machines[0].Options[hostfile.Roles] != "jobmaster,tasknode" || one.Cluster["hdfs"] != "" {
		t.Errorf("one machine: %+v", one)
	}
}

// TestScaleFollowsTheTestbed checks that an experiment has the paper's size where the machines suffice, and
// else the smallest divisor, and that a smaller one is refused with the one that fits.
func TestScaleFollowsTheTestbed(t *testing.T) {
	s := &Selection{Paper: "hfsp", Options: paper.Options{Runs: 1, Seed: 1}}
	var fig7 *paper.Experiment
	for _, e := range s.all() {
		if e.ID == "fig7" {
			fig7 = &e
		}
	}
	if fig7 == nil || fig7.Machines() != 4 {
		t.Fatalf("fig7 is %+v", fig7)
	}
	five, three := testbedOf(t, "a\nb\nc\nd\ne\n"), testbedOf(t, "a\nb\nc\n")
	if scale, whyNot := five.scaleOf("hfsp", fig7); whyNot != "" || scale.Machines != 1 || scale.Speedup != 1 || scale.Divisor != 1 {
		t.Errorf("on five machines %+v, %s", scale, whyNot)
	}
	if scale, whyNot := three.scaleOf("hfsp", fig7); whyNot != "" || scale.Machines != 2 {
		t.Errorf("on three machines %+v, %s", scale, whyNot)
	}
	three.Divisor = 1
	if _, whyNot := three.scaleOf("hfsp", fig7); !strings.Contains(whyNot, "--scale 2 fits") {
		t.Errorf("too large: %q", whyNot)
	}
}

// TestLinkIsMeasured measures the loopback device.
func TestLinkIsMeasured(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	address := l.Addr().String()
	must.Do(t, l.Close())
	served := make(chan error, 1)
	go func() { served <- ServeLink(t.Context(), address) }()
	link, err := MeasureLink(t.Context(), address)
	must.Do(t, err)
	must.Do(t, <-served)
	if link.Rate <= 0 || link.RTT < 0 {
		t.Errorf("%+v", link)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := ServeLink(ctx, address); err == nil {
		t.Error("nobody asked, and no error")
	}
}
