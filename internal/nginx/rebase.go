package nginx

import "context"

// Rebase has nginx run another bootstrap file, now and whenever it is started
// again. It is for an nginx that serves nothing yet. A file that nginx does not take
// changes nothing.
func (p *Process) Rebase(ctx context.Context, bootstrap []byte) error {
	if _, err := p.Apply(ctx, Conf(bootstrap)); err != nil {
		return err
	}
	if err := p.take(ctx); err != nil {
		return err
	}
	defer p.release()
	return p.replace(bootstrapFile, Conf(bootstrap))
}
