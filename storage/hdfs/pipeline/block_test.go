package pipeline

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/hammr/hammr/internal/testing/must"
)

// writeAll writes a block of some packets and returns its error and the time that it took.
func writeAll(ctx context.Context, f *fakePipeline, data []byte) (time.Duration, error) {
	began := time.Now()
	b, err := Open(ctx, f.config(), f.located())
	if err != nil {
		return time.Since(began), err
	}
	if err := b.Write(data); err != nil {
		b.Abort()
		return time.Since(began), err
	}
	err = b.Close()
	return time.Since(began), err
}

// TestFaults plays faults of a pipeline of three DataNodes. Each row says which DataNodes are
// blamed, and when; "" is success.
func TestFaults(t *testing.T) {
	stop := func(f *fakePipeline, i int) func() { return func() { f.nodes[i].stopped.Store(true) } }
	at := func(n int, a action) func(int) action {
		return func(packet int) action {
			if packet == n {
				return a
			}
			return action{}
		}
	}
	from := func(n int, a action) func(int) action {
		return func(packet int) action {
			if packet < n {
				return action{}
			}
			return a
		}
	}
	for _, c := range []struct {
		name   string
		set    func(f *fakePipeline)
		blamed string
		after  time.Duration
		text   string // in the error
	}{
		{"none", func(*fakePipeline) {}, "", 0, ""},
		{"first refuses", func(f *fakePipeline) { f.nodes[0].dead.Store(true) }, "0", 0, "refused"},
		{"first stopped before", func(f *fakePipeline) { f.nodes[0].stopped.Store(true) }, "0", 2 * time.Second, "no acknowledgement"},
		{"second unreachable from the first", func(f *fakePipeline) {
			f.setUp = &BlockOpResponse{Status: proto.Int32(1), FirstBadLink: proto.String("10.0.0.1:9866"), Message: proto.String("no link")}
		}, "1", 0, "no link"},
		{"second unreachable, by host name", func(f *fakePipeline) {
			f.setUp = &BlockOpResponse{Status: proto.Int32(0), FirstBadLink: proto.String("dn1:9866")}
		}, "1", 0, "status 0"},
		{"first refuses the block", func(f *fakePipeline) {
			f.setUp = &BlockOpResponse{Status: proto.Int32(5), Message: proto.String("token")}
		}, "0", 0, "status 5: token"},
		{"third fails", func(f *fakePipeline) { f.script = at(3, action{reply: []int32{0, 0, 1}}) }, "2", 0, "packet 3: status 1"},
		{"more statuses than DataNodes", func(f *fakePipeline) { f.script = at(3, action{reply: []int32{0, 0, 0, 1}}) }, "0", 0, "status 1"},
		{"wrong acknowledgement", func(f *fakePipeline) { f.script = at(2, action{seqno: 5}) }, "0", 0, "expected 2"},
		{"first dies", func(f *fakePipeline) {
			f.script = at(4, action{hangUp: true, now: func() { f.nodes[0].dead.Store(true) }})
		}, "0", 0, "pipe"},
		{"two die at once", func(f *fakePipeline) {
			f.script = at(4, action{hangUp: true, now: func() { f.nodes[0].dead.Store(true); f.nodes[2].dead.Store(true) }})
		}, "0 2", 0, "pipe"},
		{"connection breaks", func(f *fakePipeline) { f.script = at(4, action{hangUp: true}) }, "0", 0, "pipe"},
		{"first is stopped", func(f *fakePipeline) { f.script = at(4, action{now: stop(f, 0)}) }, "0", 2 * time.Second, "no acknowledgement"},
		{"second is stopped", func(f *fakePipeline) { f.script = from(4, action{silent: true, now: stop(f, 1)}) }, "1", 2 * time.Second, "no acknowledgement"},
		{"third dies silently", func(f *fakePipeline) {
			f.script = from(4, action{silent: true, now: func() { f.nodes[2].dead.Store(true) }})
		}, "2", time.Second, "no acknowledgement"},
		{"slow disk", func(f *fakePipeline) { f.script = at(4, action{delay: 15 * time.Second}) }, "", 15 * time.Second, ""},
		{"disk that hangs", func(f *fakePipeline) { f.script = from(4, action{silent: true}) }, "0", 20 * time.Second, "no acknowledgement for 20s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakePipeline(t, 3)
				c.set(f)
				data := bytes.Repeat([]byte("0123456789abcde\n"), (windowSize+4)*packetBytes/16+3)
				took, err := writeAll(t.Context(), f, data)
				if took < c.after || took > c.after+250*time.Millisecond {
					t.Errorf("took %v, expected %v", took, c.after)
				}
				if got := blamed(t, err); got != c.blamed || err != nil && !strings.Contains(err.Error(), c.text) {
					t.Errorf("blames %q: %v, expected %q and %q", got, err, c.blamed, c.text)
				}
				if err == nil && (!f.complete || !bytes.Equal(f.stored.Bytes(), data)) {
					t.Errorf("stored %d of %d bytes, complete: %v", f.stored.Len(), len(data), f.complete)
				}
			})
		})
	}
}

// blamed returns the DataNodes that an error names.
func blamed(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	failed, ok := errors.AsType[*Error](err)
	if !ok {
		t.Fatalf("not an error of a pipeline: %v", err)
	}
	var names []string
	for _, n := range failed.Nodes {
		names = append(names, n.GetId().GetUuid())
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// TestContextEnds ends the caller's context while the pipeline is silent, during the set-up and
// later.
func TestContextEnds(t *testing.T) {
	for _, stopAt := range []int{-1, 5} {
		synctest.Test(t, func(t *testing.T) {
			f := newFakePipeline(t, 1)
			f.nodes[0].stopped.Store(stopAt < 0)
			f.script = func(packet int) action { return action{silent: packet >= stopAt} }
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			took, err := writeAll(ctx, f, make([]byte, (windowSize+8)*packetBytes))
			if !errors.Is(err, context.DeadlineExceeded) || took != 300*time.Millisecond {
				t.Errorf("%v after %v", err, took)
			}
		})
	}
}

// TestIdleWriter waits between two writes for longer than a DataNode keeps an idle connection.
func TestIdleWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakePipeline(t, 2)
		b, err := Open(t.Context(), f.config(), f.located())
		must.Do(t, err)
		time.Sleep(125 * time.Second)
		must.Do(t, b.Write([]byte("text")))
		must.Do(t, b.Close())
		if f.heartbeats != 4 || f.stored.String() != "text" {
			t.Errorf("%d heartbeats in 125 s, stored %q", f.heartbeats, f.stored.String())
		}
	})
}

// TestDiesWhileIdle reports the death of the DataNode by the next write.
func TestDiesWhileIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakePipeline(t, 1)
		f.script = func(int) action { return action{hangUp: true, now: func() { f.nodes[0].dead.Store(true) }} }
		b, err := Open(t.Context(), f.config(), f.located())
		must.Do(t, err)
		defer b.Abort()
		must.Do(t, b.Write(make([]byte, packetBytes)))
		time.Sleep(time.Hour)
		if got := blamed(t, b.Write(make([]byte, packetBytes))); got != "0" {
			t.Errorf("blames %q", got)
		}
	})
}

// TestSecureError returns the error of a cluster's authentication.
func TestSecureError(t *testing.T) {
	f := newFakePipeline(t, 1)
	cfg := f.config()
	cfg.Secure = func(DialFunc, []byte) (DialFunc, error) { return nil, syscall.EACCES }
	if _, err := Open(t.Context(), cfg, f.located()); !errors.Is(err, syscall.EACCES) {
		t.Error(err)
	}
}

// TestPieces writes a block in pieces of any size. The bytes are the same, and every packet but
// the last is full, so its checksums cover whole chunks.
func TestPieces(t *testing.T) {
	data := make([]byte, 5*packetBytes)
	for i := range data {
		data[i] = byte(i * i >> 7)
	}
	rapid.Check(t, func(rt *rapid.T) {
		f := newFakePipeline(t, rapid.IntRange(1, 3).Draw(rt, "nodes"))
		cfg := f.config()
		cfg.ProbeTimeout, cfg.Timeout = time.Hour, time.Hour // of real time, on a busy machine
		b, err := Open(t.Context(), cfg, f.located())
		must.Do(rt, err)
		rest := data[:rapid.IntRange(0, len(data)).Draw(rt, "length")]
		want := rest
		for len(rest) > 0 {
			n := min(len(rest), rapid.OneOf(rapid.IntRange(1, 700), rapid.IntRange(1, 2*packetBytes), rapid.Just(packetBytes)).Draw(rt, "piece"))
			must.Do(rt, b.Write(rest[:n]))
			rest = rest[n:]
		}
		if b.Length() != int64(len(want)) {
			rt.Fatalf("length %d, expected %d", b.Length(), len(want))
		}
		must.Do(rt, b.Close())
		if !f.complete || !bytes.Equal(f.stored.Bytes(), want) {
			rt.Fatalf("stored %d of %d bytes, complete: %v", f.stored.Len(), len(want), f.complete)
		}
		for i, n := range f.packets {
			if n != packetBytes && i < len(f.packets)-1 {
				rt.Fatalf("packet %d of %d has %d bytes", i, len(f.packets), n)
			}
		}
	})
}

// TestPacketHeader compares the encoded header with that of the generated code.
func TestPacketHeader(t *testing.T) {
	for _, h := range []*PacketHeader{
		{OffsetInBlock: proto.Int64(0), Seqno: proto.Int64(0), LastPacketInBlock: proto.Bool(false), DataLen: proto.Int32(0)},
		{OffsetInBlock: proto.Int64(1 << 40), Seqno: proto.Int64(-1), LastPacketInBlock: proto.Bool(true), DataLen: proto.Int32(packetBytes)},
	} {
		want, err := proto.MarshalOptions{Deterministic: true}.Marshal(h)
		must.Do(t, err)
		got := appendPacketHeader(nil, h.GetOffsetInBlock(), h.GetSeqno(), h.GetLastPacketInBlock(), int(h.GetDataLen()))
		if !bytes.Equal(got, want) || len(got) != packetHeaderBytes {
			t.Errorf("%x, expected %x", got, want)
		}
	}
}
