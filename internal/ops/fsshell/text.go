package fsshell

import (
	"errors"
	"fmt"
	"io"

	"github.com/hammr/hammr/internal/data/format/compress"
	"github.com/hammr/hammr/internal/data/format/seqfile"
	"github.com/hammr/hammr/internal/data/format/writable"
	"github.com/hammr/hammr/storage"
)

// text prints a file as text. It detects gzip, SequenceFiles and Avro by their first bytes, as
// Hadoop does, and other codecs by the file's extension. Any other file is printed as it is.
//
// A format that is added here also goes into the help of -text in commands.go, and into doc.go.
func text(s *shell, _ invocation, it item) error {
	file, err := s.open(it)
	if err != nil {
		return err
	}
	defer file.Close()
	lead, err := magicOf(file)
	switch {
	case err != nil:
		return err
	// The magic number of gzip.
	case len(lead) >= 2 && lead[:2] == "\x1f\x8b":
		return s.printDecompressed(it, file, "gzip")
	// A SequenceFile has its own compression inside, so its reader opens it again.
	case lead == "SEQ":
		return s.printSequenceFile(it)
	// Hadoop's shell decodes Avro. A clear error is better than binary output on a terminal.
	case lead == "Obj":
		return &pathError{path: it.name, message: "Avro file, which is not decoded here: -cat shows its bytes"}
	}
	// The extension decides; a file without a known extension is read as it is.
	plain := compress.NewReader(it.path, file)
	defer plain.Close()
	_, err = io.Copy(s.out, plain)
	return err
}

// magicOf returns the first three bytes of a file, or fewer. It reads at an offset, so that the
// file can be read from its beginning afterwards.
func magicOf(file storage.File) (string, error) {
	var lead [3]byte
	n, err := file.ReadAt(lead[:], 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return string(lead[:n]), err
}

// printDecompressed prints a file with the codec that its first bytes indicate.
func (s *shell) printDecompressed(it item, file storage.File, codec string) error {
	c, err := compress.Parse(codec)
	if err != nil {
		return err
	}
	plain := c.NewReader(it.path, file)
	defer plain.Close()
	_, err = io.Copy(s.out, plain)
	return err
}

// printSequenceFile prints each record of a SequenceFile as key, tab, value. Records before a
// damaged one are printed, and the error has its offset.
func (s *shell) printSequenceFile(it item) error {
	r, err := seqfile.OpenAll(s.ctx, it.fs, it.path, it.info.Size)
	if err != nil {
		return err
	}
	defer r.Close()
	// Both classes are checked before the first record: a file that cannot be shown prints
	// nothing.
	key, err := printerOf(it, r.Header().KeyClass)
	if err != nil {
		return err
	}
	value, err := printerOf(it, r.Header().ValueClass)
	if err != nil {
		return err
	}
	var line []byte
	for r.Next() {
		if line, err = appendLine(line[:0], r, key, value); err != nil {
			return fmt.Errorf("%s: record at offset %d: %w", it.name, r.Offset(), err)
		}
		if _, err := s.out.Write(line); err != nil {
			return err
		}
	}
	return r.Err()
}

// printerOf returns a printer for keys or values of a Java class; only Hadoop's own
// Writables are known.
func printerOf(it item, class string) (writable.Printer, error) {
	p, ok := writable.PrinterOf(class)
	if !ok {
		return nil, &pathError{path: it.name, message: fmt.Sprintf("SequenceFile of class %s, which cannot be shown as text", class)}
	}
	return p, nil
}

// appendLine appends a record as key, tab, value, newline. The line is reused from record to
// record.
func appendLine(line []byte, r *seqfile.Reader, key, value writable.Printer) ([]byte, error) {
	line, err := key(line, r.Key())
	if err != nil {
		return line, fmt.Errorf("key: %w", err)
	}
	if line, err = value(append(line, '\t'), r.Value()); err != nil {
		return line, fmt.Errorf("value: %w", err)
	}
	return append(line, '\n'), nil
}
