package mr

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/conf/fsconf"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
)

func TestConfirm(t *testing.T) {
	for answer, want := range map[string]bool{"y\n": true, " Yes\n": true, "n\n": false, "\n": false, "": false, "no, yes\n": false} {
		var out strings.Builder
		if got := confirm(&out, strings.NewReader(answer), nil, "Kill? "); got != want || out.String() != "Kill? " {
			t.Errorf("answer %q: %v, shown %q", answer, got, out.String())
		}
	}
}

func TestSecondCtrlCIsNoAnswer(t *testing.T) {
	in, keyboard := io.Pipe()
	defer keyboard.Close() // ends the pending read of a line
	again := make(chan os.Signal, 1)
	again <- os.Interrupt
	if confirm(io.Discard, in, again, "Kill? ") {
		t.Error("confirmed")
	}
}

func TestNamesMeanTheSameEverywhere(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	c, err := conf.FromMap(nil)
	must.Do(t, err)
	router, err := fsconf.NewRouter(c, nil)
	must.Do(t, err)
	given := []string{"in", "/abs/*.txt", "file:///x", "s3://not/known"}
	spec := &wire.JobSpec{Inputs: given, Properties: map[string]string{conf.Files: "side, /etc/hosts#h"}}
	d := &Driver{files: router}
	must.Do(t, d.qualifyNames(context.Background(), spec))
	if want := []string{"file:" + dir + "/in", "file:/abs/*.txt", "file:/x", "s3://not/known"}; !slices.Equal(spec.Inputs, want) {
		t.Errorf("inputs are %q, want %q", spec.Inputs, want)
	}
	if got, want := spec.Properties[conf.Files], "file:"+dir+"/side#side,file:/etc/hosts#h"; got != want {
		t.Errorf("side files are %q, want %q", got, want)
	}
	if given[0] != "in" {
		t.Error("the caller's list is changed")
	}
}
