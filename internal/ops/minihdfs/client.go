package minihdfs

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/hammr/hammr/internal/kit/pattern"
)

// Client runs programs that use a YARN: its jars are YarnJars, and its configuration names the
// ResourceManager.
type Client struct{ Java }

// jobID is how clients call a job when they have submitted it.
var jobID = pattern.New(`Running job: (job_\d+_\d+)`)

// Stream runs a job of Hadoop's streaming to its end and returns its id, and what its client has
// printed, with the counters. The mapper and the reducer are programs of the machines, or files of
// the option -files.
func (c *Client) Stream(ctx context.Context, args ...string) (job string, printed []byte, err error) {
	printed, err = c.Run(ctx, "org.apache.hadoop.streaming.HadoopStreaming", args...)
	if err != nil {
		return "", printed, err
	}
	found := jobID().FindSubmatch(printed)
	if found == nil {
		return "", printed, fmt.Errorf("minihdfs: the client of a streaming job has not printed its id: %s", tail(printed))
	}
	return string(found[1]), printed, nil
}

// History copies the history of a finished job into a directory and returns the file: one
// event a line. The application master writes it shortly after the client has seen the end,
// so History waits for up to a minute. The history is in HDFS; the client that reads it is
// a Java program.
func (c *Client) History(ctx context.Context, job, dir string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		_, err := c.Run(ctx, "org.apache.hadoop.fs.FsShell", "-get", "-f", historyDir+"/*/"+job+"-*.jhist", dir)
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			return "", errors.Join(ctx.Err(), err)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, job+"-*.jhist"))
	if err != nil || len(files) != 1 {
		return "", errors.Join(err, fmt.Errorf("minihdfs: %d histories of %s in %s", len(files), job, dir))
	}
	return files[0], nil
}
