package fleet

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/procfs"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/testcluster"
)

// leaderUsage returns the name of the leader and what its process has used, as the kernel reports it.
func leaderUsage(ctx context.Context, c *testcluster.Cluster) (leader string, u procfs.Process, err error) {
	if leader, err = c.AwaitLeader(ctx); err != nil {
		return "", u, err
	}
	p, err := c.Process(leader)
	if err == nil {
		u, err = procfs.Find(p.PID)
	}
	return leader, u, err
}

// get reads a path of a master's page.
func get(ctx context.Context, c *testcluster.Cluster, master, path string) ([]byte, error) {
	p, err := c.Process(master)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.HTTP+path, nil)
	if err != nil {
		return nil, err
	}
	token, err := c.Token()
	if err != nil {
		return nil, err
	}
	rpc.SetHeaders(request.Header, token, "")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("page of %s: %w", master, err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("page of %s: %s: %s", master, path, answer.Status)
	}
	return body, err
}

// metrics returns the metrics of a master, by name with labels.
func metrics(ctx context.Context, c *testcluster.Cluster, master string) (map[string]float64, error) {
	body, err := get(ctx, c, master, "/metrics")
	if err != nil {
		return nil, err
	}
	values := make(map[string]float64)
	for lines := bufio.NewScanner(bytes.NewReader(body)); lines.Scan(); {
		name, text, _ := strings.Cut(lines.Text(), " ")
		if v, err := strconv.ParseFloat(text, 64); err == nil && !strings.HasPrefix(name, "#") {
			values[name] = v
		}
	}
	return values, nil
}

// heapOf returns the bytes that a master's heap has in use after a garbage collection, which
// it forces.
func heapOf(ctx context.Context, c *testcluster.Cluster, master string) (int64, error) {
	if _, err := get(ctx, c, master, "/debug/pprof/heap?gc=1"); err != nil {
		return 0, err
	}
	values, err := metrics(ctx, c, master)
	return int64(values["go_memstats_heap_alloc_bytes"]), err
}

// profile writes a CPU profile of the leader into a file.
func profile(ctx context.Context, c *testcluster.Cluster, file string, d time.Duration) error {
	leader, err := c.AwaitLeader(ctx)
	if err != nil {
		return err
	}
	body, err := get(ctx, c, leader, fmt.Sprintf("/debug/pprof/profile?seconds=%d", max(1, int(d.Seconds()))))
	if err != nil {
		return err
	}
	return os.WriteFile(file, body, 0o666)
}
