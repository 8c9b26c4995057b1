package audit

import (
	"fmt"
	"testing"
	"time"
)

func TestRepeatedReadsHaveOneLineAMinute(t *testing.T) {
	var reads Reads
	now := time.Unix(1_763_700_000, 0)
	record := Record{Who: "ada", From: "10.1.2.3:50122", Call: "log", Object: "attempt_1_0001_m_000000_0"}
	for i, want := range []bool{true, false, false} {
		record.From = fmt.Sprintf("10.1.2.3:%d", 50122+i)
		if got := reads.First(&record, now.Add(time.Duration(i)*29*time.Second)); got != want {
			t.Errorf("read %d: %v", i, got)
		}
	}
	if !reads.First(&record, now.Add(time.Minute)) {
		t.Error("a read a minute later has no line")
	}
	for _, change := range []func(*Record){
		func(r *Record) { r.Who = "bob" }, func(r *Record) { r.From = "10.1.2.4:1" }, func(r *Record) { r.Object = "other" }, func(r *Record) { r.Call = "profile" },
	} {
		other := record
		if change(&other); !reads.First(&other, now.Add(time.Minute)) {
			t.Errorf("the first read of %+v has no line", other)
		}
	}
	for i := range 3 * maxReads {
		reads.First(&Record{Object: fmt.Sprint(i)}, now)
	}
	if n := len(reads.mu.seen); n > maxReads {
		t.Errorf("%d reads are remembered", n)
	}
}
