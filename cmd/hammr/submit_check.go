package main

import (
	"bytes"
	"debug/buildinfo"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
)

// modulePath is the module that every Hammr program is built with.
const modulePath = "github.com/hammr/hammr"

// checkProgram refuses a file that cannot be a Hammr program for this machine, before it
// runs. A script is accepted: only running it shows what it is.
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

// checkELF refuses a program for another architecture, and one that is not built with Hammr.
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

// withHammr reports whether a program may be built with Hammr. Some builds do not record
// their modules; those are accepted.
func withHammr(built *debug.BuildInfo) bool {
	if built.Main.Path == modulePath || built.Path == "" {
		return true
	}
	for _, d := range built.Deps {
		if d.Path == modulePath {
			return true
		}
	}
	return false
}

// archOf is the architecture of an image, by Go's name if it has one.
func archOf(image *elf.File) string {
	little := image.ByteOrder.String() == "LittleEndian"
	switch image.Machine {
	case elf.EM_X86_64:
		return "amd64"
	case elf.EM_AARCH64:
		return "arm64"
	case elf.EM_386:
		return "386"
	case elf.EM_ARM:
		return "arm"
	case elf.EM_RISCV:
		return "riscv64"
	case elf.EM_S390:
		return "s390x"
	case elf.EM_LOONGARCH:
		return "loong64"
	case elf.EM_PPC64:
		if little {
			return "ppc64le"
		}
		return "ppc64"
	}
	return strings.ToLower(strings.TrimPrefix(image.Machine.String(), "EM_"))
}
