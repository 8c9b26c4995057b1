package sim

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hammr/hammr/preempt"
)

func TestTables(t *testing.T) {
	r := play(t, configOf(1, 2, 1), jobOf("a", 0, 3, 0, 1000), jobOf("b", 500, 1, 0, 1000))
	all := []PolicyRun{{"fifo", r}}
	var jobs, summary bytes.Buffer
	if err := WriteJobs(&jobs, all); err != nil {
		t.Fatal(err)
	}
	want := "policy,jobid,pool,submit_s,start_s,finish_s,sojourn_s,slowdown,maps,reduces,local_maps,preemptions,work_lost_s,work_conserved_s\n" +
		"fifo,a,default,0.000,0.000,2.000,2.000,1.3333,3,0,3,0,0.000,0.000\n" +
		"fifo,b,default,0.500,1.000,2.000,1.500,1.5000,1,0,1,0,0.000,0.000\n"
	if jobs.String() != want {
		t.Errorf("jobs.csv is\n%s", jobs.String())
	}
	if err := WriteSummary(&summary, all); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(strings.Fields(strings.Split(summary.String(), "\n")[1]), " "); got != "fifo 2 1.8 s 1.5 s 2.0 s 2.0 s 1.42 100.0 % 0 0 s 0 s 2 s" {
		t.Errorf("summary is\n%s\n%s", summary.String(), got)
	}
}

func TestTasks(t *testing.T) {
	cfg := configOf(1, 1, 1)
	r := perform(t, cfg, &script{how: preempt.Split, victim: "m_000000", at: 4000, until: 6000}, oneMapJob("a", 1))
	var tasks bytes.Buffer
	if err := WriteTasks(&tasks, []PolicyRun{{"fifo", r}}); err != nil {
		t.Fatal(err)
	}
	want := "policy,jobid,phase,task,attempt,machine,start_s,end_s,suspended_s,local,outcome,fraction\n" +
		"fifo,a,map,0,0,n0001,0.000,4.500,0.000,true,split,0.400000\n" +
		"fifo,a,map,1,0,n0001,6.000,12.000,0.000,true,finished,0.600000\n" +
		"fifo,a,reduce,0,0,n0001,6.000,23.000,0.000,false,finished,1.000000\n"
	if tasks.String() != want {
		t.Errorf("tasks.csv is\n%s\nwant\n%s", tasks.String(), want)
	}
}
