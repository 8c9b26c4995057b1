package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/ops/minihdfs"
	"github.com/hammr/hammr/internal/testing/must"
)

// web reads and writes the cluster's files over WebHDFS.
type web struct {
	t      *testing.T
	c      *minihdfs.Cluster
	client http.Client
}

// entry is a file or directory as WebHDFS lists it.
type entry struct {
	PathSuffix  string `json:"pathSuffix"`
	Type        string `json:"type"`
	Length      int64  `json:"length"`
	BlockSize   int64  `json:"blockSize"`
	Replication int    `json:"replication"`
}

func newWeb(t *testing.T, c *minihdfs.Cluster) *web {
	return &web{t: t, c: c, client: http.Client{
		Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true},
	}}
}

// call makes one request; the answer must have the status, or any status if it is 0. If the
// NameNode was restarted, a DataNode reports once that its connection has ended; call then
// repeats the request.
func (w *web) call(method, address string, body []byte, status int) (int, []byte) {
	w.t.Helper()
	for try := 1; ; try++ {
		got, answer := w.callOnce(method, address, body)
		if try < 4 && got == http.StatusForbidden && bytes.Contains(answer, []byte("EOFException")) {
			continue
		}
		if status != 0 && got != status {
			w.t.Fatalf("%s %s: status %d: %s", method, address, got, answer)
		}
		return got, answer
	}
}

func (w *web) callOnce(method, address string, body []byte) (status int, answer []byte) {
	w.t.Helper()
	request, err := http.NewRequest(method, address, bytes.NewReader(body))
	must.Do(w.t, err)
	response, err := w.client.Do(request)
	must.Do(w.t, err)
	defer response.Body.Close()
	answer, err = io.ReadAll(response.Body)
	must.Do(w.t, err)
	return response.StatusCode, answer
}

func (w *web) address(name, op string, params ...string) string {
	address := fmt.Sprintf("http://%s/webhdfs/v1%s?op=%s&user.name=tester", w.c.HTTP(), (&url.URL{Path: name}).EscapedPath(), op)
	return strings.Join(append([]string{address}, params...), "&")
}

// put writes a file.
func (w *web) put(name string, content []byte, params ...string) {
	w.t.Helper()
	_, answer := w.call(http.MethodPut, w.address(name, "CREATE", append(params, "noredirect=true", "overwrite=true")...), nil, http.StatusOK)
	var to struct{ Location string }
	must.Do(w.t, json.Unmarshal(answer, &to))
	w.call(http.MethodPut, to.Location, content, http.StatusCreated)
}

// replicated waits until every block of a file has the given number of copies: a DataNode that
// is slow while the file is written is left out, and gets its copy later.
func (w *web) replicated(name string, copies int) {
	w.t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		least := copies
		for _, block := range w.blockHosts(name) {
			least = min(least, len(block))
		}
		if least == copies {
			return
		}
		select {
		case <-tick.C:
		case <-w.t.Context().Done():
			w.t.Fatalf("%s: a block has %d copies, not %d", name, least, copies)
		}
	}
}

// blockHosts returns the DataNodes that have each block of a file.
func (w *web) blockHosts(name string) (hosts [][]string) {
	w.t.Helper()
	_, answer := w.call(http.MethodGet, w.address(name, "GETFILEBLOCKLOCATIONS"), nil, http.StatusOK)
	var list struct {
		BlockLocations struct {
			BlockLocation []struct {
				Names []string `json:"names"`
			}
		}
	}
	must.Do(w.t, json.Unmarshal(answer, &list))
	for _, b := range list.BlockLocations.BlockLocation {
		hosts = append(hosts, b.Names)
	}
	if len(hosts) == 0 {
		w.t.Fatalf("%s has no blocks: %s", name, answer)
	}
	return hosts
}

// blockNames returns the names of the files that DataNodes have of the blocks of a file.
func (w *web) blockNames(name string) (names []string) {
	w.t.Helper()
	_, answer := w.call(http.MethodGet, w.address(name, "GET_BLOCK_LOCATIONS"), nil, http.StatusOK)
	var file struct {
		LocatedBlocks struct {
			LocatedBlocks []struct {
				Block struct{ BlockID int64 }
			}
		}
	}
	must.Do(w.t, json.Unmarshal(answer, &file))
	for _, b := range file.LocatedBlocks.LocatedBlocks {
		names = append(names, fmt.Sprint("blk_", b.Block.BlockID))
	}
	return names
}

func (w *web) read(name string) []byte {
	w.t.Helper()
	_, content := w.call(http.MethodGet, w.address(name, "OPEN"), nil, http.StatusOK)
	return content
}

// list lists a directory; it returns nil if there is none.
func (w *web) list(dir string) []entry {
	w.t.Helper()
	status, answer := w.call(http.MethodGet, w.address(dir, "LISTSTATUS"), nil, 0)
	if status == http.StatusNotFound {
		return nil
	}
	var list struct {
		FileStatuses struct{ FileStatus []entry }
	}
	must.Do(w.t, json.Unmarshal(answer, &list))
	return list.FileStatuses.FileStatus
}

// names returns the names of the entries of a directory.
func (w *web) names(dir string) []string {
	w.t.Helper()
	var names []string
	for _, e := range w.list(dir) {
		names = append(names, e.PathSuffix)
	}
	slices.Sort(names)
	return names
}

func (w *web) remove(name string) {
	w.t.Helper()
	w.call(http.MethodDelete, w.address(name, "DELETE", "recursive=true"), nil, http.StatusOK)
}

// parts reads the files of a complete output in the order of their names. There must be
// exactly n of them, not counting _SUCCESS.
func (w *web) parts(dir string, n int) []byte {
	w.t.Helper()
	names := w.names(dir)
	if !slices.Equal(names, partNames(n)) {
		w.t.Fatalf("%s holds %v, want %v", dir, names, partNames(n))
	}
	var content []byte
	for _, name := range names[1:] {
		content = append(content, w.read(path.Join(dir, name))...)
	}
	return content
}

// nothingWhole checks that an output directory contains nothing that looks like a result: no
// _SUCCESS, and no file without a leading _ or dot.
func (w *web) nothingWhole(dir string) {
	w.t.Helper()
	for _, name := range w.names(dir) {
		if name == "_SUCCESS" || !strings.HasPrefix(name, "_") && !strings.HasPrefix(name, ".") {
			w.t.Errorf("%s holds %s after a failure", dir, name)
		}
	}
}

// nothing checks that a directory does not exist.
func (w *web) nothing(dir string) {
	w.t.Helper()
	if names := w.names(path.Dir(dir)); slices.Contains(names, path.Base(dir)) {
		w.t.Errorf("%s is there, with %v", dir, w.names(dir))
	}
}

var directories atomic.Int32

// dir makes a directory for the test.
func (w *web) dir() string {
	w.t.Helper()
	dir := fmt.Sprintf("/e2e/%d", directories.Add(1))
	w.call(http.MethodPut, w.address(dir, "MKDIRS"), nil, http.StatusOK)
	return dir
}
