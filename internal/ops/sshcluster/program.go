package sshcluster

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// program is the program that machines get.
type program struct {
	file string
	hash string // SHA-256 in hexadecimal
	size int64
	arch string // GOARCH

	compress   sync.Once
	compressed []byte
	err        error
}

// openProgram reads a program for Linux.
func openProgram(file string) (*program, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("program for the machines: %w", err)
	}
	defer f.Close()
	p := &program{file: file}
	binary, err := elf.NewFile(f)
	if err != nil {
		return nil, fmt.Errorf("program for the machines %s: not a program for Linux; give one with --program FILE", file)
	}
	switch binary.Machine {
	case elf.EM_X86_64:
		p.arch = "amd64"
	case elf.EM_AARCH64:
		p.arch = "arm64"
	default:
		p.arch = runtime.GOARCH
	}
	hash := sha256.New()
	if p.size, err = io.Copy(hash, io.NewSectionReader(f, 0, 1<<40)); err != nil {
		return nil, fmt.Errorf("program for the machines: %w", err)
	}
	p.hash = hex.EncodeToString(hash.Sum(nil))
	return p, nil
}

// stream returns the compressed program. It is compressed once, when the first machine needs
// it.
func (p *program) stream() (io.Reader, error) {
	p.compress.Do(func() { p.compressed, p.err = compressFile(p.file) })
	return bytes.NewReader(p.compressed), p.err
}

func compressFile(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(w, f)
	if err := errors.Join(err, w.Close()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
