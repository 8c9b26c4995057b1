package recovery

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/fsconf"
	"github.com/hammr/hammr/internal/minihdfs"
	"github.com/hammr/hammr/storage"
)

const (
	nodes     = 4
	replicas  = 3    // of each block, the usual number
	inputs    = 8    // files of a block each, one for a map
	lines     = 1500 // of each file, each with a different word
	lineBytes = 10
)

func startHDFS(ctx context.Context, dir string) (*minihdfs.Cluster, error) {
	return minihdfs.Start(ctx, minihdfs.Config{Dir: filepath.Join(dir, "hdfs"), DataNodes: nodes, Replication: replicas})
}

func inputFile(n int) string { return fmt.Sprintf("/in/part-%d", n) }

// writeInput writes the input, and returns the hosts of each file. A map reads one file of
// one block, so the hosts of a file are those of a map.
func writeInput(ctx context.Context, hdfs *minihdfs.Cluster) (hosts []map[string]bool, err error) {
	router, err := fsconf.NewRouter(conf.New(), nil)
	if err != nil {
		return nil, err
	}
	defer router.Close()
	fs, _, err := router.Resolve(ctx, hdfs.URI()+"/in")
	if err != nil {
		return nil, err
	}
	for n := range inputs {
		if err := write(ctx, fs, n); err != nil {
			return nil, err
		}
	}
	if err := hdfs.WaitReplicated(ctx); err != nil {
		return nil, err
	}
	for n := range inputs {
		blocks, err := fs.Blocks(ctx, inputFile(n), 0, lines*lineBytes)
		if err != nil {
			return nil, err
		}
		on := make(map[string]bool)
		for _, host := range blocks[0].Hosts {
			on[host] = true
		}
		hosts = append(hosts, on)
	}
	return hosts, nil
}

func write(ctx context.Context, fs storage.FS, n int) error {
	w, err := fs.Create(ctx, inputFile(n), storage.CreateOptions{})
	if err != nil {
		return err
	}
	var text strings.Builder
	for line := range lines {
		fmt.Fprintf(&text, "w%0*d\n", lineBytes-2, n*lines+line)
	}
	if _, err := w.Write([]byte(text.String())); err != nil {
		return errors.Join(err, w.Abort())
	}
	return w.Close()
}
