// Package dynamic tells a running nginx what changes without a reload. In go
// the endpoints and certificates of a model.Dynamic; out come pushes over a
// unix socket to the Lua modules of rootfs, and the status of nginx's workers:
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
	// chunkSize bounds the body of a push. nginx takes 16 MB; less keeps the
	// memory of nginx and of this process small.
	chunkSize = 1 << 20
	// maxItem is the largest item: with it, a body is within nginx's limit.
	maxItem = 8 << 20
	// maxAnswer bounds what is read of an answer.
	maxAnswer = 32 << 20
	// timeout ends a request that nginx does not answer.
	timeout = 30 * time.Second
	// patience is how long an answer may take before workers are woken anew.
	patience = 250 * time.Millisecond
	// boots is how often a push is started anew because nginx was.
	boots = 3
)

// Client speaks to the control socket of one nginx. It is safe for concurrent
// use; pushes go one after the other.
type Client struct {
	http http.Client
	dial func(ctx context.Context, network, address string) (net.Conn, error)
	// seen is the boot of the last answer.
	seen atomic.Pointer[string]

	mu     sync.Mutex
	boot   string
	ledger *ledger
	// inherited is whether this nginx may hold what an earlier controller
	// gave it.
	inherited bool
	// memory is what the last push was answered.
	memory Memory
}

// Roomless is what nginx had no room for: it goes on with what it was told before.
type Roomless struct {
	// Backends are their keys, Hosts server names.
	Backends, Hosts []string
}

// Memory says how full nginx's dictionaries were after the last push.
func (c *Client) Memory() Memory {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.memory
}

// Roomless says what nginx has had no room for so far.
func (c *Client) Roomless() Roomless {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Roomless{Backends: c.ledger.backends.refused(), Hosts: c.ledger.names.refused()}
}

// New gives a client of the unix socket at this path. Nothing is sent yet, and
// the socket need not exist yet.
func New(socket string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}
	return &Client{
		dial: dial,
		// A kept connection would stay with one worker, also with one that
		// is about to end.
		http:   http.Client{Timeout: timeout, Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}},
		ledger: newLedger(),
	}
}

// Status asks over a new connection, so that any of the workers answers.
func (c *Client) Status(ctx context.Context) (Status, error) {
	var status Status
	if err := c.get(ctx, "/status", &status); err != nil {
		return Status{}, fmt.Errorf("status of nginx: %w", err)
	}
	c.seen.Store(&status.Boot)
	return status, nil
}

// Push makes nginx hold d besides all that it was given before; it never
// deletes. Only what this nginx has not confirmed is sent, so everything after
// nginx was started anew. What could not be sent or stored is named by the
// error and tried again by the next Push; all else was stored.
func (c *Client) Push(ctx context.Context, d model.Dynamic) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Join(c.ledger.add(d), c.flush(ctx))
}

// Flush sends what Push and Retain could not send, so everything to an nginx
// that was started anew.
func (c *Client) Flush(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.flush(ctx)
}

// Retain makes nginx hold d and nothing else. It is for the time when no worker
// with another configuration than d's is left.
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

// disown drops what nginx was given by somebody else, such as the controller
// that ran before this one.
func (c *Client) disown(ctx context.Context) error {
	var held absent
	if err := c.get(ctx, "/held", &held); err != nil {
		return fmt.Errorf("what nginx holds: %w", err)
	}
	c.inherited = false
	for _, l := range c.ledger.lists() {
		l.drop(l.of(held))
	}
	return c.flush(ctx)
}

// bootError says that another nginx answered than the one that was meant.
type bootError struct{ boot string }

func (e *bootError) Error() string { return "nginx was started anew meanwhile" }

// flush sends what is pending, anew when it finds another nginx.
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

// meet learns which nginx runs: from the last status, or by asking.
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

// send adds, then deletes: what refers goes in last and out first. A step that
// fails does not hold back the others, unless it met another nginx, to which
// all has to be sent.
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
	answer, err := c.push(ctx, push{Boot: c.boot, Set: l.set(items)})
	if err != nil {
		return fmt.Errorf("push %d %s to nginx: %w", len(keys), l.kind, err)
	}
	failed := l.of(answer.Failed)
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
	if _, err := c.push(ctx, push{Boot: c.boot, Delete: l.absent(keys)}); err != nil {
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
		c.memory = answer.Memory
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

// wake connects again and again, for as long as an answer is late, until it is
// told to end. The kernel wakes one worker for a connection (EPOLLEXCLUSIVE). If
// that one stops accepting before it took it, as happens at a reload, nobody
// does before another connection wakes another worker.
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
