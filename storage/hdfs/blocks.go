package hdfs

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/hdfs/pipeline"
)

// Blocks implements storage.FS. If the NameNode does not know all blocks, because the file is open
// for writing, the blocks have no hosts.
func (f *FS) Blocks(ctx context.Context, name string, offset, length int64) ([]storage.Block, error) {
	name = clean(name)
	status, err := f.status(ctx, "locate", name)
	if err != nil {
		return nil, err
	}
	size, blockSize := int64(status.GetLength()), int64(status.GetBlocksize())
	even, err := storage.EvenBlocks(size, max(1, blockSize), offset, length)
	if err != nil || len(even) == 0 {
		return nil, err
	}
	end := size
	if length < size-offset {
		end = offset + length
	}
	located, err := f.locate(ctx, name, offset, end-offset)
	if err != nil {
		return nil, err
	}
	if !covers(located, offset, end) {
		return even, nil
	}
	return located, nil
}

// locate requests the blocks that overlap [offset, offset+length).
func (f *FS) locate(ctx context.Context, name string, offset, length int64) ([]storage.Block, error) {
	request := &pipeline.GetBlockLocationsRequest{Src: &name, Offset: proto.Uint64(uint64(offset)), Length: proto.Uint64(uint64(length))}
	response := new(pipeline.GetBlockLocationsResponse)
	err := f.do(ctx, f.reads, "locate", name, func(c *session, _ int) error {
		return execute(c.Client, "getBlockLocations", request, response)
	})
	var blocks []storage.Block
	for _, b := range response.GetLocations().GetBlocks() {
		block := storage.Block{Offset: int64(b.GetOffset()), Length: int64(b.GetBlock().GetNumBytes())}
		for _, n := range b.Locations {
			block.Hosts = append(block.Hosts, n.GetId().GetHostName())
			block.Racks = append(block.Racks, n.GetLocation())
		}
		blocks = append(blocks, block)
	}
	return blocks, err
}

// covers reports whether the blocks cover [offset, end) without gaps. A file that is being
// written may lack its last block.
func covers(blocks []storage.Block, offset, end int64) bool {
	if len(blocks) == 0 || blocks[0].Offset > offset {
		return false
	}
	at := blocks[0].Offset
	for _, b := range blocks {
		if b.Offset != at || b.Length <= 0 {
			return false
		}
		at += b.Length
	}
	return at >= end
}
