package task

import (
	"testing"

	"github.com/hammr/hammr/dag"
)

// BenchmarkStream sends records of 100 bytes along one stream: through the
// memory of a process, and over the loopback by way of the reader's server.
func BenchmarkStream(b *testing.B) {
	const records = 2_000_000
	for name, machines := range map[string]int{"memory": 0, "http": 1} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(100 * records)
			key, value := make([]byte, 10), make([]byte, 90)
			for b.Loop() {
				r := newRig(b, oneEdge(1, 1, dag.ChannelTCP, dag.OneToOne), programFunc(func(n *NodeRun) error {
					if len(n.Outputs()) > 0 {
						w, err := n.SendStream(n.Outputs()[0], 0)
						if err != nil {
							return err
						}
						for range records {
							if err := w.Write(key, value); err != nil {
								return err
							}
						}
						return w.Close()
					}
					in, err := n.ReceiveStreams(n.Inputs()[0])
					if err != nil {
						return err
					}
					got := 0
					for in.Next() {
						got++
					}
					if got != records {
						b.Errorf("%d records", got)
					}
					return in.Err()
				}))
				if machines > 0 {
					r.network(machines)
				}
				r.run()
				r.allDone()
			}
		})
	}
}
