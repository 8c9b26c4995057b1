package raftlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/hashicorp/go-msgpack/v2/codec"
	"github.com/hashicorp/raft"
	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// disk is a bbolt file of entries, votes and terms: a raft.LogStore and a raft.StableStore. Each
// change is one transaction, which ends with an fsync. The format is that of hashicorp/raft-boltdb:
//
//	bucket logs    index, 8 bytes, big-endian  ─►  raft.Log, MessagePack
//	bucket conf    name                        ─►  value; a number has 8 bytes, big-endian
type disk struct{ db *bbolt.DB }

var (
	logsBucket = []byte("logs")
	confBucket = []byte("conf")
)

// errNoKey is what Get and GetUint64 return for a key that was never set. Raft knows this error
// by its text.
var errNoKey = errors.New("not found")

// entryCodec encodes times as 15 bytes, which every version of the format reads.
var entryCodec = func() *codec.MsgpackHandle {
	h := new(codec.MsgpackHandle)
	h.TimeNotBuiltin = true
	return h
}()

// openDisk opens the log's file, which is locked while it is open. Its list of free pages is not
// written with each entry, which makes writes cheaper. Instead, the list is computed when the
// file is opened.
func openDisk(path string) (*disk, error) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: lockTimeout, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, fmt.Errorf("raftlog: directory %s is in use by another process", filepath.Dir(path))
	}
	if err != nil {
		return nil, fmt.Errorf("raftlog: log %s: %w", path, err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists(logsBucket)
		if err == nil {
			_, err = tx.CreateBucketIfNotExists(confBucket)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("raftlog: log %s: %w", path, errors.Join(err, db.Close()))
	}
	return &disk{db}, nil
}

// Close closes the file.
func (d *disk) Close() error { return d.db.Close() }

// FirstIndex implements raft.LogStore: 0 without entries.
func (d *disk) FirstIndex() (uint64, error) { return d.edge((*bbolt.Cursor).First) }

// LastIndex implements raft.LogStore: 0 without entries.
func (d *disk) LastIndex() (uint64, error) { return d.edge((*bbolt.Cursor).Last) }

// edge returns the index of the entry to which a cursor moves.
func (d *disk) edge(move func(*bbolt.Cursor) (key, value []byte)) (index uint64, err error) {
	err = d.db.View(func(tx *bbolt.Tx) error {
		if key, _ := move(tx.Bucket(logsBucket).Cursor()); key != nil {
			index = binary.BigEndian.Uint64(key)
		}
		return nil
	})
	return index, err
}

// GetLog implements raft.LogStore. The entry is a copy.
func (d *disk) GetLog(index uint64, entry *raft.Log) error {
	return d.db.View(func(tx *bbolt.Tx) error {
		encoded := tx.Bucket(logsBucket).Get(indexKey(index))
		if encoded == nil {
			return raft.ErrLogNotFound
		}
		if err := codec.NewDecoderBytes(encoded, entryCodec).Decode(entry); err != nil {
			return fmt.Errorf("raftlog: entry %d: %w", index, err)
		}
		return nil
	})
}

// StoreLog implements raft.LogStore.
func (d *disk) StoreLog(entry *raft.Log) error { return d.StoreLogs([]*raft.Log{entry}) }

// StoreLogs implements raft.LogStore.
func (d *disk) StoreLogs(entries []*raft.Log) error {
	return d.db.Update(func(tx *bbolt.Tx) error {
		for _, e := range entries {
			var encoded []byte
			if err := codec.NewEncoderBytes(&encoded, entryCodec).Encode(e); err != nil {
				return fmt.Errorf("raftlog: entry %d: %w", e.Index, err)
			}
			if err := tx.Bucket(logsBucket).Put(indexKey(e.Index), encoded); err != nil {
				return err
			}
		}
		return nil
	})
}

// DeleteRange implements raft.LogStore.
func (d *disk) DeleteRange(first, last uint64) error {
	return d.db.Update(func(tx *bbolt.Tx) error {
		c := tx.Bucket(logsBucket).Cursor()
		// A deletion may move the cursor, so each round seeks.
		for key, _ := c.Seek(indexKey(first)); key != nil && binary.BigEndian.Uint64(key) <= last; key, _ = c.Seek(indexKey(first)) {
			if err := c.Delete(); err != nil {
				return err
			}
		}
		return nil
	})
}

// Set implements raft.StableStore.
func (d *disk) Set(key, value []byte) error {
	return d.db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(confBucket).Put(key, value) })
}

// Get implements raft.StableStore.
func (d *disk) Get(key []byte) (value []byte, err error) {
	err = d.db.View(func(tx *bbolt.Tx) error {
		stored := tx.Bucket(confBucket).Get(key)
		if stored == nil {
			return errNoKey
		}
		value = append([]byte{}, stored...)
		return nil
	})
	return value, err
}

// SetUint64 implements raft.StableStore.
func (d *disk) SetUint64(key []byte, n uint64) error { return d.Set(key, indexKey(n)) }

// GetUint64 implements raft.StableStore.
func (d *disk) GetUint64(key []byte) (uint64, error) {
	value, err := d.Get(key)
	if err != nil {
		return 0, err
	}
	if len(value) != 8 {
		return 0, fmt.Errorf("raftlog: %s: %d bytes, not a number", key, len(value))
	}
	return binary.BigEndian.Uint64(value), nil
}

// indexKey returns the key of an entry, in whose order bbolt sorts.
func indexKey(index uint64) []byte { return binary.BigEndian.AppendUint64(nil, index) }
