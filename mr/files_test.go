package mr_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

// replacing is a job whose input lines are file names. It replaces each file by its content
// in reverse order.
var replacing = mr.MapOnly("replacing", mr.TextStrings(),
	mr.MapFunc(func(t *mr.Task, _ int64, name string, _ mr.Emitter[string, string]) error {
		f, err := t.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		content, err := io.ReadAll(f)
		if err != nil {
			return err
		}
		if w, err := t.Create(name); err == nil {
			t.Log().Error("Create has taken a name that exists")
			return w.Abort()
		}
		if err := t.Remove(name); err != nil {
			return err
		}
		w, err := t.Create(name)
		if err != nil {
			return err
		}
		for i := range content {
			if _, err := w.Write(content[len(content)-1-i:][:1]); err != nil {
				return err
			}
		}
		return w.Close()
	}), mr.NullOutput[string, string]())

// TestFilesOfTasksAndDrivers lets a driver write a list of files and tasks replace them. The
// counters include what the tasks read and write.
func TestFilesOfTasksAndDrivers(t *testing.T) {
	dir := inputDir(t, "abc", "de")
	var counted mr.Counters
	program := &mr.Program{Name: "replace", Jobs: []mr.Runnable{replacing}, Run: func(ctx context.Context, d *mr.Driver) error {
		list := filepath.Join(dir, "list")
		w, err := d.Create(ctx, list)
		if err != nil {
			return err
		}
		for _, name := range []string{"in-0", "in-1"} {
			fsys, path, err := d.Resolve(ctx, "file:"+dir+"/./"+name)
			if err != nil {
				return err
			}
			if _, err := io.WriteString(w, fsys.URI()+path+"\n"); err != nil {
				return err
			}
		}
		if err := w.Close(); err != nil {
			return err
		}
		if _, err := d.Create(ctx, list); err == nil {
			t.Error("Create has taken a name that exists")
		}
		counted, err = d.RunCounted(ctx, replacing, mr.JobRun{In: []string{list}})
		return err
	}}
	if got := mrtest.Exec(t, program); got.Code != mr.ExitDone {
		t.Fatal(got.Stderr)
	}
	for name, want := range map[string]string{"in-0": "cba", "in-1": "ed"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
	counts := counted["File System Counters"]
	if list := int64(len(dir+"/in-0")*2 + 2*len("file://") + 2); counts["FILE: Number of bytes written"] != 5 || counts["FILE: Number of bytes read"] != 5+list {
		t.Errorf("counted %v, want 5 bytes written and %d read", counts, 5+list)
	}
}

func TestFilesThatTasksCannotHave(t *testing.T) {
	for name, use := range map[string]func(t *mr.Task, name string) error{
		"open":   func(t *mr.Task, name string) error { _, err := t.Open(name); return err },
		"create": func(t *mr.Task, name string) error { _, err := t.Create(name); return err },
		"remove": (*mr.Task).Remove,
	} {
		job := mr.MapOnly(name, mr.TextStrings(), mr.MapFunc(func(t *mr.Task, _ int64, name string, _ mr.Emitter[string, string]) error {
			return use(t, name)
		}), mr.NullOutput[string, string]())
		program := &mr.Program{Name: name, Jobs: []mr.Runnable{job}, Run: func(ctx context.Context, d *mr.Driver) error {
			return d.Run(ctx, job, mr.JobRun{In: d.Args})
		}}
		got := mrtest.Exec(t, program, once(mrtest.File(t, "list", "nosuch:/x\n"))...)
		if got.Code != mr.ExitFailed || !strings.Contains(got.Stderr, `no file system for scheme "nosuch"`) {
			t.Errorf("%s: exit code %d\n%s", name, got.Code, got.Stderr)
		}
	}
}
