//go:build accept

package e2e

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/hammr/hammr/mr"
)

// chattyProperty says how the map of chatty prints: long, tail or rubbish.
const chattyProperty = "e2e.chatty"

// chatty is a job whose map prints.
var chatty = mr.MapOnly("chatty", mr.TextLines(), mr.MapFunc(func(t *mr.Task, _ int64, line []byte, out mr.Emitter[struct{}, []byte]) error {
	w := bufio.NewWriterSize(os.Stdout, 64<<10)
	switch t.Property(chattyProperty) {
	case "long":
		for i := range longLog / 64 {
			fmt.Fprintf(w, "%09d %s\n", i, strings.Repeat("x", 53))
		}
		fmt.Fprintln(w, "the last line")
	case "tail":
		for tick, i := time.NewTicker(10*time.Millisecond), 0; i < int(tailTime/(10*time.Millisecond)); i++ {
			<-tick.C
			for range tailRate / 100 {
				fmt.Fprintf(w, "%d a line of an attempt that prints much\n", time.Now().UnixMilli())
			}
			w.Flush()
		}
	case "rubbish":
		r := rand.NewChaCha8([32]byte{1})
		bytes := make([]byte, 1<<20)
		for range rubbish >> 20 {
			_, _ = r.Read(bytes)
			w.Write(bytes)
			fmt.Fprint(w, strings.Repeat("\x1b[31m\x1b]8;;http://x\x07\x1b[999999999C\u202e\n", 1000))
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	out.Emit(struct{}{}, line)
	return nil
}), mr.TextOutput[struct{}, []byte]())

func init() {
	tasks = append(tasks, chatty)
	programs["chatty"] = func() *mr.Program { return &mr.Program{Name: "chatty", Jobs: []mr.Runnable{chatty}} }
}
