package sshcluster

import (
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain serves as the program that the tests put on their machines, too: it acts as a
// daemon whose hostfile says, by tasknode.act=WORD, what it does.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "version":
			fmt.Println("hammr v1 (model)")
			return
		case "jobmaster", "tasknode":
			os.Exit(serve(os.Args[3]))
		}
	}
	goleak.VerifyTestMain(m)
}

// modelSettings are settings of all models: the process of the tests. A model ends when that
// process has ended, whatever ended it.
func modelSettings() string {
	return fmt.Sprintf("jobmaster.test=%[1]d tasknode.test=%[1]d", os.Getpid())
}

// serve is a model of a daemon.
func serve(file string) int {
	settings, err := readSettings(file)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	end, reload := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	switch settings["act"] {
	case "fail":
		fmt.Fprintln(os.Stderr, "the model fails")
		return 1
	case "reload":
		signal.Notify(reload, syscall.SIGHUP)
	case "stay":
		signal.Reset(syscall.SIGTERM)
		signal.Ignore(syscall.SIGTERM)
	}
	if settings["act"] != "wait" && settings["ready-file"] != "" {
		if err := os.WriteFile(settings["ready-file"], []byte("{}"), 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	test, err := strconv.Atoi(settings["test"])
	if err != nil {
		return 2
	}
	look := time.NewTicker(time.Second)
	for {
		select {
		case <-end:
			return 0
		case <-look.C:
			if syscall.Kill(test, 0) == syscall.ESRCH {
				return 1
			}
		case <-reload:
			// The test waits for this file.
			if err := os.WriteFile(settings["dir"]+".reloaded", nil, 0o600); err != nil {
				return 1
			}
		}
	}
}

// readSettings reads a file that launch.Settings.YAML has made.
func readSettings(file string) (map[string]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	settings := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ": ")
		var word string
		if err := json.Unmarshal([]byte(value), &word); err != nil {
			return nil, err
		}
		settings[name] = word
	}
	return settings, nil
}
