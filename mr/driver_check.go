package mr

import (
	"context"
	"fmt"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/format/seqfile"
	"github.com/hammr/hammr/shuffle"
)

// CheckOutput reports whether a job on those inputs could not write to the
// directory out: because it exists, say. A chain of jobs asks before its first
// job, so that hours of work are not done for an output that its last job
// refuses.
func (d *Driver) CheckOutput(ctx context.Context, in []string, out string) error {
	if _, err := d.checkOutput(ctx, out); err != nil {
		return err
	}
	return d.checkApart(ctx, in, out)
}

// checkCodecs refuses names of codecs that tasks would not know, so that it is
// not the first reduce, after all the maps, that tells.
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
