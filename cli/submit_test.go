package cli

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// copyOf writes a changed copy of this test's program.
func copyOf(t *testing.T, change func(image []byte) []byte) string {
	t.Helper()
	self, err := os.Executable()
	must.Do(t, err)
	image, err := os.ReadFile(self)
	must.Do(t, err)
	return writeProgram(t, change(image))
}

func writeProgram(t *testing.T, image []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	must.Do(t, os.WriteFile(path, image, 0o755))
	return path
}

// set16 writes a 16-bit number into the header of an image.
func set16(offset int, n uint16) func([]byte) []byte {
	return func(image []byte) []byte {
		binary.LittleEndian.PutUint16(image[offset:], n)
		return image
	}
}

const (
	typeOffset    = 16
	machineOffset = 18
)

func TestNonProgramsAreRefused(t *testing.T) {
	other, arch := elf.EM_AARCH64, "arm64"
	if runtime.GOARCH == arch {
		other, arch = elf.EM_X86_64, "amd64"
	}
	notExecutable := writeProgram(t, []byte("#!/bin/sh\n"))
	must.Do(t, os.Chmod(notExecutable, 0o644))
	whole := func(image []byte) []byte { return image }
	for want, path := range map[string]string{
		"no such file":   "/no/such",
		"a directory":    t.TempDir(),
		"not executable": notExecutable,
		"neither a program nor a script: it has 2 bytes":                            writeProgram(t, []byte("hi")),
		"neither a program for Linux nor a script; build it with GOOS=linux GOARCH": writeProgram(t, []byte("MZ\x90\x00\x03")),
		"a damaged program": writeProgram(t, []byte(elf.ELFMAG+"and no more")),
		"a program for " + arch + ", and this machine is " + runtime.GOARCH: copyOf(t, set16(machineOffset, uint16(other))),
		"a program for sparcv9":                  copyOf(t, set16(machineOffset, uint16(elf.EM_SPARCV9))),
		"no program but a file of type ET_REL":   copyOf(t, set16(typeOffset, uint16(elf.ET_REL))),
		"a file of type ET_CORE":                 copyOf(t, set16(typeOffset, uint16(elf.ET_CORE))),
		"":                                       copyOf(t, whole),
		"since it is not one of Go; 'hammr new'": systemProgram(t),
		"is not built with " + modulePath:        goProgram(t),
	} {
		err := checkProgram(path)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
		if err != nil && !strings.Contains(err.Error(), path) {
			t.Errorf("the error does not name %s: %v", path, err)
		}
	}
	if err := checkProgram(writeProgram(t, []byte("#!/bin/sh\nexec wordcount \"$@\"\n"))); err != nil {
		t.Errorf("a script: %v", err)
	}
}

// systemProgram returns a program that is not written in Go.
func systemProgram(t *testing.T) string {
	t.Helper()
	path, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil {
		t.Skip(err)
	}
	return path
}

// goProgram returns a Go program without Hammr.
func goProgram(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("gofmt")
	if err != nil {
		t.Skip(err)
	}
	return path
}

// TestSubmitRunsPrograms runs scripts in place of programs; they print their arguments.
func TestSubmitRunsPrograms(t *testing.T) {
	script := func(text string) string { return writeProgram(t, []byte("#!/bin/sh\n"+text)) }
	t.Setenv("HAMMR_MASTER", "")
	for _, c := range []struct {
		args           string
		code           int
		stdout, stderr string
	}{
		{script("echo \"$@\" >&2; echo starting; echo job_1_0001") + " --master a,b in out", exitDone, "starting\njob_1_0001\n", "--detach --master a,b in out\n"},
		{"--master a " + script("echo job_1_12345 $@") + " in", exitFailed, "job_1_12345 --detach --master a in\n", "ended without handing in a job; a Hammr program"},
		{script("exit 0") + " --master=a", exitFailed, "", "ended without handing in a job"},
		{script("exit 5") + " --master=a", 5, "", "handed in no job and ended with exit code 5\n"},
		{script("kill -9 $$") + " --master=a", exitFailed, "", "handed in no job and was ended: signal: killed"},
		{script("echo usage") + " -h", exitDone, "usage\n", ""},
		{script("true") + " in out", exitUsage, "", "no cluster is named; give --master"},
		{script("true") + " --master local in out", exitUsage, "", "no cluster is named"},
		{script("true") + " -- --master a", exitUsage, "", "no cluster is named"},
		{"--master a", exitUsage, "", "a program is missing"},
		{"--master a nosuch in", exitFailed, "", "nosuch: neither a file nor a bundled program"},
		{"--master a ./nosuch in", exitFailed, "", "./nosuch: no such file"},
		{"--help", exitDone, "hammr submit ./mywords", ""},
	} {
		code, stdout, stderr := call(append([]string{"submit"}, strings.Fields(c.args)...)...)
		if code != c.code || !strings.Contains(stdout, c.stdout) || !strings.Contains(stderr, c.stderr) {
			t.Errorf("hammr submit %s: exit code %d, want %d\nstdout: %s\nstderr: %s", c.args, code, c.code, stdout, stderr)
		}
	}
}
