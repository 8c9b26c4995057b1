package hostfile

import (
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

const goodDaemons = `# a cluster
jobmaster m1 a1:7080 root@a1 systemctl start hammr-jobmaster
tasknode n1 a2:7081 root@a2
tasknode n2 [::1]:7081 # inside only
`

func TestParseDaemons(t *testing.T) {
	want := []Daemon{
		{"jobmaster", "m1", "a1:7080", "root@a1", "systemctl start hammr-jobmaster"},
		{"tasknode", "n1", "a2:7081", "root@a2", ""}, {"tasknode", "n2", "[::1]:7081", "", ""},
	}
	f, err := Parse("hosts", []byte(goodDaemons))
	if err != nil || !reflect.DeepEqual(f.Daemons, want) || f.Machines != nil {
		t.Errorf("%v: %+v", err, f)
	}
}

// TestBadDaemons checks that the error names each bad line.
func TestBadDaemons(t *testing.T) {
	_, err := Parse("hosts", []byte("tasknode n1\ntasknode n2 a\ntasknode n3 a:1\ntasknode n3 a:2\ntasknode n4 a:3 -oProxyCommand=x\n"))
	wantErrors(t, err,
		"hosts:1: expected 'jobmaster|tasknode NAME HOST:PORT", `hosts:2: "a": expected host:port`, "hosts:4: n3 appears twice, first on line 3", `hosts:5: "-oProxyCommand=x": expected what the shell connects to`, "hosts: no jobmaster; a cluster has at least one",
	)
	if _, err := Parse("hosts", make([]byte, maxBytes+1)); err == nil {
		t.Error("an oversized hostfile is accepted")
	}
}

func TestParseMachines(t *testing.T) {
	f, err := Parse("hosts", []byte(`
# two machines
ada@a1  slots=8 tasknode.rack=/r1   # the large one
10.0.0.2
jobmaster slots=1
*       masters=1 tasknode.rack=/r0 dir=/data/{host}
* staging=hdfs://nn:8020/staging
`))
	must.Do(t, err)
	if len(f.Machines) != 3 || f.Daemons != nil {
		t.Fatalf("%+v", f)
	}
	a1, a2, odd := f.Machines[0], f.Machines[1], f.Machines[2]
	if a1.Target != "ada@a1" || a1.Host != "a1" || a2.Target != "10.0.0.2" || a2.Host != "10.0.0.2" || odd.Host != "jobmaster" {
		t.Errorf("%+v", f.Machines)
	}
	for _, c := range []struct {
		m         Machine
		key, want string
	}{
		{a1, Slots, "8"}, {a2, Slots, ""}, {a2, Dir, "/data/{host}"}, {a1, Masters, "1"}, {a1, Staging, "hdfs://nn:8020/staging"},
	} {
		if got := f.Option(c.m, c.key); got != c.want {
			t.Errorf("%s of %s is %q, want %q", c.key, c.m.Host, got, c.want)
		}
	}
	if got := f.Settings(a1, Tasknode); !maps.Equal(got, map[string]string{"rack": "/r1"}) {
		t.Errorf("settings of a1: %v", got)
	}
	if got := f.Settings(a2, Tasknode); !maps.Equal(got, map[string]string{"rack": "/r0"}) {
		t.Errorf("settings of a2: %v", got)
	}
	if got := f.Settings(a2, Jobmaster); len(got) != 0 {
		t.Errorf("settings of a jobmaster: %v", got)
	}
}

// TestBadMachines checks that the error names each bad line.
func TestBadMachines(t *testing.T) {
	_, err := Parse("hosts", []byte(strings.TrimSpace(`
a1
ada@a1
-oProxyCommand=x
a2 slots=0 slots=2 many
a3 roles=king dir=data port=65530
a4 staging=hdfs://nn/x color=red
* id=m1 masters=2 staging=/x
* masters=3
* masters=5
a5 address=-x listen= id=m/1 yarn=true hadoop.x=y yarn-memory=1
@a6
"ada@a7
`)))
	wantErrors(t, err,
		"hosts:2: a1 appears twice, first on line 1", `hosts:3: "-oProxyCommand=x": expected HOST or USER@HOST`,
		"hosts:4: slots=0: expected a number from 1 to 10000\nslots is given twice\n\"many\": expected KEY=VALUE",
		"hosts:5: roles=king: expected jobmaster, tasknode", "dir=data: expected an absolute path", "port=65530: expected a number from 1 to 65502",
		"hosts:6: staging is an option of the whole cluster", `no option "color"; there are address, cluster-id, dir`,
		"hosts:7: id cannot be the same for all machines", "masters=2: expected 1, 3 or 5", "staging=/x: expected a full name",
		"hosts:9: masters is given twice", "address=-x: expected a host name", "listen=: expected an address", "yarn is an option of the whole cluster", "hadoop.x is an option of the whole cluster", "yarn-memory=1: expected a number from 512", "id=m/1: expected letters",
		`hosts:11: "@a6": expected HOST`, `hosts:12: "\"ada@a7": expected HOST or USER@HOST`,
	)
	for text, want := range map[string]string{
		"":                              "hosts: no machine in it",
		"# a1\n":                        "hosts: no machine in it",
		"* masters=1":                   "hosts: no machine in it",
		"a1\ntasknode n1 a:1":           "hosts: some lines are machines",
		"a1" + strings.Repeat(" ", 2e6): "a hostfile has at most",
	} {
		_, err := Parse("hosts", []byte(text))
		wantErrors(t, err, want)
	}
}

func wantErrors(t *testing.T, err error, texts ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range texts {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in the error:\n%v", want, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(goodDaemons))
	f.Add([]byte("ada@a1 slots=8 tasknode.rack=/r1\n* dir=/x\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := Parse("hosts", text)
		if err != nil {
			return
		}
		if (len(file.Machines) > 0) == (len(file.Daemons) > 0) {
			t.Errorf("%q is %+v", text, file)
		}
		for _, d := range file.Daemons {
			if d.Name == "" || d.Page == "" || d.Start != "" && d.Shell == "" {
				t.Errorf("%q has %+v", text, d)
			}
		}
		for _, m := range file.Machines {
			if m.Host == "" || m.Host[0] == '-' || m.Target[0] == '-' || strings.ContainsAny(m.Target, "'\" \n") && m.Host != m.Target {
				t.Errorf("%q has %+v", text, m)
			}
		}
	})
}
