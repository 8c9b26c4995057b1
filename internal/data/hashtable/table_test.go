package hashtable

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hammr/hammr/internal/testing/must"
)

// record is one record that a test adds.
type record struct{ key, value string }

// keyOf returns the i-th of a sequence of distinct keys.
func keyOf(i int) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(i)*0x9e3779b97f4a7c15)
}

// twin is the dumb twin of a Table: a Go map.
type twin map[string][]string

// tableOf adds records in groups, as they come from a merge, to a Table and to its twin.
func tableOf(t must.T, records []record) (*Table, twin) {
	want := make(twin)
	var order []string
	for _, r := range records {
		if _, known := want[r.key]; !known {
			order = append(order, r.key)
		}
		want[r.key] = append(want[r.key], r.value)
	}
	b := NewBuilder(0)
	for _, key := range order {
		b.AddKey([]byte(key))
		for _, value := range want[key] {
			b.AddValue([]byte(value))
		}
	}
	table, err := b.Table()
	must.Do(t, err)
	return table, want
}

// find returns all values that the table has for a key; nil if it has none.
func find(table *Table, key string) (values []string) {
	found := table.Find([]byte(key))
	for value, ok := found.Next(); ok; value, ok = found.Next() {
		values = append(values, string(value))
	}
	return values
}

// keyGen draws keys that repeat, empty ones, and keys whose length takes two bytes.
var keyGen = rapid.OneOf(rapid.StringN(0, 2, 4), rapid.StringOfN(rapid.Just('k'), 120, 140, -1), rapid.String())

// TestTableIsAMap compares a table with its dumb twin, for keys that it has and for others. The
// announcements of keys must not change what is found.
func TestTableIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records := rapid.SliceOf(rapid.Custom(func(t *rapid.T) record {
			return record{keyGen.Draw(t, "key"), rapid.String().Draw(t, "value")}
		})).Draw(t, "records")
		table, want := tableOf(t, records)
		if table.Keys() != len(want) || table.Records() != int64(len(records)) {
			t.Fatalf("%d keys and %d records, want %d and %d", table.Keys(), table.Records(), len(want), len(records))
		}
		ahead := table.Ahead()
		asked := rapid.SliceOf(keyGen).Draw(t, "asked")
		for key := range want {
			asked = append(asked, key)
		}
		for _, key := range asked {
			ahead.Announce([]byte(key))
		}
		ahead.Flush()
		for _, key := range asked {
			if diff := cmp.Diff(want[key], find(table, key)); diff != "" {
				t.Fatalf("values of %q:\n%s", key, diff)
			}
		}
	})
}

// TestManyKeys fills a table beyond a batch, so that probes pass the end of the slots.
func TestManyKeys(t *testing.T) {
	var records []record
	for i := range 10_000 {
		records = append(records, record{string(keyOf(i % 7000)), string(keyOf(i))})
	}
	table, want := tableOf(t, records)
	for key, values := range want {
		if diff := cmp.Diff(values, find(table, key)); diff != "" {
			t.Fatalf("values of %q:\n%s", key, diff)
		}
	}
	for i := range 10_000 {
		if got := find(table, string(keyOf(7000+i))); got != nil {
			t.Fatalf("values of a key that was not added: %q", got)
		}
	}
}

func TestEmptyTable(t *testing.T) {
	table, _ := tableOf(t, nil)
	ahead := table.Ahead()
	ahead.Announce(nil)
	if got := find(table, ""); got != nil || table.Keys() != 0 {
		t.Errorf("%d keys, values %q", table.Keys(), got)
	}
}

// TestMemory bounds what a table takes beyond the bytes of its records.
func TestMemory(t *testing.T) {
	const keys = 100_000
	value := bytes.Repeat([]byte{'v'}, 32)
	b := NewBuilder(keys * (8 + 32 + 2))
	for i := range keys {
		b.AddKey(keyOf(i))
		b.AddValue(value)
	}
	table, err := b.Table()
	must.Do(t, err)
	if extra := table.Bytes()/keys - 40; extra > 16 {
		t.Errorf("%d bytes for each key beyond its record", extra)
	}
}

func TestFindAllocatesNothing(t *testing.T) {
	table, _ := tableOf(t, []record{{"a", "1"}, {"a", "2"}, {"b", "3"}})
	key, ahead := []byte("a"), table.Ahead()
	if n := testing.AllocsPerRun(100, func() {
		ahead.Announce(key)
		ahead.Flush()
		values := table.Find(key)
		for _, ok := values.Next(); ok; _, ok = values.Next() {
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
