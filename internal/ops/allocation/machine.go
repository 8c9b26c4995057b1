package allocation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"sync/atomic"
)

// machine is the connection to Serve on a node.
//
//	connect ─► requests and answers ─► close: its input ends, its daemons end, it ends
//	               └ the node fails: broken closed, every request fails
type machine struct {
	node     Node
	memoryMB atomic.Int64 // of the machine, once something is open there; 0 if unknown

	cmd     *exec.Cmd
	in      io.WriteCloser
	answers chan answer
	broken  chan struct{} // closed when the connection has ended
	end     error         // valid once broken is closed

	asking sync.Mutex // held for a request and its answer
}

// connect starts Serve on a node. ended is called for each daemon that ends by itself, and with ""
// when Serve has ended.
func connect(ctx context.Context, l Launcher, n Node, args []string, stderr io.Writer, ended func(daemon, cause string)) (*machine, error) {
	m := &machine{node: n, answers: make(chan answer), broken: make(chan struct{})}
	m.cmd = l.Command(ctx, n, args)
	m.cmd.Stderr = stderr
	var err error
	if m.in, err = m.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := m.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := m.cmd.Start(); err != nil {
		return nil, fmt.Errorf("node %s: %w", n.Host, err)
	}
	go m.read(out, ended)
	return m, nil
}

// read passes on what Serve says, until the connection ends.
func (m *machine) read(out io.Reader, ended func(daemon, cause string)) {
	defer close(m.broken)
	in := json.NewDecoder(out)
	for {
		var a answer
		err := in.Decode(&a)
		if err != nil {
			m.in.Close()
			_, _ = io.Copy(io.Discard, out)
			m.end = errors.Join(m.cmd.Wait(), notEOF(err))
			ended("", causeText(m.end))
			return
		}
		if a.Ended != "" {
			ended(a.Ended, a.Cause)
			continue
		}
		m.answers <- a
	}
}

// causeText describes the end of a step.
func causeText(end error) string {
	if end == nil {
		return "exit code 0"
	}
	return end.Error()
}

// notEOF returns an error unless it is the end of the input.
func notEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// ask sends a request and returns its answer.
func (m *machine) ask(ctx context.Context, q request) (answer, error) {
	m.asking.Lock()
	defer m.asking.Unlock()
	line, err := json.Marshal(q)
	if err == nil {
		_, err = m.in.Write(append(line, '\n'))
	}
	if err != nil {
		return answer{}, m.failure(err)
	}
	select {
	case a := <-m.answers:
		if a.Error != "" {
			return a, fmt.Errorf("node %s: %s", m.node.Host, a.Error)
		}
		return a, nil
	case <-m.broken:
		return answer{}, m.failure(io.ErrUnexpectedEOF)
	case <-ctx.Done(): // the answer comes later: the connection cannot be used any more
		m.in.Close()
		return answer{}, fmt.Errorf("node %s: %w", m.node.Host, context.Cause(ctx))
	}
}

// failure describes a connection that has ended.
func (m *machine) failure(err error) error {
	select {
	case <-m.broken:
		if m.end != nil {
			err = m.end
		}
	default:
	}
	return fmt.Errorf("node %s: the step with its daemons has ended: %w", m.node.Host, err)
}

// close ends Serve with its daemons, and waits for it.
func (m *machine) close() error {
	m.in.Close()
	for {
		select {
		case <-m.answers: // of a request that was given up
		case <-m.broken:
			if m.end != nil {
				return fmt.Errorf("node %s: end of its step: %w", m.node.Host, m.end)
			}
			return nil
		}
	}
}

// noteMemory notes the MiB of memory of the machine.
func (m *machine) noteMemory(mib int) { m.memoryMB.Store(int64(mib)) }

// memory returns the MiB of memory of the machine, 0 if that is unknown.
func (m *machine) memory() int { return int(m.memoryMB.Load()) }

// lineWriter writes whole lines with a prefix to a writer that several share.
type lineWriter struct {
	prefix string
	to     *sharedWriter
	line   []byte
}

// sharedWriter is a writer for several goroutines. Each Write is whole in its output.
type sharedWriter struct {
	mu sync.Mutex
	to io.Writer
}

// Write implements io.Writer.
func (w *sharedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}

// Write implements io.Writer.
func (w *lineWriter) Write(p []byte) (int, error) {
	w.line = append(w.line, p...)
	for {
		line, rest, found := bytes.Cut(w.line, []byte{'\n'})
		if !found {
			return len(p), nil
		}
		if _, err := fmt.Fprintf(w.to, "%s%s\n", w.prefix, line); err != nil {
			return 0, err
		}
		w.line = rest
	}
}
