package raftlog

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"go.etcd.io/bbolt"
	"pgregory.net/rapid"
)

// storedByRaftBoltDB is what hashicorp/raft-boltdb v2.3.0 has written for the entries and values of
// TestDiskFormat: logs of earlier releases have this format.
var storedByRaftBoltDB = map[string]map[string]string{
	"conf": {"CurrentTerm": "\x00\x00\x00\x00\x00\x00\x00\x03", "LastVoteCand": "m1"},
	"logs": {
		"\x00\x00\x00\x00\x00\x00\x00\x07": "\x86\xaaAppendedAt\xaf\x01\x00\x00\x00\x0e\xe2\x9e\x11\xc8\x07[\xcd\x15\xff\xff\xa4Data\xa5data\xff\xaaExtensions\xa1x\xa5Index\x07\xa4Term\x03\xa4Type\x05",
		"\x00\x00\x00\x00\x00\x00\x00\x08": "\x86\xaaAppendedAt\xaf\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xa4Data\xc0\xaaExtensions\xc0\xa5Index\x08\xa4Term\x03\xa4Type\x00",
	},
}

// testDisk opens an empty file.
func testDisk(t interface {
	Fatal(...any)
	Cleanup(func())
}, path string) *disk {
	d, err := openDisk(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// TestDiskFormat compares the file with that of raft-boltdb, and reads it again.
func TestDiskFormat(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	d := testDisk(t, path)
	entries := []*raft.Log{
		{Index: 7, Term: 3, Type: raft.LogConfiguration, Data: []byte("data\xff"), Extensions: []byte("x"), AppendedAt: time.Date(2026, 11, 29, 12, 30, 0, 123456789, time.UTC)},
		{Index: 8, Term: 3},
	}
	if err := errors.Join(d.StoreLogs(entries), d.SetUint64([]byte("CurrentTerm"), 3), d.Set([]byte("LastVoteCand"), []byte("m1")), d.Close()); err != nil {
		t.Fatal(err)
	}
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]map[string]string)
	err = db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
			got[string(name)] = make(map[string]string)
			return b.ForEach(func(k, v []byte) error {
				got[string(name)][string(k)] = string(v)
				return nil
			})
		})
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	for bucket, want := range storedByRaftBoltDB {
		if !maps.Equal(got[bucket], want) {
			t.Errorf("%s: stored %q\nwant %q", bucket, got[bucket], want)
		}
	}
	d = testDisk(t, path)
	for _, want := range entries {
		var e raft.Log
		if err := d.GetLog(want.Index, &e); err != nil || !e.AppendedAt.Equal(want.AppendedAt) {
			t.Errorf("entry %d: %v, %v", want.Index, e, err)
		}
		if e.AppendedAt = want.AppendedAt; !reflect.DeepEqual(&e, want) {
			t.Errorf("entry %v, want %v", e, *want)
		}
	}
	if n, err := d.GetUint64([]byte("CurrentTerm")); n != 3 || err != nil {
		t.Errorf("term %d, %v", n, err)
	}
	if _, err := d.GetUint64([]byte("LastVoteCand")); err == nil {
		t.Error("a name was read as a number")
	}
	if _, err := d.Get([]byte("missing")); err == nil || err.Error() != "not found" {
		t.Errorf("a key that was never set: %v; Raft expects: not found", err)
	}
}

// TestDiskLikeInmemStore compares random writes, deletions and reads with Raft's store in memory.
func TestDiskLikeInmemStore(t *testing.T) {
	dir, n := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		path := filepath.Join(dir, fmt.Sprint(n))
		d, want := testDisk(t, path), raft.NewInmemStore()
		next := rapid.Uint64Range(1, 300).Draw(t, "first")
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0, 1:
				var batch []*raft.Log
				for range rapid.IntRange(1, 40).Draw(t, "entries") {
					batch = append(batch, &raft.Log{Index: next, Term: next / 7, Data: []byte(fmt.Sprint("entry ", next))})
					next++
				}
				if err := errors.Join(d.StoreLogs(batch), want.StoreLogs(batch)); err != nil {
					t.Fatal(err)
				}
			case 2: // Raft deletes a prefix or a suffix
				low, high := edges(t, want)
				if low == 0 {
					continue
				}
				at := rapid.Uint64Range(low, high).Draw(t, "at")
				from, to := low, at
				if rapid.Bool().Draw(t, "suffix") {
					from, to = at, high
					next = at
				}
				if err := errors.Join(d.DeleteRange(from, to), want.DeleteRange(from, to)); err != nil {
					t.Fatal(err)
				}
			default: // another process opens the file
				if err := d.Close(); err != nil {
					t.Fatal(err)
				}
				d = testDisk(t, path)
			}
			low, high := edges(t, want)
			if l, h := edges(t, d); (low != 0 || high != 0) && (l != low || h != high) {
				t.Fatalf("entries %d to %d, want %d to %d", l, h, low, high)
			}
			for i := low; i <= high+1; i++ {
				var e, w raft.Log
				if err, wantErr := d.GetLog(i, &e), want.GetLog(i, &w); !errors.Is(err, wantErr) || string(e.Data) != string(w.Data) || e.Term != w.Term {
					t.Fatalf("entry %d: %v %v, want %v %v", i, e, err, w, wantErr)
				}
			}
		}
	})
}

// edges returns the first and the last index of a store.
func edges(t *rapid.T, s raft.LogStore) (first, last uint64) {
	first, err := s.FirstIndex()
	if err != nil {
		t.Fatal(err)
	}
	last, err = s.LastIndex()
	if err != nil {
		t.Fatal(err)
	}
	return first, last
}
