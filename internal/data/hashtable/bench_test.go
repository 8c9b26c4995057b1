package hashtable

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
)

// keyOf returns the i-th of a sequence of distinct keys. It uses the memory of buf.
func keyOf(buf []byte, i int) []byte {
	return binary.BigEndian.AppendUint64(buf[:0], uint64(i)*0x9e3779b97f4a7c15)
}

// BenchmarkLookup looks up random keys in a Table, in a Table with Ahead for batches of keys,
// and in a Go map.
func BenchmarkLookup(b *testing.B) {
	for _, keys := range []int{1 << 12, 1 << 21} {
		value := bytes.Repeat([]byte{'v'}, 24)
		build, goMap := NewBuilder(0), make(map[string][]byte)
		for i := range keys {
			build.AddKey(keyOf(nil, i))
			build.AddValue(value)
			goMap[string(keyOf(nil, i))] = bytes.Clone(value)
		}
		table, err := build.Table()
		if err != nil {
			b.Fatal(err)
		}
		random := rand.New(rand.NewPCG(1, 2))
		var batch [64][]byte
		run := func(name string, look func()) {
			b.Run(fmt.Sprintf("keys=%d/%s", keys, name), func(b *testing.B) {
				for n := 0; n < b.N; n += len(batch) {
					for i := range batch {
						batch[i] = keyOf(batch[i], random.IntN(keys))
					}
					look()
				}
			})
		}
		found := 0
		findAll := func() {
			for _, key := range batch {
				values := table.Find(key)
				value, _ := values.Next()
				found += int(value[0])
			}
		}
		ahead := table.Ahead()
		run("table", findAll)
		run("ahead", func() {
			for _, key := range batch {
				ahead.Announce(key)
			}
			ahead.Flush()
			findAll()
		})
		run("map", func() {
			for _, key := range batch {
				found += int(goMap[string(key)][0])
			}
		})
	}
}
