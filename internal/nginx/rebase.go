package nginx

import "context"

// Rebase replaces the bootstrap file, for now and for later restarts. Use it while
// nginx serves nothing yet. If nginx rejects the file, nothing changes.
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
