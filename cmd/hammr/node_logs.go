package main

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/rpc"
)

// This file is about logs of attempts that run: how a tasknode's page shows
// them, and how a client reads them there. They are asked for with
//
//	GET /logs/ATTEMPT/STREAM
//
// and the cluster's token; the answer is the text so far.

// logStreams are what an attempt prints to.
var logStreams = []string{"stdout", "stderr"}

// maxLogBytes bounds an answer: of a longer log it is the end.
const maxLogBytes = 16 << 20

// nodeLogs answers for the logs below the directories of tasks.
type nodeLogs struct {
	dirs  []string
	token string
}

// ServeHTTP implements http.Handler.
func (l *nodeLogs) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ours, theirs := sha256.Sum256([]byte(l.token)), sha256.Sum256([]byte(rpc.Token(r.Header)))
	if subtle.ConstantTimeCompare(ours[:], theirs[:]) == 0 {
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "the token is not the cluster's", http.StatusUnauthorized)
		return
	}
	file, err := l.open(r.PathValue("attempt"), r.PathValue("stream"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer file.Close() // it is only read
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	sendEnd(w, file)
}

// open opens the log in whichever directory has it.
func (l *nodeLogs) open(attempt, stream string) (*os.File, error) {
	id, err := cluster.ParseAttemptID(attempt)
	if err != nil || !slices.Contains(logStreams, stream) {
		return nil, fmt.Errorf("%s of %s: %w", stream, attempt, fs.ErrNotExist)
	}
	for _, dir := range l.dirs {
		root, openErr := os.OpenRoot(dir)
		if openErr != nil {
			err = errors.Join(err, openErr)
			continue
		}
		file, openErr := root.Open(id.Task.Job.String() + "/logs/" + attempt + "/" + stream)
		root.Close() // what is open below it stays open
		if openErr == nil {
			return file, nil
		}
		err = errors.Join(err, openErr)
	}
	return nil, err
}

// sendEnd sends the last bytes of a log that grows meanwhile.
func sendEnd(w io.Writer, file *os.File) {
	info, err := file.Stat()
	if err == nil && info.Size() > maxLogBytes {
		left := info.Size() - maxLogBytes
		fmt.Fprintf(w, "[… %d bytes are left out here …]\n", left)
		_, err = file.Seek(left, io.SeekStart)
	}
	if err == nil {
		_, _ = io.CopyN(w, file, maxLogBytes) // a client that is gone asks no more
	}
}

// fetchLog reads a log of an attempt from the page of its tasknode. One that is
// not there wraps fs.ErrNotExist.
func fetchLog(ctx context.Context, f clusterFlags, page, attempt, stream string) (string, error) {
	masters, err := rpc.ParseMasters(f.masters)
	if err != nil {
		return "", err
	}
	token, id, err := rpc.FindToken(f.tokenFile, masters)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+page+"/logs/"+attempt+"/"+stream, nil)
	if err != nil {
		return "", err
	}
	rpc.SetHeaders(request.Header, token, id)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(request)
	if err != nil {
		return "", fmt.Errorf("the tasknode's page: %w", err)
	}
	defer answer.Body.Close() // it was only read
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
