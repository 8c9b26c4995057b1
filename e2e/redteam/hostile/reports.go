package main

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/hammr/hammr/internal/rpc/taskproc"
)

// finishes returns an attack that reports one output.
func finishes(o *taskproc.MapOutput) func(*task) error {
	return func(t *task) error {
		o := proto.CloneOf(o)
		if o.Path == "" {
			o.Path = filepath.Join(t.LocalDir, "file.out")
		}
		return t.send(&taskproc.FromTask{Message: &taskproc.FromTask_Finished{Finished: &taskproc.Finished{Outputs: []*taskproc.MapOutput{o}}}})
	}
}

// writesPiece reports a piece with the name, path and suffix in the properties.
func writesPiece(t *task) error {
	p := &taskproc.Piece{Output: t.property("output"), Path: t.property("path"), Length: 5, Suffix: t.property("suffix")}
	p.Path = strings.Replace(p.Path, "OUT", t.OutputDir, 1)
	return t.send(&taskproc.FromTask{Message: &taskproc.FromTask_Finished{Finished: &taskproc.Finished{Pieces: []*taskproc.Piece{p}}}})
}

// checkpointsElsewhere reports a checkpoint with a copy that the master would remove.
func checkpointsElsewhere(t *task) error {
	return t.send(&taskproc.FromTask{Message: &taskproc.FromTask_Checkpointed{Checkpointed: &taskproc.Checkpointed{Checkpoint: &taskproc.Checkpoint{
		Path: filepath.Join(t.LocalDir, "checkpoint"), Copy: &taskproc.Checkpoint_Copy{Path: t.property("path")},
	}}}})
}

// announcesLongMessage begins a message of 70 MiB.
func announcesLongMessage(t *task) error {
	if _, err := t.conn.Write(binary.AppendUvarint(nil, 70<<20)); err != nil {
		return err
	}
	chunk := make([]byte, 1<<20)
	for range 70 {
		if _, err := t.conn.Write(chunk); err != nil {
			return nil // the tasknode has closed the connection
		}
	}
	return errors.New("the tasknode has read 70 MiB")
}

// countsPerWord reports a counter for each of many words.
func countsPerWord(t *task) error {
	f := new(taskproc.Finished)
	for i := range 60_000 {
		f.Counters = append(f.Counters, &taskproc.Counter{Group: "words", Name: fmt.Sprintf("word%d", i), Value: 1})
	}
	return t.send(&taskproc.FromTask{Message: &taskproc.FromTask_Finished{Finished: f}})
}

// sendsNoise sends random bytes in the place of a message.
func sendsNoise(t *task) error {
	noise := make([]byte, 1<<16)
	_, _ = rand.Read(noise) // never fails
	_, err := t.conn.Write(append(binary.AppendUvarint(nil, uint64(len(noise))), noise...))
	return errors.Join(err, waits(t))
}

// Numbers of messages of a flood, and the bytes of each.
const (
	floodMessages = 40_000
	floodBytes    = 8 << 10
)

// floods sends progress, refused preemptions and answers to orders that no master has given.
func floods(t *task) error {
	text := strings.Repeat("x", floodBytes)
	for i := range int64(floodMessages) {
		err := t.send(&taskproc.FromTask{Message: &taskproc.FromTask_Progress{Progress: &taskproc.Progress{Fraction: float64(i%100) / 100, Status: text, Activity: uint64(i)}}})
		if i%4 == 0 {
			err = errors.Join(err,
				t.send(&taskproc.FromTask{Message: &taskproc.FromTask_PreemptionDeclined{PreemptionDeclined: &taskproc.PreemptionDeclined{Cause: text, CanSuspend: true}}}),
				t.send(&taskproc.FromTask{Message: &taskproc.FromTask_SuspendReady{SuspendReady: &taskproc.SuspendReady{Number: i}}}))
		}
		if err != nil {
			return fmt.Errorf("flood: %w", err)
		}
	}
	return fmt.Errorf("%d MiB of progress were taken", floodMessages*floodBytes>>20)
}
