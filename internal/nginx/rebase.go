package nginx

import "context"

// Rebase has nginx run another bootstrap file, now and whenever it is started
// again. It is for an nginx that serves nothing yet.
func (p *Process) Rebase(ctx context.Context, bootstrap []byte) error {
	if err := p.take(ctx); err != nil {
		return err
	}
	err := p.replace(bootstrapFile, Conf(bootstrap))
	p.release()
	if err != nil {
		return err
	}
	_, err = p.Apply(ctx, Conf(bootstrap))
	return err
}
