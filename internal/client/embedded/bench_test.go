package embedded

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/mem"
)

// BenchmarkEmptyMaps measures the engine itself: jobs of maps that do nothing, and a
// reduce that waits for them.
func BenchmarkEmptyMaps(b *testing.B) {
	for _, maps := range []int{1, 1000} {
		b.Run(fmt.Sprint(maps), func(b *testing.B) {
			r := &rig{fs: mem.New(mem.Options{})}
			engine, err := Start(b.Context(), Config{
				MapSlots: 2, ReduceSlots: 1, LocalDir: b.TempDir(), Serve: r.serve,
				Resolve: func(_ context.Context, name string) (storage.FS, string, error) {
					return r.fs, strings.TrimPrefix(name, "mem://"), nil
				},
			})
			if err != nil {
				b.Fatal(err)
			}
			defer engine.Close()
			jobs := 0
			b.ReportAllocs()
			for b.Loop() {
				s, splits := spec(maps, 1)
				s.OutputDir = fmt.Sprintf("mem:///out%d", jobs)
				jobs++
				id, err := engine.Client().Submit(b.Context(), s, splits)
				if err != nil {
					b.Fatal(err)
				}
				status, err := engine.Client().Watch(b.Context(), id, nil)
				if err != nil || status.State != wire.JobState_SUCCEEDED {
					b.Fatal(status, err)
				}
			}
			b.ReportMetric(float64(maps*jobs)/b.Elapsed().Seconds(), "maps/s")
		})
	}
}
