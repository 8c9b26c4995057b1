package transfer

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hammr/hammr/internal/data/taskdir"
	"github.com/hammr/hammr/internal/testing/must"
)

const otherJob = "job_1_0002"

// TestTokenOpensOneJobOnly checks that the token of a job opens neither files nor streams of
// another job, and that the key itself opens nothing.
func TestTokenOpensOneJobOnly(t *testing.T) {
	n := newTestMachine(t, ServerConfig{})
	o := n.write(t, rand.New(rand.NewPCG(1, 1)), 0, 100, 1).at("h:1").Output
	stream := streamID(1, 2).url("h:1", 0)
	for _, url := range []string{o.indexURL(), o.runURL(0, 0), o.verifyURL(0, 0), stream} {
		for name, shown := range map[string]string{
			"another job": JobToken(testKey, otherJob), "the key": testKey, "no job": JobToken(testKey, ""),
		} {
			if w := ask(n.server, url, "Authorization", "Bearer "+shown); w.Code != http.StatusUnauthorized {
				t.Errorf("%s with the token of %s: %d %s", url, name, w.Code, w.Body)
			}
		}
	}
	if w := ask(n.server, o.indexURL()); w.Code != http.StatusOK {
		t.Errorf("with the job's own token: %d %s", w.Code, w.Body)
	}
	// A path that names two jobs needs the token of the job whose files it leads to.
	for _, path := range []string{"/shuffle/" + testJob + "/../" + otherJob + "/x", "/shuffle//" + testJob, "/channel/"} {
		if w := ask(n.server, "http://h"+path); w.Code == http.StatusOK {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

// TestServerStaysInTheJob checks that a job's token opens files in directories of its attempts
// only: no logs, no files of another job, and nothing but regular files.
func TestServerStaysInTheJob(t *testing.T) {
	n := newTestMachine(t, ServerConfig{})
	o := n.write(t, rand.New(rand.NewPCG(1, 1)), 0, 100, 1).at("h:1").Output
	job := filepath.Join(n.dirs[0], testJob)
	attempt := filepath.Join(job, taskdir.InJob(o.Attempt))
	other := filepath.Join(n.dirs[0], otherJob, taskdir.InJob("attempt_1_0002_m_000000_0"))
	logs := taskdir.LogDir(attempt)
	for _, dir := range []string{other, logs} {
		must.Do(t, errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(dir+"/stdout", []byte("hidden"), 0o600)))
	}
	must.Do(t, errors.Join(
		os.Symlink("../../../"+otherJob+"/m_000000/"+filepath.Base(other)+"/stdout", attempt+"/relative"),
		os.Symlink(other+"/stdout", attempt+"/absolute"),
		os.Symlink("../../"+otherJob+"/m_000000/"+filepath.Base(other), job+"/m_000000/attempt_1_0001_m_000009_0"),
		os.Symlink("../"+otherJob+"/m_000000/"+filepath.Base(other), job+"/attempt_1_0001_m_000010_0"),
		os.Symlink("../"+otherJob+"/m_000000", job+"/m_001000"),
		os.Symlink(otherJob, filepath.Join(n.dirs[0], "job_1_0003")),
		syscall.Mkfifo(attempt+"/fifo", 0o600),
	))
	for path, want := range map[string]int{
		testJob + "/" + o.Attempt + "/relative":          http.StatusInternalServerError,
		testJob + "/" + o.Attempt + "/absolute":          http.StatusInternalServerError,
		testJob + "/attempt_1_0001_m_000009_0/stdout":    http.StatusInternalServerError,
		testJob + "/attempt_1_0001_m_000010_0/stdout":    http.StatusNotFound, // it is in no shard
		testJob + "/attempt_1_0001_m_001000_0/stdout":    http.StatusInternalServerError,
		testJob + "/m_000000/" + o.Attempt + "/map.out":  http.StatusBadRequest,
		testJob + "/" + o.Attempt + "/fifo":              http.StatusForbidden,
		testJob + "/logs/" + o.Attempt + "/stdout":       http.StatusBadRequest,
		testJob + "/" + filepath.Base(other) + "/stdout": http.StatusBadRequest,
		"job_1_0003/attempt_1_0003_m_000000_0/stdout":    http.StatusNotFound,
		"job_1_0003/" + filepath.Base(other) + "/stdout": http.StatusBadRequest,
	} {
		name, _, _ := strings.Cut(path, "/")
		w := ask(n.server, "http://h"+Prefix+path, "Authorization", "Bearer "+JobToken(testKey, name))
		if w.Code != want || strings.Contains(w.Body.String(), "hidden") {
			t.Errorf("%s: %d %s, want %d", path, w.Code, w.Body, want)
		}
	}
}

// TestOpenDoesNotWaitForAFIFO opens a FIFO that replaces a file after it was looked at. An
// open that waits for a writer would never return.
func TestOpenDoesNotWaitForAFIFO(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
	root, err := os.OpenRoot(dir)
	must.Do(t, err)
	defer root.Close()
	file, _, err := openRegular(root, "fifo")
	if err == nil {
		file.Close()
		t.Fatal("a FIFO was opened")
	}
	if refused, ok := errors.AsType[*refusal](err); !ok || refused.status != http.StatusForbidden {
		t.Errorf("error %v", err)
	}
}

// TestStreamOfAnotherJob checks that a client with the token of another job gets neither end
// of a stream, and that the stream still joins its own ends.
func TestStreamOfAnotherJob(t *testing.T) {
	n := newTestMachine(t, ServerConfig{})
	address := listen(t, n.server)
	id := streamID(1, 2)
	thief := NewChannelClient(ChannelConfig{Token: JobToken(testKey, otherJob)})
	defer thief.Close()
	if in, err := thief.Receive(context.Background(), id, address, 0); err == nil {
		in.Close()
		t.Error("another job got the reader's end")
	}
	if out, err := thief.Send(context.Background(), id, address, 0); err == nil {
		if err := out.Close(); err == nil {
			t.Error("another job got the writer's end")
		}
	}
	if c := n.server.Counts(); c.Denied != 2 {
		t.Errorf("%d requests denied, want 2", c.Denied)
	}
}
