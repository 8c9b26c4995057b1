package suspend

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// RunTask does the work of a task process: it fills size bytes of memory and prints how many
// ns that took. For each line of input it then touches every page, and prints the ns again.
func RunTask(in io.Reader, out io.Writer, size int) error {
	lines := bufio.NewScanner(in)
	if !lines.Scan() { // the process is in its control group when the first line arrives
		return lines.Err()
	}
	start := time.Now()
	memory, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return fmt.Errorf("memory of %d bytes: %w", size, err)
	}
	fill(memory)
	fmt.Fprintln(out, time.Since(start).Nanoseconds())
	for lines.Scan() {
		start = time.Now()
		touch(memory)
		fmt.Fprintln(out, time.Since(start).Nanoseconds())
	}
	return lines.Err()
}

// fill writes data that the kernel cannot compress. zswap and zram compress
// pages before they are written.
func fill(memory []byte) {
	r := rand.NewChaCha8([32]byte{1})
	for len(memory) > 0 {
		n, _ := r.Read(memory[:min(len(memory), 1<<16)]) // it never fails
		memory = memory[n:]
	}
}

// touch changes each page.
func touch(memory []byte) {
	for at := 0; at < len(memory); at += os.Getpagesize() {
		memory[at]++
	}
}
