package seqfile

import (
	"testing"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/format"
)

func benchmarkEach(b *testing.B, run func(b *testing.B, o Options, records []record)) {
	records := someRecords(20_000, 200)
	for c := None; c <= Block; c++ {
		b.Run(c.String(), func(b *testing.B) {
			run(b, Options{Header: textHeader(c)}, records)
		})
	}
}

func BenchmarkRead(b *testing.B) {
	benchmarkEach(b, func(b *testing.B, o Options, records []record) {
		in := store(b, write(b, o, records))
		in.ReadAhead = 0
		b.SetBytes(plainBytes(records))
		b.ReportAllocs()
		for b.Loop() {
			readAll(b, in)
		}
	})
}

func readAll(b *testing.B, in format.Open) {
	in.Range = dag.Range{End: whole().End}
	r, err := Open(b.Context(), in)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	for r.Next() {
	}
	if r.Err() != nil {
		b.Fatal(r.Err())
	}
}

func BenchmarkWrite(b *testing.B) {
	benchmarkEach(b, func(b *testing.B, o Options, records []record) {
		b.SetBytes(plainBytes(records))
		b.ReportAllocs()
		for b.Loop() {
			write(b, o, records)
		}
	})
}

func plainBytes(records []record) (n int64) {
	for _, r := range records {
		n += int64(len(r.key) + len(r.value))
	}
	return n
}
