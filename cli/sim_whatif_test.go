package cli

import (
	"os"
	"strings"
	"testing"
)

// pastJobs are histories of two jobs on one machine with two map slots and a
// reduce slot; the second job waited for the first.
const pastJobs = `{"type":"job","version":2,"job":{"jobId":"job_1_0001","name":"long","submitTime":"1000","finishTime":"21500","inputBytes":"4"}}
{"type":"task","task":{"id":"task_1_0001_m_000000","kind":"MAP","attempts":[{"node":"n1","state":"ATTEMPT_SUCCEEDED","startTime":"1100","finishTime":"11100"}]}}
{"type":"task","task":{"id":"task_1_0001_m_000001","kind":"MAP","attempts":[{"node":"n1","state":"ATTEMPT_SUCCEEDED","startTime":"1100","finishTime":"11100"}]}}
{"type":"task","task":{"id":"task_1_0001_m_000002","kind":"MAP","attempts":[{"node":"n1","state":"ATTEMPT_SUCCEEDED","startTime":"11200","finishTime":"21200"}]}}
{"type":"task","task":{"id":"task_1_0001_m_000003","kind":"MAP","attempts":[{"node":"n1","state":"ATTEMPT_SUCCEEDED","startTime":"11200","finishTime":"21200"}]}}
{"type":"end","tasks":4}
{"type":"job","version":2,"job":{"jobId":"job_1_0002","name":"short","submitTime":"2000","finishTime":"25000","inputBytes":"1"}}
{"type":"task","task":{"id":"task_1_0002_m_000000","kind":"MAP","attempts":[{"node":"n1","state":"ATTEMPT_SUCCEEDED","startTime":"21500","finishTime":"22500"}]}}
{"type":"task","task":{"id":"task_1_0002_r_000000","kind":"REDUCE","attempts":[{"node":"n1","state":"ATTEMPT_SUCCEEDED","startTime":"22500","finishTime":"24500"}]}}
{"type":"end","tasks":2}
`

func TestSimWhatif(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "past.jsonl", pastJobs)
	code, stdout, stderr := call(strings.Fields("sim whatif --history past.jsonl --policy fifo,fair --out table.csv")...)
	if code != exitDone || stderr != "" {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	wantText(t, "table", stdout, `past.jsonl: 2 jobs on 1 machines with 2 map and 1 reduce slots each

              JOB   NAME  RECORDED    fifo            fair         
       job_1_0001   long    20.5 s  20.0 s  -2.3 %  21.0 s   +2.6 %
       job_1_0002  short    23.0 s  22.0 s  -4.2 %   6.0 s  -73.8 %
             mean           21.8 s  21.0 s  -3.3 %  13.5 s  -37.8 %
  mean difference                            3.3 %           38.2 %
`)
	table, err := os.ReadFile("table.csv")
	if want := "policy,jobid,name,recorded_s,sojourn_s\nfifo,job_1_0001,long,20.500,20.020\n"; err != nil || !strings.HasPrefix(string(table), want) {
		t.Errorf("table.csv has %s, %v", table, err)
	}
	code, stdout, _ = call(strings.Fields("sim whatif --history past.jsonl --policy fifo --nodes 2")...)
	if code != exitDone || !strings.Contains(stdout, "2 jobs on 2 machines with 2 map and 1 reduce slots each") || !strings.Contains(stdout, "10.0 s") {
		t.Errorf("twice the machines: exit code %d\n%s", code, stdout)
	}
}

func TestSimWhatifRefuses(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	writeFile(t, "past.jsonl", pastJobs)
	writeFile(t, "nowhere.jsonl", strings.ReplaceAll(pastJobs, `"node":"n1",`, ""))
	writeFile(t, "taken.csv", "mine")
	for flags, want := range map[string]string{
		"--history nowhere.jsonl --policy fifo":               "nowhere.jsonl names no machines; expected --nodes, --map-slots and --reduce-slots",
		"--history nothing --policy fifo":                     "workload: stat $DIR/nothing: no such file or directory",
		"--history past.jsonl --policy fifo --nodes 0":        "--nodes 0: expected 1 to 1000000",
		"--history past.jsonl --policy fifo --reduce-slots 0": `job "job_1_0002" has 1 reduces, and there is no slot for them; expected --reduce-slots of 1 or more`,
		"--history past.jsonl --policy fifo --out taken.csv":  "taken.csv exists; remove it, or name another directory with --out",
		"--history past.jsonl --policy fifo --conf a=b":       "--policy: policy fifo: setting a: the policy has no settings",
	} {
		code, stdout, stderr := call(append([]string{"sim", "whatif"}, strings.Fields(flags)...)...)
		if code != exitUsage || stdout != "" {
			t.Errorf("%s: exit code %d\n%s", flags, code, stdout)
		}
		wantText(t, flags, strings.ReplaceAll(stderr, dir, "$DIR"), "hammr: "+want+"\n")
	}
	code, stdout, stderr := call(strings.Fields("sim whatif --history nowhere.jsonl --policy fifo --nodes 1 --map-slots 2 --reduce-slots 1")...)
	if code != exitDone || !strings.Contains(stdout, "1 machines with 2 map and 1 reduce slots") {
		t.Errorf("with the cluster given by flags: exit code %d\n%s%s", code, stdout, stderr)
	}
}
