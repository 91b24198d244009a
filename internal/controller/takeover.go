package controller

import "context"

// takeOver waits for the first plan if the nginx of a former run still serves. Until
// then, that nginx keeps its ports, sockets and endpoints, and answers the liveness
// check; readiness waits for our own file. takeOver returns false if Sluice has to
// stop, which then also ends that nginx.
func (c *Controller) takeOver(ctx context.Context, changes <-chan struct{}) bool {
	if c.Process.Former() == 0 {
		return true
	}
	c.Log.Info("the nginx of a former run serves until the objects are read")
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

// readAhead makes the source read its objects while nginx starts. The first sync gets
// the same result, including errors, without reading again.
func (c *Controller) readAhead(ctx context.Context) (done <-chan struct{}) {
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = c.Source.Load(ctx)
	}()
	return read
}
