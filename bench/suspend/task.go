package suspend

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// taskVariable has a process be a task of so many bytes.
const taskVariable = "HAMMR_SUSPEND_TASK_BYTES"

// Task plays a task if this process was started to be one, and does not return then.
// It fills its memory, says how many ns that took, and does the same for a look at
// each page whenever a line comes.
func Task() {
	text, ok := os.LookupEnv(taskVariable)
	if !ok {
		return
	}
	if err := runTask(text); err != nil {
		fmt.Fprintln(os.Stderr, "suspend: task:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func runTask(text string) error {
	size, err := strconv.Atoi(text)
	if err != nil {
		return err
	}
	if _, err := os.Stdin.Read(make([]byte, 1)); err != nil { // it is in its control group now
		return err
	}
	began := time.Now()
	memory, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return fmt.Errorf("memory of %d bytes: %w", size, err)
	}
	fill(memory)
	fmt.Println(time.Since(began).Nanoseconds())
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		began = time.Now()
		touch(memory)
		fmt.Println(time.Since(began).Nanoseconds())
	}
	return nil
}

// fill writes what no kernel makes smaller.
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
