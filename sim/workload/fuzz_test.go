package workload

import (
	"bytes"
	"io"
	"testing"
)

// fuzzReader checks that what a reader returns is valid, within the limit and the same each
// time.
func fuzzReader(f *testing.F, read func(io.Reader, string, Options) (*Workload, error), seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	o := Options{MaxTasks: 1000, Model: Model{Sigma: 0.2}, SWIM: SWIM{TargetMachines: 100}}
	f.Fuzz(func(t *testing.T, data []byte) {
		w, err := read(bytes.NewReader(data), "fuzz", o)
		if (w == nil) == (err == nil) {
			t.Fatalf("workload %v with error %v", w, err)
		}
		if err != nil {
			if _, again := read(bytes.NewReader(data), "fuzz", o); again == nil || again.Error() != err.Error() {
				t.Fatalf("error %v and then %v", err, again)
			}
			return
		}
		if err := w.Validate(); err != nil {
			t.Fatalf("invalid result: %v", err)
		}
		if maps, reduces := w.Tasks(); maps+reduces > o.MaxTasks {
			t.Fatalf("%d tasks, %d are allowed", maps+reduces, o.MaxTasks)
		}
		if load, _ := w.OfferedLoad(4, 2); !(load >= 0) {
			t.Fatalf("offered load %v", load)
		}
	})
}

func FuzzCSV(f *testing.F) {
	fuzzReader(f, ReadCSV, csvHead+"a,0,1,0,0,0\nb,1.5,3,2,1000,50\n", csvHead+"a,NaN,1,0,-1,0\n", "\ufeff"+csvHead,
		"priority,weight,"+csvHead+"1,2,\"a\nb\",0,999999999,0,0,0\n")
}

func FuzzSWIM(f *testing.F) {
	fuzzReader(f, ReadSWIM, "job0\t9\t9\t1762\t0\t14347\njob1\t18\t9\t970\t609\t697\tpath\t\t\n",
		"a\t0\t0\t1152921504606846976\t1152921504606846976\t1152921504606846976\n", "a\t5\t0\t0\t0\t0\nb\t4\t0\t0\t0\t0\n")
}

func FuzzRumen(f *testing.F) {
	fuzzReader(f, ReadRumen, rumen1, "[{}]", `[{"jobID":{"value":"a"},"mapTasks":[{"attempts":[{"result":"SUCCESS","startTime":1,"finishTime":9007199254740992}]}]}]`)
}

func FuzzHistory(f *testing.F) {
	fuzzReader(f, ReadHistory, history1, report1+history1, `{"type":"end"}`, history1[:300])
}

func FuzzSpec(f *testing.F) {
	fuzzReader(f, readSpec, "jobs=100,arrival=exp:13s,maps=pareto:1.5:1:500,map=lognormal:60s:0.3,reduces=const:0",
		"fb2009", "arrival=burst:3:weibull:1s:0.5;jobs=3,maps=uniform:1:3,reduces=exp:2,reduce-bytes=exp:1g;jobs=2,maps=const:1", "seed=9,jobs=1e9")
}

// FuzzRead looks for inputs whose detected format makes a reader fail badly.
func FuzzRead(f *testing.F) {
	fuzzReader(f, Read, csvHead+"a,0,1,0,0,0\n", "job0\t9\t9\t1762\t0\t14347\n", history1, rumen1, "jobs=1,arrival=exp:13s,maps=const:2")
}
