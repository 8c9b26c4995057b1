package mr

import (
	"context"
	"fmt"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/format/seqfile"
	"github.com/hammr/hammr/shuffle"
)

// CheckOutput returns an error if a job on these inputs could not write to the directory
// out, for example because it exists. A chain of jobs calls it before its first job, so that
// hours of work are not lost when the last job refuses its output.
func (d *Driver) CheckOutput(ctx context.Context, in []string, out string) error {
	if _, err := d.checkOutput(ctx, out); err != nil {
		return err
	}
	return d.checkApart(ctx, in, out)
}

// checkCodecs refuses unknown names of codecs. Otherwise the first reduce would report them,
// after all maps have run.
func checkCodecs(c *conf.Conf) error {
	if c.Bool(conf.MapOutputCompress) {
		if _, err := shuffle.ParseCodec(c.String(conf.MapOutputCompressCodec)); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrUsage, conf.MapOutputCompressCodec, err)
		}
	}
	if !c.Bool(conf.OutputCompress) {
		return nil
	}
	if _, err := seqfile.ParseCompression(c.String(conf.OutputCompressType)); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrUsage, conf.OutputCompressType, err)
	}
	if _, err := outputCodec(c); err != nil {
		return fmt.Errorf("%w: %w", ErrUsage, err)
	}
	return nil
}
