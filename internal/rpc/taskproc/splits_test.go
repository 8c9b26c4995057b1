package taskproc

import (
	"bytes"
	"errors"
	"testing"

	"github.com/cespare/xxhash/v2"
	"google.golang.org/protobuf/proto"

	"github.com/hammr/hammr/internal/testing/must"
)

func someSplits(n int) []*Split {
	splits := make([]*Split, n)
	for i := range splits {
		splits[i] = &Split{
			Hosts: []string{"a", "b"},
			Parts: []*Split_Part{{Path: "mem:///in", Start: int64(i) * 10, Length: 10, FileSize: 100}},
		}
	}
	return splits
}

func TestSplitsAreReadFromTheirFile(t *testing.T) {
	for _, n := range []int{0, 1, 300} {
		splits := someSplits(n)
		data, hash, err := EncodeSplits(splits)
		must.Do(t, err)
		got, err := DecodeSplits(bytes.NewReader(data), hash)
		if err != nil || len(got) != n {
			t.Fatalf("%d of %d splits, %v", len(got), n, err)
		}
		for i := range got {
			if !proto.Equal(got[i], splits[i]) {
				t.Errorf("split %d is %v", i, got[i])
			}
		}
	}
}

func TestDamagedStagingFileIsRefused(t *testing.T) {
	data, hash, err := EncodeSplits(someSplits(3))
	must.Do(t, err)
	for n := range data {
		if _, err := DecodeSplits(bytes.NewReader(data[:n]), hash); !errors.Is(err, ErrDamagedSplits) {
			t.Errorf("first %d bytes: %v", n, err)
		}
		damaged := bytes.Clone(data)
		damaged[n] ^= 0x10
		if _, err := DecodeSplits(bytes.NewReader(damaged), hash); !errors.Is(err, ErrDamagedSplits) {
			t.Errorf("damage at %d: %v", n, err)
		}
	}
}

func FuzzDecodeSplits(f *testing.F) {
	data, _, err := EncodeSplits(someSplits(2))
	must.Do(f, err)
	f.Add(data)
	f.Add([]byte{})
	f.Add([]byte{5, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		splits, err := DecodeSplits(bytes.NewReader(data), xxhash.Sum64(data))
		if err != nil {
			return
		}
		again, hash, err := EncodeSplits(splits)
		must.Do(t, err)
		if back, err := DecodeSplits(bytes.NewReader(again), hash); err != nil || len(back) != len(splits) {
			t.Fatalf("%d of %d splits come back: %v", len(back), len(splits), err)
		}
	})
}
