package cli

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"
)

// modulePath is the module that every Hammr program imports.
const modulePath = "github.com/hammr/hammr"

// programFile returns the path of a user's program, after checkProgram has accepted the
// file. A file in the current directory may be named without "./".
func programFile(name string) (string, error) {
	if _, err := os.Stat(name); err != nil {
		if strings.Contains(name, "/") {
			return "", err
		}
		return "", fmt.Errorf("%s: neither a file nor a bundled program; 'hammr run' lists those", name)
	}
	if !strings.Contains(name, "/") {
		name = "./" + name
	}
	return name, checkProgram(name)
}

// runFile runs a program with this process's standard input. When ctx ends, the program gets
// SIGTERM, and SIGKILL if it still runs after 20 s.
func runFile(ctx context.Context, path string, args []string, stdout, stderr io.Writer) error {
	program := exec.CommandContext(ctx, path, args...)
	program.Cancel = func() error { return program.Process.Signal(syscall.SIGTERM) }
	program.WaitDelay = 20 * time.Second
	program.Stdin, program.Stdout, program.Stderr = os.Stdin, stdout, stderr
	return program.Run()
}

// lineDetector forwards the output of a program and detects a line.
type lineDetector struct {
	to      io.Writer
	matches func(n int, line string) bool // n lines are before it; called with the first 100 bytes of the line
	line    []byte                        // output since the last line end
	lines   int
	found   bool
}

// Write implements io.Writer.
func (d *lineDetector) Write(p []byte) (int, error) {
	for _, b := range p {
		switch {
		case b == '\n':
			d.found = d.found || d.matches(d.lines, string(d.line))
			d.line = d.line[:0]
			d.lines++
		case len(d.line) < 100:
			d.line = append(d.line, b)
		}
	}
	return d.to.Write(p)
}

// endOf judges the end of a program. done reports whether the program did its work; err is
// the error of runFile. If the program failed, hammr exits with the program's exit code.
func endOf(path, doing, notDone string, done bool, err error, stderr io.Writer) error {
	var ended *exec.ExitError
	switch {
	case err == nil && done:
		return nil
	case err == nil:
		err = fmt.Errorf("%s ended without %s; a Hammr program ends its main with mr.Main", path, doing)
	case !errors.As(err, &ended):
		err = fmt.Errorf("%s %s and cannot be run: %w", path, notDone, err)
	case !ended.Exited():
		err = fmt.Errorf("%s %s and was ended: %w", path, notDone, err)
	default:
		fmt.Fprintf(stderr, "hammr: %s %s and ended with exit code %d\n", path, notDone, ended.ExitCode())
		return exitError(ended.ExitCode())
	}
	return runError{err}
}

// checkProgram rejects a file that cannot be a Hammr program for this machine, before it
// runs. Without the check, the error of a wrong file would come from the kernel or from
// another program. checkProgram accepts scripts, because only a run shows what they start.
func checkProgram(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s: a directory; name the file of a program", path)
	case info.Mode()&0o111 == 0:
		return fmt.Errorf("%s: not executable; build it with 'go build', or make it so with 'chmod +x'", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() // only read
	head := make([]byte, 4)
	n, err := io.ReadFull(f, head)
	switch head = head[:n]; {
	// A script may start a Hammr program, with arguments of its own.
	case bytes.HasPrefix(head, []byte("#!")):
		return nil
	case bytes.Equal(head, []byte(elf.ELFMAG)):
		err = checkELF(f)
	case err != nil:
		err = fmt.Errorf("neither a program nor a script: it has %d bytes", n)
	default:
		err = fmt.Errorf("neither a program for Linux nor a script; build it with GOOS=linux GOARCH=%s", runtime.GOARCH)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// checkELF rejects a program for another architecture, and a program that is not built with
// Hammr. A cluster would start such a program once for each task, and it would never answer.
func checkELF(f io.ReaderAt) error {
	image, err := elf.NewFile(f)
	if err != nil {
		return fmt.Errorf("a damaged program: %w", err)
	}
	if image.Type != elf.ET_EXEC && image.Type != elf.ET_DYN {
		return fmt.Errorf("no program but a file of type %v", image.Type)
	}
	if arch := archOf(image); arch != runtime.GOARCH {
		return fmt.Errorf("a program for %s, and this machine is %s; build it with GOARCH=%s", arch, runtime.GOARCH, runtime.GOARCH)
	}
	built, err := buildinfo.Read(f)
	if err != nil {
		return fmt.Errorf("not a Hammr program, since it is not one of Go; 'hammr new' begins one")
	}
	if !withHammr(built) {
		return fmt.Errorf("not a Hammr program: %s is not built with %s; 'hammr new' begins one", built.Path, modulePath)
	}
	return nil
}

// withHammr reports whether a program may be built with Hammr. Some builds, such as those
// without modules, do not record their dependencies; those are accepted.
func withHammr(built *debug.BuildInfo) bool {
	if built.Main.Path == modulePath || built.Path == "" {
		return true
	}
	return slices.ContainsFunc(built.Deps, func(d *debug.Module) bool { return d.Path == modulePath })
}

// architectures has Go's name for each architecture, without the order of bytes.
var architectures = map[elf.Machine]string{
	elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64", elf.EM_386: "386", elf.EM_ARM: "arm", elf.EM_RISCV: "riscv64",
	elf.EM_S390: "s390x", elf.EM_LOONGARCH: "loong64", elf.EM_PPC64: "ppc64",
}

// archOf returns the architecture of an image, by Go's name if it has one.
func archOf(image *elf.File) string {
	name, known := architectures[image.Machine]
	switch {
	case !known:
		return strings.ToLower(strings.TrimPrefix(image.Machine.String(), "EM_"))
	case name == "ppc64" && image.ByteOrder == binary.LittleEndian:
		return "ppc64le"
	}
	return name
}
