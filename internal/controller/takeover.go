package controller

import "context"

// takeOver waits, if the nginx of a former run serves, until there is a plan to
// put in its place. That nginx keeps its ports, its sockets and its endpoints
// meanwhile, and answers the liveness check; readiness waits for a file of ours.
// The result is false if a stop was asked for, which ends that nginx too.
func (c *Controller) takeOver(ctx context.Context, changes <-chan struct{}) bool {
	if c.Process.Former() == 0 {
		return true
	}
	c.Log.Info("the nginx of a former run serves: it goes on until the objects are known")
	// Its streams hold their ports until it ends.
	ahead := c.streams.ahead
	c.streams.ahead = false
	defer func() { c.streams.ahead = ahead }()
	for {
		p := c.look(ctx)
		if ctx.Err() != nil {
			c.Process.Inherit()
			return false
		}
		if p != nil {
			c.decide(p)
			c.delay, c.retry = 0, nil
			return true
		}
		select {
		case <-ctx.Done():
		case <-changes:
		case <-c.retry:
			c.retry = nil
		}
	}
}

// readAhead has the source read its objects while nginx starts. What it finds,
// errors included, is found again by the first sync, without reading again.
func (c *Controller) readAhead(ctx context.Context) (done <-chan struct{}) {
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = c.Source.Load(ctx)
	}()
	return read
}
