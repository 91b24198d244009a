// Package dynamic sends changes to a running nginx without a reload. In go the endpoints
// and certificates of a model.Dynamic; out come pushes over a unix socket to the Lua
// modules of rootfs, and the status of nginx's workers:
//
//	client := dynamic.New(stateDir + "/run/control.sock")
//	err := client.Push(ctx, config.Dynamic) // before the file that needs it
//	...                                     // reload, settled, drained
//	err = client.Retain(ctx, config.Dynamic)
package dynamic

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"sluice/internal/model"
)

const (
	// chunkSize bounds the body of a push. nginx accepts 16 MB; less saves memory in
	// nginx and in this process.
	chunkSize = 1 << 20
	// maxItem bounds an item, so that a body with one is below nginx's limit.
	maxItem = 8 << 20
	// maxAnswer bounds the size of an answer.
	maxAnswer = 32 << 20
	// timeout ends a request that nginx does not answer.
	timeout = 30 * time.Second
	// patience is the time until a late answer makes the client wake another worker.
	patience = 250 * time.Millisecond
	// boots is the number of times that a push starts again because nginx restarted.
	boots = 3
)

// Client speaks to the control socket of one nginx. It is safe for concurrent use; it
// pushes one at a time.
type Client struct {
	http http.Client
	dial func(ctx context.Context, network, address string) (net.Conn, error)
	// seen is the boot of the last answer.
	seen atomic.Pointer[string]
	// pushes and failures count pushes, and those of which something was not stored.
	pushes, failures atomic.Uint64

	mu     sync.Mutex
	boot   string
	ledger *ledger
	// inherited is set if this nginx may hold items of an earlier controller.
	inherited bool
	// memory is that in the answer to the last push.
	memory Memory
}

// Roomless is the items that nginx had no room for. It keeps their older versions.
type Roomless struct {
	// Backends are keys, Hosts server names.
	Backends, Hosts []string
}

// Pushes returns the number of pushes, and of those of which nginx did not store all.
func (c *Client) Pushes() (all, failed uint64) { return c.pushes.Load(), c.failures.Load() }

// Counters returns the page of nginx with its counters of connections and requests.
func (c *Client) Counters(ctx context.Context) ([]byte, error) {
	code, body, err := c.do(ctx, http.MethodGet, "/counters", nil)
	if err == nil && code != http.StatusOK {
		err = fmt.Errorf("nginx answered %d", code)
	}
	if err != nil {
		return nil, fmt.Errorf("counters of nginx: %w", err)
	}
	return body, nil
}

// Memory returns the use of nginx's dictionaries after the last push.
func (c *Client) Memory() Memory {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.memory
}

// Roomless returns the items that nginx has no room for.
func (c *Client) Roomless() Roomless {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Roomless{Backends: c.ledger.backends.refused(), Hosts: c.ledger.names.refused()}
}

// Full reports which dictionaries had no room for an item.
func (c *Client) Full() (backends, certificates bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.ledger.backends.refused()) > 0, len(c.ledger.certificates.refused())+len(c.ledger.names.refused())+len(c.ledger.staples.refused())+len(c.ledger.tickets.refused()) > 0
}

// New returns a client of the unix socket at this path. It sends nothing yet, and the
// socket need not exist yet.
func New(socket string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}
	return &Client{
		dial: dial,
		// A kept connection would stay with one worker, even one that is about to end.
		http:   http.Client{Timeout: timeout, Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}},
		ledger: newLedger(),
	}
}

// Status asks over a new connection, so that any worker may answer.
func (c *Client) Status(ctx context.Context) (Status, error) {
	var status Status
	if err := c.get(ctx, "/status", &status); err != nil {
		return Status{}, fmt.Errorf("status of nginx: %w", err)
	}
	c.seen.Store(&status.Boot)
	return status, nil
}

// Push adds d to the items that nginx holds; it never deletes. It sends only items that
// this nginx has not confirmed, so all of them after a restart. The error names items
// that could not be sent or stored. The next Push tries these again; all others were
// stored.
func (c *Client) Push(ctx context.Context, d model.Dynamic) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Join(c.ledger.add(d), c.flush(ctx))
}

// Replace makes nginx hold d and nothing else, as Retain does, for a d that has no room
// beside the rest: it sends what had no room again once the rest is deleted.
func (c *Client) Replace(ctx context.Context, d model.Dynamic) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	left := c.ledger.add(d)
	c.ledger.retain(d)
	if c.flush(ctx) == nil {
		return left
	}
	return errors.Join(left, c.flush(ctx))
}

// Flush sends the items that Push and Retain could not send; after a restart of nginx,
// all of them.
func (c *Client) Flush(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.flush(ctx)
}

// Retain makes nginx hold d and nothing else. Call it when no worker with another
// configuration than d's is left.
func (c *Client) Retain(ctx context.Context, d model.Dynamic) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	left := c.ledger.add(d)
	c.ledger.retain(d)
	if err := c.flush(ctx); err != nil || !c.inherited {
		return errors.Join(left, err)
	}
	return errors.Join(left, c.disown(ctx))
}

// disown drops items that nginx got from someone else, such as an earlier controller.
func (c *Client) disown(ctx context.Context) error {
	var held absent
	if err := c.get(ctx, "/held", &held); err != nil {
		return fmt.Errorf("list the items of nginx: %w", err)
	}
	c.inherited = false
	for _, l := range c.ledger.lists() {
		l.drop(*held.of(l.kind))
	}
	return c.flush(ctx)
}

// bootError is the error of an answer from another nginx than expected.
type bootError struct{ boot string }

func (e *bootError) Error() string { return "nginx has restarted" }

// flush sends pending items, and starts again if nginx restarted.
func (c *Client) flush(ctx context.Context) error {
	if err := c.meet(ctx); err != nil {
		return err
	}
	var err error
	for range boots {
		err = c.send(ctx)
		var other *bootError
		if !errors.As(err, &other) {
			return err
		}
		c.begin(other.boot)
	}
	return err
}

// meet finds out which nginx runs: from the last status, or by asking.
func (c *Client) meet(ctx context.Context) error {
	seen := c.seen.Load()
	if seen == nil {
		status, err := c.Status(ctx)
		if err != nil {
			return err
		}
		seen = &status.Boot
	}
	if *seen != c.boot {
		c.begin(*seen)
	}
	return nil
}

func (c *Client) begin(boot string) {
	c.boot = boot
	c.seen.Store(&boot)
	c.ledger.forget()
	c.inherited = true
}

// send adds items, then deletes others. An item comes after those that it refers to,
// and goes before them. If a step fails, the others go on, unless another nginx
// answered, which needs all items.
func (c *Client) send(ctx context.Context) error {
	lists := c.ledger.lists()
	var problems []error
	step := func(send func(context.Context, *list) error, l *list) {
		var other *bootError
		if errors.As(errors.Join(problems...), &other) || ctx.Err() != nil {
			return
		}
		problems = append(problems, send(ctx, l))
	}
	for _, l := range lists {
		step(c.sendNew, l)
	}
	for _, l := range slices.Backward(lists) {
		step(c.sendGone, l)
	}
	return errors.Join(append(problems, ctx.Err())...)
}

// sendNew sends the items that nginx has not confirmed, in chunks.
func (c *Client) sendNew(ctx context.Context, l *list) error {
	var problems []error
	var keys []string
	var items []json.RawMessage
	size := 0
	emit := func() {
		if len(keys) > 0 {
			problems = append(problems, c.sendChunk(ctx, l, keys, items))
		}
		keys, items, size = nil, nil, 0
	}
	for _, key := range l.unsent() {
		text, err := l.encode(key)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		if size+len(text) > chunkSize {
			emit()
		}
		keys, items, size = append(keys, key), append(items, text), size+len(text)
	}
	emit()
	return errors.Join(problems...)
}

func (c *Client) sendChunk(ctx context.Context, l *list, keys []string, items []json.RawMessage) error {
	answer, err := c.push(ctx, push{Boot: c.boot, Set: only(l.kind, items)})
	if err != nil {
		return fmt.Errorf("push %d %s to nginx: %w", len(keys), l.kind, err)
	}
	failed := *answer.Failed.of(l.kind)
	l.confirm(keys, failed)
	if len(failed) > 0 {
		return fmt.Errorf("push to nginx: %s; the first of them is %q", answer.Error, failed[0])
	}
	return nil
}

func (c *Client) sendGone(ctx context.Context, l *list) error {
	keys := l.dropped()
	if len(keys) == 0 {
		return nil
	}
	if _, err := c.push(ctx, push{Boot: c.boot, Delete: only(l.kind, keys)}); err != nil {
		return fmt.Errorf("delete %d %s from nginx: %w", len(keys), l.kind, err)
	}
	clear(l.gone)
	return nil
}

// push sends one body. An answer with failed items is not an error here.
func (c *Client) push(ctx context.Context, p push) (pushAnswer, error) {
	var answer pushAnswer
	body, err := json.Marshal(p)
	if err != nil {
		return answer, errors.New("cannot be encoded")
	}
	c.pushes.Add(1)
	stored := false
	defer func() {
		if !stored {
			c.failures.Add(1)
		}
	}()
	code, text, err := c.do(ctx, http.MethodPost, "/push", body)
	if err != nil {
		return answer, err
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return answer, fmt.Errorf("nginx answered %d and no JSON", code)
	}
	switch {
	case code == http.StatusConflict && answer.Boot != "":
		return answer, &bootError{boot: answer.Boot}
	case code == http.StatusOK, code == http.StatusInsufficientStorage && answer.Failed.any():
		c.memory, stored = answer.Memory, code == http.StatusOK
		return answer, nil
	}
	return answer, fmt.Errorf("nginx answered %d: %s", code, answer.Error)
}

func (c *Client) get(ctx context.Context, path string, into any) error {
	code, body, err := c.do(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	if code != http.StatusOK {
		return fmt.Errorf("nginx answered %d", code)
	}
	return json.Unmarshal(body, into)
}

func (c *Client) do(ctx context.Context, method, path string, body []byte) (int, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://nginx"+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	defer c.wake(ctx)()
	response, err := c.http.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	return response.StatusCode, text, err
}

// wake opens a connection at intervals while an answer is late. The kernel wakes one
// worker for a connection (EPOLLEXCLUSIVE). If that worker stops accepting first, as at
// a reload, only another connection wakes another worker.
func (c *Client) wake(ctx context.Context) (end func()) {
	ctx, end = context.WithCancel(ctx)
	go func() {
		late := time.NewTicker(patience)
		defer late.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-late.C:
			}
			if connection, err := c.dial(ctx, "", ""); err == nil {
				_ = connection.Close()
			}
		}
	}()
	return end
}
