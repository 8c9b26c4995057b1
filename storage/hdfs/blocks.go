package hdfs

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strconv"

	"github.com/hammr/hammr/storage"
)

// fileBlocks is the answer to GETFILEBLOCKLOCATIONS, of Hadoop 3.2 and later:
//
//	{"BlockLocations": {"BlockLocation": [{"offset": 0, "length": 134217728,
//	  "hosts": ["dn1", "dn2"], "topologyPaths": ["/rack1/10.0.0.1:9866", …]}]}}
type fileBlocks struct {
	BlockLocations struct {
		BlockLocation []struct {
			Offset, Length int64
			Hosts          []string
			TopologyPaths  []string // "/rack/host:port" of each host
		}
	}
}

// locatedBlocks is the answer to GET_BLOCK_LOCATIONS, which versions of Hadoop before 3.2
// offer instead.
type locatedBlocks struct {
	LocatedBlocks struct {
		LocatedBlocks []struct {
			Block       struct{ NumBytes int64 }
			StartOffset int64
			Locations   []struct{ HostName, NetworkLocation string }
		}
	}
}

// Blocks implements storage.FS. If WebHDFS cannot be reached, the blocks have no hosts.
//
// Hosts are an optimization: a job runs without them, on machines that read over the network.
// So a failure is logged once and is no error.
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
	located, err := f.web.blocks(ctx, name, offset, end-offset)
	if err == nil && covers(located, offset, end) {
		return within(located, offset, end), nil
	}
	if ctx.Err() != nil {
		return nil, f.explain("locate", name, ctx.Err())
	}
	if err == nil {
		err = errors.New("the blocks do not cover the file; it may be open for writing")
	}
	f.noHosts.Do(func() {
		f.log.Warn("no block locations, tasks will run anywhere", "path", f.URI()+name, "cause", err)
	})
	return even, nil
}

// blocks requests the blocks that overlap [offset, offset+length). An exception means that
// the NameNode does not know the operation, or the file. In that case blocks tries the older
// operation, which distinguishes the two.
func (w *webHDFS) blocks(ctx context.Context, name string, offset, length int64) ([]storage.Block, error) {
	query := url.Values{
		"op":     {"GETFILEBLOCKLOCATIONS"},
		"offset": {strconv.FormatInt(offset, 10)},
		"length": {strconv.FormatInt(length, 10)},
	}
	var answer fileBlocks
	err := w.call(ctx, http.MethodGet, name, query, &answer)
	if remote := new(webError); errors.As(err, &remote) {
		return w.blocksOfOld(ctx, name, query)
	}
	if err != nil {
		return nil, err
	}
	var blocks []storage.Block
	for _, b := range answer.BlockLocations.BlockLocation {
		block := storage.Block{Offset: b.Offset, Length: b.Length, Hosts: b.Hosts}
		if len(b.TopologyPaths) == len(b.Hosts) {
			for _, p := range b.TopologyPaths {
				block.Racks = append(block.Racks, path.Dir(p))
			}
		}
		blocks = append(blocks, block)
	}
	return blocks, nil
}

// blocksOfOld requests the blocks from a NameNode before Hadoop 3.2.
func (w *webHDFS) blocksOfOld(ctx context.Context, name string, query url.Values) ([]storage.Block, error) {
	query.Set("op", "GET_BLOCK_LOCATIONS")
	var answer locatedBlocks
	if err := w.call(ctx, http.MethodGet, name, query, &answer); err != nil {
		return nil, fmt.Errorf("block locations: %w", err)
	}
	var blocks []storage.Block
	for _, b := range answer.LocatedBlocks.LocatedBlocks {
		block := storage.Block{Offset: b.StartOffset, Length: b.Block.NumBytes}
		for _, l := range b.Locations {
			block.Hosts = append(block.Hosts, l.HostName)
			block.Racks = append(block.Racks, l.NetworkLocation)
		}
		blocks = append(blocks, block)
	}
	return blocks, nil
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

// within drops the blocks that do not overlap [offset, end). WebHDFS may answer with more
// blocks than were asked for.
func within(blocks []storage.Block, offset, end int64) []storage.Block {
	for len(blocks) > 0 && blocks[0].Offset+blocks[0].Length <= offset {
		blocks = blocks[1:]
	}
	for len(blocks) > 0 && blocks[len(blocks)-1].Offset >= end {
		blocks = blocks[:len(blocks)-1]
	}
	return blocks
}
