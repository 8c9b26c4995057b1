package pipeline

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/proto"
)

// fakePipeline is a pipeline of DataNodes within this process. The first one stores packets and
// answers for all, as script says.
type fakePipeline struct {
	t      *testing.T
	nodes  []*fakeNode
	script func(packet int) action // what follows a packet; nil: it is acknowledged
	setUp  *BlockOpResponse        // the answer to the set-up; nil: success

	stored     bytes.Buffer
	packets    []int // lengths of the packets with data
	heartbeats int
	complete   bool // the last packet has come
}

// fakeNode is one DataNode.
type fakeNode struct {
	dead    atomic.Bool // connections are refused
	stopped atomic.Bool // connections are accepted, and nothing is read or answered
}

// action is what the first DataNode does after a packet.
type action struct {
	reply  []int32       // statuses of the acknowledgement; nil: all succeed
	delay  time.Duration // before the acknowledgement
	seqno  int64         // is added to the number of the acknowledgement
	silent bool          // no acknowledgement
	hangUp bool          // the connection ends
	now    func()        // is called first
}

func newFakePipeline(t *testing.T, nodes int) *fakePipeline {
	f := &fakePipeline{t: t}
	for range nodes {
		f.nodes = append(f.nodes, &fakeNode{})
	}
	return f
}

// config returns a configuration with a probe timeout of 1 s.
func (f *fakePipeline) config() Config {
	return Config{ClientName: "client", Dial: f.dial, ProbeTimeout: time.Second, Timeout: 20 * time.Second}
}

// located returns the block, at all DataNodes.
func (f *fakePipeline) located() *LocatedBlock {
	l := &LocatedBlock{
		Block: &ExtendedBlock{PoolId: proto.String("pool"), BlockId: proto.Uint64(7), GenerationStamp: proto.Uint64(1)},
		Token: []byte{},
	}
	for i := range f.nodes {
		l.Locations = append(l.Locations, &DatanodeInfo{Id: &DatanodeID{
			IpAddr: proto.String(fmt.Sprint("10.0.0.", i)), HostName: proto.String(fmt.Sprint("dn", i)),
			Uuid: proto.String(fmt.Sprint(i)), XferPort: proto.Uint32(9866),
		}})
		l.StorageTypes, l.StorageIds = append(l.StorageTypes, 1), append(l.StorageIds, fmt.Sprint("DS-", i))
	}
	return l
}

// dial connects to a DataNode as the kernel of its machine does.
func (f *fakePipeline) dial(_ context.Context, _, address string) (net.Conn, error) {
	var i int
	if _, err := fmt.Sscanf(address, "10.0.0.%d:9866", &i); err != nil {
		return nil, err
	}
	if f.nodes[i].dead.Load() {
		return nil, syscall.ECONNREFUSED
	}
	client, server := net.Pipe()
	if !f.nodes[i].stopped.Load() {
		go f.serve(server)
	}
	return client, nil
}

// serve serves one connection.
func (f *fakePipeline) serve(conn net.Conn) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	head := make([]byte, 3)
	if _, err := io.ReadFull(r, head); err != nil {
		return
	}
	switch head[2] {
	case opReadBlock: // a probe
		protodelim.MarshalTo(conn, &BlockOpResponse{Status: proto.Int32(1)})
	case opWriteBlock:
		op := &OpWriteBlock{}
		if err := protodelim.UnmarshalFrom(r, op); err != nil {
			f.t.Error(err)
			return
		}
		f.checkOp(op)
		answer := f.setUp
		if answer == nil {
			answer = &BlockOpResponse{Status: proto.Int32(0)}
		}
		protodelim.MarshalTo(conn, answer)
		f.store(r, conn)
	}
}

// checkOp checks that a request names the other DataNodes and their storages.
func (f *fakePipeline) checkOp(op *OpWriteBlock) {
	n := len(f.nodes)
	if len(op.Targets) != n-1 || len(op.TargetStorageIds) != n-1 || op.GetStorageId() != "DS-0" || op.GetHeader().GetClientName() != "client" {
		f.t.Errorf("request %v for %d DataNodes", op, n)
	}
}

// store reads packets and answers them. A stopped DataNode answers nothing more.
func (f *fakePipeline) store(r *bufio.Reader, conn net.Conn) {
	for number := 0; ; number++ {
		h, data, err := readPacket(r)
		if err != nil {
			if !errors.Is(err, io.EOF) {
				f.t.Error(err)
			}
			return
		}
		a := action{}
		if h.GetSeqno() == heartbeatSeqno {
			f.heartbeats++
			number--
		} else {
			f.keep(h, data)
			if f.script != nil {
				a = f.script(number)
			}
		}
		if a.now != nil {
			a.now()
		}
		<-time.After(a.delay) // in the time of a synctest bubble
		switch {
		case a.hangUp:
			return
		case a.silent, f.nodes[0].stopped.Load():
			continue
		}
		ack := &PipelineAck{Seqno: proto.Int64(h.GetSeqno() + a.seqno), Reply: a.reply}
		if a.reply == nil {
			ack.Reply = make([]int32, len(f.nodes))
		}
		if _, err := protodelim.MarshalTo(conn, ack); err != nil {
			return
		}
	}
}

// keep stores a packet, which continues the block.
func (f *fakePipeline) keep(h *PacketHeader, data []byte) {
	if h.GetOffsetInBlock() != int64(f.stored.Len()) {
		f.t.Errorf("packet at offset %d after %d bytes", h.GetOffsetInBlock(), f.stored.Len())
	}
	f.stored.Write(data)
	if len(data) > 0 {
		f.packets = append(f.packets, len(data))
	}
	f.complete = h.GetLastPacketInBlock()
}

// readPacket reads a packet and verifies its checksums.
func readPacket(r io.Reader) (*PacketHeader, []byte, error) {
	var lengths [6]byte
	if _, err := io.ReadFull(r, lengths[:]); err != nil {
		return nil, nil, err
	}
	header := make([]byte, binary.BigEndian.Uint16(lengths[4:]))
	if _, err := io.ReadFull(r, header); err != nil {
		return nil, nil, io.EOF // the client has ended the connection
	}
	h := &PacketHeader{}
	if err := proto.Unmarshal(header, h); err != nil {
		return nil, nil, err
	}
	data := make([]byte, h.GetDataLen())
	checksums := make([]byte, int(binary.BigEndian.Uint32(lengths[:]))-4-len(data))
	for _, part := range [][]byte{checksums, data} {
		if _, err := io.ReadFull(r, part); err != nil {
			return nil, nil, io.EOF
		}
	}
	for rest := data; len(rest) > 0; checksums = checksums[4:] {
		n := min(len(rest), 512)
		if got := crc32.Checksum(rest[:n], crc32.MakeTable(crc32.Castagnoli)); got != binary.BigEndian.Uint32(checksums) {
			return nil, nil, fmt.Errorf("packet %d: wrong checksum", h.GetSeqno())
		}
		rest = rest[n:]
	}
	return h, data, nil
}
