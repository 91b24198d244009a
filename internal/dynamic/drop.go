package dynamic

import "context"

// Drop makes nginx forget backends, to make room for others.
func (c *Client) Drop(ctx context.Context, keys []string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := &c.ledger.backends
	for _, key := range keys {
		delete(l.items, key)
		delete(l.pending, key)
	}
	l.drop(keys)
	c.ledger.added.Backends = nil
	if err := c.meet(ctx); err != nil {
		return err
	}
	return c.sendGone(ctx, l)
}
