package tasknoded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/taskdir"
)

// Logs of attempts are on the page of their tasknode until they are aggregated:
//
//	GET /logs/ATTEMPT/STREAM    the text that the log has so far
//	GET /logs/JOB               a line ATTEMPT/STREAM for each log of a job
//
// with the cluster's token. logHandler serves the requests, FetchLog and FetchLogNames send
// them.

// LogStreams are the output streams of an attempt's process.
var LogStreams = []string{"stdout", "stderr"}

// maxLogBytes bounds an answer. If a log is longer, the answer is its end.
const maxLogBytes = 16 << 20

// logHandler serves the logs in the directories of tasks.
//
// It serves logs of running attempts, and logs of ended attempts until their job is removed.
// It does not serve aggregated logs.
type logHandler struct {
	dirs  []string
	token string
}

// ServeHTTP implements http.Handler.
func (h *logHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !rpc.Authorized(r.Header, h.token) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "the token is not the cluster's", http.StatusUnauthorized)
		return
	}
	if job := r.PathValue("job"); job != "" {
		h.list(w, job)
		return
	}
	file, err := h.open(r.PathValue("attempt"), r.PathValue("stream"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer file.Close() // the file was only read
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	sendEnd(w, file)
}

// open opens the log in the directory that contains it. The request chooses the names, so
// os.Root makes sure that the file is inside the directory.
func (h *logHandler) open(attempt, stream string) (*os.File, error) {
	id, err := cluster.ParseAttemptID(attempt)
	if err != nil || !slices.Contains(LogStreams, stream) {
		return nil, fmt.Errorf("%s of %s: %w", stream, attempt, fs.ErrNotExist)
	}
	for _, dir := range h.dirs {
		root, openErr := os.OpenRoot(dir)
		if openErr != nil {
			err = errors.Join(err, openErr)
			continue
		}
		file, openErr := openLog(root, id, stream)
		root.Close() // the file stays open
		if openErr == nil {
			return file, nil
		}
		err = errors.Join(err, openErr)
	}
	return nil, err
}

// openLog opens a log in a local directory, in the layout of this version or of older ones.
func openLog(root *os.Root, id cluster.AttemptID, stream string) (*os.File, error) {
	var errs []error
	for _, place := range taskdir.Places(id.String()) {
		file, err := root.Open(path.Join(id.Task.Job.String(), taskdir.Logs, place, stream))
		if err == nil {
			return file, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// list sends the names of the logs of a job, as many as an answer may have.
func (h *logHandler) list(w http.ResponseWriter, job string) {
	id, err := cluster.ParseJobID(job)
	if err != nil {
		http.Error(w, fs.ErrNotExist.Error(), http.StatusNotFound)
		return
	}
	var names strings.Builder
	for _, dir := range h.dirs {
		root, err := os.OpenRoot(dir)
		if err != nil {
			continue // the other directories may have logs
		}
		listLogs(&names, root.FS(), path.Join(id.String(), taskdir.Logs))
		root.Close() // it was only read
	}
	if names.Len() == 0 {
		http.Error(w, fs.ErrNotExist.Error(), http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, names.String()) // the client may have disconnected
}

// listLogs adds a line for each log that is not empty, in the directory and in its shards.
func listLogs(names *strings.Builder, dir fs.FS, logs string) {
	attempts, _ := fs.ReadDir(dir, logs) // a job without logs has no directory
	for _, a := range attempts {
		if taskdir.IsShard(a.Name()) {
			listLogs(names, dir, path.Join(logs, a.Name()))
			continue
		}
		for _, stream := range LogStreams {
			info, err := fs.Stat(dir, logs+"/"+a.Name()+"/"+stream)
			if err == nil && info.Size() > 0 && names.Len() < maxLogBytes {
				names.WriteString(a.Name() + "/" + stream + "\n")
			}
		}
	}
}

// sendEnd sends the last bytes of a log, which may grow during the call.
func sendEnd(w io.Writer, file *os.File) {
	info, err := file.Stat()
	if err == nil && info.Size() > maxLogBytes {
		skipped := info.Size() - maxLogBytes
		fmt.Fprintf(w, "[… %d bytes are left out here …]\n", skipped)
		_, err = file.Seek(skipped, io.SeekStart)
	}
	if err == nil {
		_, _ = io.CopyN(w, file, maxLogBytes) // the client may have disconnected
	}
}

// FetchLog reads a log of an attempt from a tasknode's page at host:port. clusterID may be
// "". If there is no such log, the error wraps fs.ErrNotExist.
//
// It makes a connection for each call, because users read one log at a time.
func FetchLog(ctx context.Context, page, attempt, stream, token, clusterID string) (string, error) {
	return fetch(ctx, page, attempt+"/"+stream, token, clusterID)
}

// FetchLogNames returns ATTEMPT/STREAM of each log that a tasknode has of a job. If it has
// none, the error wraps fs.ErrNotExist.
func FetchLogNames(ctx context.Context, page, job, token, clusterID string) ([]string, error) {
	text, err := fetch(ctx, page, job, token, clusterID)
	return strings.Fields(text), err
}

// fetch sends a request to a tasknode's page.
func fetch(ctx context.Context, page, name, token, clusterID string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+page+"/logs/"+name, nil)
	if err != nil {
		return "", err
	}
	rpc.SetHeaders(request.Header, token, clusterID)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(request)
	if err != nil {
		return "", fmt.Errorf("the tasknode's page: %w", err)
	}
	defer answer.Body.Close() // the answer was only read
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxLogBytes+1<<10))
	switch {
	case err != nil:
		return "", fmt.Errorf("the tasknode's page: %w", err)
	case answer.StatusCode == http.StatusNotFound:
		return "", fs.ErrNotExist
	case answer.StatusCode != http.StatusOK:
		return "", fmt.Errorf("the tasknode's page at %s: %s: %.200s", page, answer.Status, text)
	}
	return string(text), nil
}
