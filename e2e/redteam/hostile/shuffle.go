package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/hammr/hammr/internal/data/taskdir"
	"github.com/hammr/hammr/internal/rpc/taskproc"
)

// publishesFIFO finishes with an output whose index is a FIFO that has no writer.
func publishesFIFO(t *task) error {
	return publishes(t, func(index string) error { return syscall.Mkfifo(index, 0o644) })
}

// publishesDevice finishes with an output whose index is a link to an endless device.
func publishesDevice(t *task) error {
	return publishes(t, func(index string) error { return os.Symlink("/dev/zero", index) })
}

// publishes finishes with an output. A second map of the job waits, so that the job keeps it.
func publishes(t *task, makeIndex func(string) error) error {
	if t.Task != 0 {
		return waits(t)
	}
	data := filepath.Join(t.LocalDir, "file.out")
	if err := errors.Join(os.WriteFile(data, []byte("data"), 0o644), makeIndex(data+".index")); err != nil {
		return err
	}
	return finishes(new(taskproc.MapOutput))(t)
}

// readsIndex is the reduce of such a job: it requests the index and fails with the answer.
func readsIndex(t *task) error {
	for {
		m, err := t.end.Receive()
		if err != nil || m.GetKill() != nil {
			return err
		}
		for _, o := range m.GetOutputs().GetOutputs() {
			return errors.New(t.get("index of a map", o.Address, "/shuffle/"+path.Join(t.JobId, o.Attempt, "file.out.index")))
		}
	}
}

// readsOtherJobs requests files, logs and streams of another job, with the token of its own
// job, and fails with the answers.
func readsOtherJobs(t *task) error {
	address, other := t.property("address"), t.property("other")
	job, attempt := path.Base(taskdir.JobDir(path.Dir(other))), path.Base(path.Dir(other))
	link := filepath.Join(t.LocalDir, "link")
	err := errors.Join(os.Symlink(other, link), os.Symlink(filepath.Dir(other), link+"ed"))
	if err != nil {
		return err
	}
	own := "/shuffle/" + path.Join(t.JobId, t.AttemptId)
	return errors.New(strings.Join([]string{
		t.get("segment of another job", address, "/shuffle/"+path.Join(job, attempt, path.Base(other))),
		t.get("checksum of another job", address, "/shuffle/"+path.Join(job, attempt, path.Base(other))+"?verify=true"),
		t.get("stream of another job", address, "/channel/"+job+"/0/0/1/0/0/0?wait=0s"),
		t.get("log of another job", address, "/logs/"+attempt+"/stdout"),
		t.get("job above", address, own+"/../../"+path.Join(job, attempt, path.Base(other))),
		t.get("link to another job", t.ShuffleAddress, own+"/link"),
		t.get("link to a directory", t.ShuffleAddress, own+"/linked/"+path.Base(other)),
		t.get("logs of the own job", t.ShuffleAddress, "/shuffle/"+t.JobId+"/logs/stdout"),
	}, "\n"))
}

// get sends a request with the token of the job, and returns the answer on one line.
func (t *task) get(what, address, url string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+url, nil)
	if err != nil {
		return fmt.Sprintf("%s: %v", what, err)
	}
	r.Header.Set("Authorization", "Bearer "+t.ShuffleToken)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return fmt.Sprintf("%s: %v", what, err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 300)) // an error shortens the text
	return fmt.Sprintf("%s: %d %s", what, answer.StatusCode, bytes.TrimSpace(text))
}
