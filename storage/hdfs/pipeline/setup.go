package pipeline

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"

	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/proto"
)

// The protocol of DataNodes.
const (
	transferVersion = 28
	opWriteBlock    = 80
	opReadBlock     = 81

	stageCreate   = 6 // a block without data yet
	statusSuccess = 0
)

// setUp connects to the first DataNode, which connects to the others, and waits for its answer.
func (b *Block) setUp(ctx context.Context) error {
	dial := b.dialRaw
	if b.cfg.Secure != nil {
		var err error
		if dial, err = b.cfg.Secure(dial, b.located.GetToken()); err != nil {
			return err
		}
	}
	conn, err := dial(ctx, "tcp", b.cfg.address(b.located.GetLocations()[0]))
	if err != nil {
		return err
	}
	b.conn, b.answers = conn, bufio.NewReader(conn)
	request, err := encodeOp(opWriteBlock, b.writeOp())
	if err != nil {
		return err
	}
	if _, err := conn.Write(request); err != nil {
		return err
	}
	answer := &BlockOpResponse{}
	if err := readMessage(b.answers, answer); err != nil {
		return err
	}
	if answer.GetStatus() == statusSuccess && answer.GetFirstBadLink() == "" {
		return nil
	}
	err = fmt.Errorf("DataNode answers with status %d: %s", answer.GetStatus(), answer.GetMessage())
	if bad := b.nodeAt(answer.GetFirstBadLink()); bad != nil {
		return &Error{Nodes: []*DatanodeInfo{bad}, Cause: err}
	}
	return err
}

// dialRaw connects without authentication. It keeps the connection, so that fail can close it
// while the caller of dialRaw waits for an answer.
func (b *Block) dialRaw(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := b.cfg.Dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mu.err != nil {
		conn.Close()
		return nil, b.mu.err
	}
	b.mu.raw = conn
	return conn, nil
}

// nodeAt returns the DataNode of the pipeline with an address; nil for none.
func (b *Block) nodeAt(address string) *DatanodeInfo {
	for _, n := range b.located.GetLocations() {
		for _, useHostname := range []bool{false, true} {
			if (&Config{UseHostname: useHostname}).address(n) == address {
				return n
			}
		}
	}
	return nil
}

// writeOp returns the request for a new block.
func (b *Block) writeOp() *OpWriteBlock {
	nodes := b.located.GetLocations()
	op := &OpWriteBlock{
		Header:                b.cfg.header(b.located.GetBlock(), b.located.GetToken()),
		Targets:               nodes[1:],
		Stage:                 proto.Int32(stageCreate),
		PipelineSize:          proto.Uint32(uint32(len(nodes))),
		MinBytesRcvd:          proto.Uint64(0),
		MaxBytesRcvd:          proto.Uint64(0),
		LatestGenerationStamp: proto.Uint64(0),
		RequestedChecksum:     &Checksum{Type: proto.Int32(checksumCRC32C), BytesPerChecksum: proto.Uint32(chunkBytes)},
	}
	if types := b.located.GetStorageTypes(); len(types) == len(nodes) {
		op.StorageType, op.TargetStorageTypes = &types[0], slices.Clone(types[1:])
	}
	if ids := b.located.GetStorageIds(); len(ids) == len(nodes) {
		op.StorageId, op.TargetStorageIds = &ids[0], slices.Clone(ids[1:])
	}
	return op
}

// header returns the head of an operation on a block.
func (c *Config) header(block *ExtendedBlock, token []byte) *OperationHeader {
	return &OperationHeader{Base: &BaseHeader{Block: block, Token: token}, ClientName: &c.ClientName}
}

// encodeOp returns the bytes of a request: the version of the protocol, the number of the
// operation, and its message with its length.
func encodeOp(op byte, m proto.Message) ([]byte, error) {
	body, err := proto.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("pipeline: request to a DataNode: %w", err)
	}
	request := []byte{0, transferVersion, op}
	request = binary.AppendUvarint(request, uint64(len(body)))
	return append(request, body...), nil
}

// readMessage reads a message with its length. The end of the connection is an error.
func readMessage(r *bufio.Reader, m proto.Message) error {
	err := protodelim.UnmarshalFrom(r, m)
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
