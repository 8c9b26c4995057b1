package tasknode

import (
	"fmt"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
)

// BenchmarkProgressOfAMachine runs 16 attempts of a minute for 10 s, each of which reports 40
// counters 4 times a second. It reports the bytes that a master gets from 1,000 such
// machines, and the time that it needs to decode them.
func BenchmarkProgressOfAMachine(b *testing.B) {
	const machines, seconds = 1000, 10
	for _, followed := range []bool{false, true} {
		b.Run(fmt.Sprintf("followed=%v", followed), func(b *testing.B) {
			messages := progressMessages(seconds, followed)
			bytes := 0
			for _, m := range messages {
				bytes += len(m)
			}
			for b.Loop() {
				for _, m := range messages {
					must.Do(b, proto.Unmarshal(m, new(wire.Report)))
				}
			}
			b.ReportMetric(float64(bytes)*machines/seconds/1e6, "MB/s-at-master")
			b.ReportMetric(float64(b.Elapsed().Seconds())/float64(b.N)*machines/seconds*100, "%-of-a-core-to-decode")
		})
	}
}

// progressMessages returns what a machine sends. The job is followed by requests once in 10 s,
// as a master with 16,000 attempts does.
func progressMessages(seconds int, followed bool) (messages [][]byte) {
	var p PendingProgress
	start := time.Now()
	for tick := range 4 * seconds {
		now := start.Add(time.Duration(tick) * 250 * time.Millisecond)
		for i := range 16 {
			l := &taskproc.Progress{Fraction: float64(tick) / 240, Phase: "map", Mark: uint64(tick), MemoryBytes: 1 << 28}
			for c := range 40 {
				l.Counters = append(l.Counters, &taskproc.Counter{Group: "org.apache.hadoop.mapreduce.TaskCounter", Name: fmt.Sprint("COUNTER_", c), Value: int64(tick) << 20})
			}
			p.Add(fmt.Sprintf("attempt_1700000000000_0001_m_%06d_0", i), l, 10*time.Minute, 500*time.Millisecond)
		}
		if followed && tick == 20 {
			for id := range p.attempts {
				p.RequestCounters(id)
			}
		}
		if tick%2 == 1 {
			if reports := p.Flush(now, tick%4 == 3); len(reports) > 0 {
				m, err := proto.Marshal(&wire.Report{Report: &wire.Report_Batch_{Batch: &wire.Report_Batch{Reports: reports}}})
				if err != nil {
					panic(err)
				}
				messages = append(messages, m)
			}
		}
	}
	return messages
}
