package process

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"syscall"
)

// explain converts the error of starting a program into an error that says what the user can
// do.
func (t *task) explain(err error) error {
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		return fmt.Errorf("program %s: %s: %w", t.binary, kindOf(t.path), err)
	case errors.Is(err, fs.ErrNotExist) && missingLoader(t.path) != "":
		return fmt.Errorf("program %s needs %s, which this machine does not have; build it with CGO_ENABLED=0: %w", t.binary, missingLoader(t.path), err)
	case errors.Is(err, fs.ErrPermission) && t.owner != nil:
		return fmt.Errorf("program %s: user %s may not run %s in %s: %w", t.binary, t.owner.name, t.path, t.dir, err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("program %s: %s may not be run; is its file system mounted noexec?: %w", t.binary, t.path, err)
	}
	return fmt.Errorf("program %s: %w", t.binary, err)
}

// platform is the platform of this machine.
const platform = runtime.GOOS + "/" + runtime.GOARCH

// kindOf describes a file that the kernel does not accept as a program.
func kindOf(path string) string {
	built := platformOf(path)
	if built == "" {
		return "not a program for " + platform
	}
	return fmt.Sprintf("built for %s, and this machine is %s; build it with GOOS=%s GOARCH=%s", built, platform, runtime.GOOS, runtime.GOARCH)
}

// architectures maps ELF's names of architectures to Go's.
var architectures = map[elf.Machine]string{
	elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64", elf.EM_386: "386", elf.EM_ARM: "arm", elf.EM_RISCV: "riscv64",
	elf.EM_PPC64: "ppc64", elf.EM_S390: "s390x", elf.EM_LOONGARCH: "loong64", elf.EM_MIPS: "mips",
}

// platformOf returns the platform for which a program is built, "" if the file is no
// program.
func platformOf(path string) string {
	if f, err := elf.Open(path); err == nil {
		defer f.Close()
		if name := architectures[f.Machine]; name != "" {
			return "linux/" + name
		}
		return f.Machine.String()
	}
	switch head := firstBytes(path); {
	case strings.HasPrefix(head, "MZ"):
		return "windows"
	case strings.HasPrefix(head, "\xcf\xfa\xed\xfe"), strings.HasPrefix(head, "\xca\xfe\xba\xbe"):
		return "darwin"
	}
	return ""
}

// firstBytes returns the first four bytes of a file, which identify many formats. If the
// file is shorter, it returns fewer bytes; if the file cannot be read, it returns "".
func firstBytes(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, 4)
	n, _ := io.ReadFull(f, head) // fewer bytes if the file is shorter
	return string(head[:n])
}

// missingLoader returns the dynamic loader that a program needs if this machine does not
// have it, otherwise "".
func missingLoader(path string) string {
	f, err := elf.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	section := f.Section(".interp")
	if section == nil || section.Size > 4096 {
		return ""
	}
	data, err := section.Data()
	loader := strings.TrimRight(string(data), "\x00")
	if err != nil || exists(loader) {
		return ""
	}
	return loader
}
