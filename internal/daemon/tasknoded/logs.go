package tasknoded

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path"
	"slices"
	"strconv"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/data/taskdir"
	"github.com/hammr/hammr/internal/logs/nodelog"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/audit"
)

// Logs of attempts are on the page of their tasknode until they are aggregated:
//
//	GET /logs/ATTEMPT/STREAM    the text that the log has so far, at most nodelog.MaxBytes
//	    ?from=N&max=N           a part of it; see nodelog.Range and the headers there
//
// with the cluster's token. logHandler serves the requests; package nodelog sends them.

// logHandler serves the logs in the directories of tasks.
//
// It serves logs of running attempts, and logs of ended attempts until their job is removed.
// It does not serve aggregated logs.
type logHandler struct {
	dirs   []string
	token  string
	logger *slog.Logger // has a line of package audit for each read; of repeated ones, one a minute
	reads  audit.Reads
}

// ServeHTTP implements http.Handler.
func (h *logHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	record := audit.Record{
		Who: rpc.UserOf(r.Header), From: r.RemoteAddr, Call: "ReadLog", Object: r.PathValue("attempt") + "/" + r.PathValue("stream"), Result: audit.Allowed,
	}
	authorized := rpc.Authorized(r, h.token)
	if !authorized {
		record.Who, record.Object, record.Result, record.Err = rpc.UnknownUser, "", "", errors.New("the token is not the cluster's")
	}
	if h.reads.First(&record, time.Now()) {
		record.Log(h.logger)
	}
	if !authorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "the token is not the cluster's", http.StatusUnauthorized)
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
	part, err := nodelog.ParseRange(r.URL.Query())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	sendPart(w, file, part)
}

// sendPart sends a part of a log, which may grow during the call.
func sendPart(w http.ResponseWriter, file *os.File, r nodelog.Range) {
	info, err := file.Stat()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	offset, length := r.In(info.Size())
	w.Header().Set(nodelog.HeaderOffset, strconv.FormatInt(offset, 10))
	w.Header().Set(nodelog.HeaderSize, strconv.FormatInt(info.Size(), 10))
	_, _ = io.Copy(w, io.NewSectionReader(file, offset, length)) // the client may have disconnected
}

// open opens the log in the directory that contains it. The request chooses the names, so
// os.Root makes sure that the file is inside the directory.
func (h *logHandler) open(attempt, stream string) (*os.File, error) {
	id, err := cluster.ParseAttemptID(attempt)
	if err != nil || !slices.Contains(nodelog.Streams, stream) {
		return nil, fmt.Errorf("%s of %s: %w", stream, attempt, fs.ErrNotExist)
	}
	for _, dir := range h.dirs {
		root, openErr := os.OpenRoot(dir)
		if openErr != nil {
			err = errors.Join(err, openErr)
			continue
		}
		file, openErr := root.Open(path.Join(id.Task.Job.String(), taskdir.Logs, taskdir.InJob(attempt), stream))
		root.Close() // the file stays open
		if openErr == nil {
			return file, nil
		}
		err = errors.Join(err, openErr)
	}
	return nil, err
}
