// Command jars fetches the jars of Hadoop that tests need and prints where they
// are, so that a build can do it once and ahead of the tests. It also makes the
// archive of the classes of HDFS, with which daemons start faster; a failure of
// that is only reported. What is there already costs nothing.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/hammr/hammr/internal/ops/minihdfs"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	for _, fetch := range []func(context.Context) (string, error){minihdfs.Jars, minihdfs.YarnJars} {
		dir, err := fetch(ctx)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(dir)
	}
	archive, err := minihdfs.Archive(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "daemons of HDFS start without an archive of their classes:", err)
		return
	}
	fmt.Println(archive)
}
