package task

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
	"github.com/hammr/hammr/storage"
)

// encodeStream encodes records as a stream.
func encodeStream(t testing.TB, batch int, records []keyValue) []byte {
	t.Helper()
	var b bytes.Buffer
	w := newFrameWriter(&b, batch)
	for _, r := range records {
		must.Do(t, w.add([]byte(r.key), []byte(r.value)))
	}
	must.Do(t, w.end(frameEnd))
	return b.Bytes()
}

// decodeStream reads a stream to its end.
func decodeStream(b []byte) (records []keyValue, err error) {
	r := &frameReader{r: bytes.NewReader(b)}
	var buf []byte
	for {
		payload, n, err := r.next(buf)
		if err == io.EOF {
			return records, nil
		}
		if err != nil {
			return records, err
		}
		buf = payload
		for range n {
			var key, value []byte
			if key, value, payload, err = nextRecord(payload); err != nil {
				return records, err
			}
			records = append(records, keyValue{string(key), string(value)})
		}
		if len(payload) > 0 {
			return records, errRecord
		}
	}
}

func TestFramesCarryRecords(t *testing.T) {
	for seed := range testlevel.Seeds(50, 600) {
		r := rand.New(rand.NewPCG(seed, 3))
		var want []keyValue
		for range r.IntN(200) {
			lengths := []int{0, r.IntN(10), r.IntN(300), r.IntN(5000)}
			text := func() string { return string(bytes.Repeat([]byte{byte(r.Uint32())}, lengths[r.IntN(4)])) }
			want = append(want, keyValue{text(), text()})
		}
		got, err := decodeStream(encodeStream(t, 1+r.IntN(10_000), want))
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("seed %d: %d records of %d, %v", seed, len(got), len(want), err)
		}
	}
}

// TestDamagedFrames flips a bit of each byte, at night each bit, and removes and adds bytes. The reader must detect each
// change.
func TestDamagedFrames(t *testing.T) {
	whole := encodeStream(t, 40, sourceRecords("s", 1, 20))
	for i := range whole {
		if _, err := decodeStream(whole[:i]); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut at %d: %v", i, err)
		}
		for bit := range 8 {
			if bit != i%8 && !testlevel.Choose(false, true) {
				continue
			}
			damaged := bytes.Clone(whole)
			damaged[i] ^= 1 << bit
			if _, err := decodeStream(damaged); err == nil {
				t.Errorf("bit %d of byte %d: no error", bit, i)
			}
		}
	}
	if _, err := decodeStream(append(bytes.Clone(whole), 0)); !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("one byte too many: %v", err)
	}
}

// TestMissingFrames removes intact frames. The reader must detect it.
func TestMissingFrames(t *testing.T) {
	var frames [][]byte
	w := newFrameWriter(writerFunc(func(b []byte) (int, error) { frames = append(frames, bytes.Clone(b)); return len(b), nil }), 1)
	for i := range 4 {
		must.Do(t, w.add([]byte{byte(i)}, nil))
	}
	must.Do(t, w.end(frameEnd))
	for name, order := range map[string][]int{"left out": {0, 2, 3, 4}, "twice": {0, 1, 1, 2, 3, 4}, "swapped": {0, 2, 1, 3, 4}} {
		var stream []byte
		for _, i := range order {
			stream = append(stream, frames[i]...)
		}
		if _, err := decodeStream(stream); !errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// TestAnnouncedLengthAllocatesNothing announces a length for which no bytes arrive. The
// reader must not allocate memory for them.
func TestAnnouncedLengthAllocatesNothing(t *testing.T) {
	head := append([]byte(streamMagic), frameBatch)
	head = binary.LittleEndian.AppendUint32(head, maxPayload)
	head = binary.LittleEndian.AppendUint32(head, 1)
	var buf []byte
	_, _, err := (&frameReader{r: bytes.NewReader(head)}).next(buf)
	if err != io.ErrUnexpectedEOF {
		t.Errorf("error %v", err)
	}
	got, err := readPayload(bytes.NewReader(make([]byte, 100)), nil, maxPayload)
	if err != io.ErrUnexpectedEOF || cap(got) > firstPayload {
		t.Errorf("%d bytes set aside, %v", cap(got), err)
	}
}

func TestRecordsTooLongForAStream(t *testing.T) {
	w := newFrameWriter(io.Discard, 100)
	if err := w.add(nil, make([]byte, maxPayload)); err == nil {
		t.Error("accepted")
	}
}

// FuzzDecodeStream checks that an accepted stream encodes to the same bytes.
func FuzzDecodeStream(f *testing.F) {
	f.Add(encodeStream(f, 40, sourceRecords("s", 1, 5)))
	f.Add(encodeStream(f, 40, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		b = sealed(b)
		records, err := decodeStream(b)
		if err != nil {
			return
		}
		again, err := decodeStream(encodeStream(t, 1000, records))
		if err != nil || !slices.Equal(again, records) {
			t.Fatal(fmt.Sprint(records, again, err))
		}
	})
}

// sealed corrects the checksums of all frames that can be decoded, so that fuzzing reaches the
// code behind the check.
func sealed(b []byte) []byte {
	b = bytes.Clone(b)
	if len(b) < len(streamMagic) {
		return b
	}
	sum := crc32.Checksum(b[:len(streamMagic)], castagnoli)
	for at := len(streamMagic); at+batchHead <= len(b); {
		end := at + batchHead
		if b[at] == frameBatch {
			end += int(binary.LittleEndian.Uint32(b[at+1:]))
		}
		if end < at || end+frameTail > len(b) {
			return b
		}
		sum = crc32.Update(sum, castagnoli, b[at:end])
		binary.LittleEndian.PutUint32(b[end:], sum)
		at = end + frameTail
	}
	return b
}
