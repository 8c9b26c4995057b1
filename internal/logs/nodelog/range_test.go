package nodelog

import (
	"net/http"
	"net/url"
	"testing"
)

func TestRangeIn(t *testing.T) {
	for _, c := range []struct {
		r              Range
		size           int64
		offset, length int64
	}{
		{Range{}, 10, 0, 10},
		{Range{From: 4}, 10, 4, 6},
		{Range{From: 4, Max: 3}, 10, 4, 3},
		{Range{From: 10}, 10, 10, 0},
		{Range{From: 99, Max: 5}, 10, 10, 0},
		{Range{From: -4}, 10, 6, 4},
		{Range{From: -4, Max: 2}, 10, 6, 2},
		{Range{From: -99}, 10, 0, 10},
		{Range{From: -99, Max: 1}, 0, 0, 0},
		{Range{}, 1 << 40, 0, MaxBytes},
	} {
		if offset, length := c.r.In(c.size); offset != c.offset || length != c.length {
			t.Errorf("%+v of %d bytes: %d bytes at %d, want %d at %d", c.r, c.size, length, offset, c.length, c.offset)
		}
	}
}

func TestParseRange(t *testing.T) {
	if r, err := ParseRange(url.Values{"from": {"-7"}, "max": {"3"}}); err != nil || r != (Range{-7, 3}) {
		t.Errorf("%+v, %v", r, err)
	}
	for _, query := range []string{"from=x", "max=-1", "max=1e9", "from=99999999999999999999"} {
		q, _ := url.ParseQuery(query) // it is a query
		if r, err := ParseRange(q); err == nil {
			t.Errorf("%s: %+v", query, r)
		}
	}
}

func TestAnswerOfAnOlderTasknode(t *testing.T) {
	if p, err := partOf("0123456789", http.Header{}, Range{From: -4, Max: 3}); err != nil || string(p.Text) != "678" || p.Offset != 6 || p.Size != 10 {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err := partOf("0", http.Header{HeaderSize: {"1"}, HeaderOffset: {"x"}}, Range{}); err == nil {
		t.Errorf("%+v", p)
	}
}
