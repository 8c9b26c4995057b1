package server

import (
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/wire"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"
)

func TestBatchesHaveEveryOrderInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 100).Draw(t, "limit")
		var orders []*wire.Order
		for _, n := range rapid.SliceOf(rapid.IntRange(0, 120)).Draw(t, "lengths") {
			orders = append(orders, &wire.Order{Order: &wire.Order_RemoveJob_{
				RemoveJob: &wire.Order_RemoveJob{JobId: strings.Repeat("j", n)},
			}})
		}
		all := batches(orders, limit)
		if !slices.Equal(slices.Concat(all...), orders) {
			t.Fatalf("%d orders became %v", len(orders), all)
		}
		for i, batch := range all {
			bytes := size(batch)
			if len(batch) == 0 || len(batch) > 1 && bytes > limit {
				t.Fatalf("batch of %d orders and %d bytes, limit %d", len(batch), bytes, limit)
			}
			if i > 0 && size(all[i-1])+proto.Size(batch[0]) <= limit {
				t.Fatalf("batch %d begins though %d has room", i, i-1)
			}
		}
	})
}

func size(batch []*wire.Order) (bytes int) {
	for _, o := range batch {
		bytes += proto.Size(o)
	}
	return bytes
}
