package debug

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"sluice/internal/debugapi"
	"sluice/internal/model"
)

const (
	// readTimeout limits the reading of a question, writeTimeout also the writing of its
	// answer, which can be large.
	readTimeout  = 5 * time.Second
	writeTimeout = 2 * time.Minute
)

// Serve answers on a unix socket that only the user of this process, and root, can open.
// It replaces a file of that name, because only one controller uses a state directory at a
// time. stop closes the socket, and removes it unless it is that of the next controller.
func Serve(path string, handler http.Handler, log *slog.Logger) (stop func(), err error) {
	listener, err := listen(path)
	if err != nil {
		return nil, fmt.Errorf("open the debug socket: %w", err)
	}
	own, err := os.Lstat(path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the debug socket: %w", err), listener.Close())
	}
	server := &http.Server{
		Handler: handler, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: readTimeout,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	go func() { _ = server.Serve(listener) }()
	return func() {
		_ = server.Close()
		if now, err := os.Lstat(path); err == nil && os.SameFile(own, now) {
			_ = os.Remove(path)
		}
	}, nil
}

// listen creates the socket in a closed directory, and moves it to its path after setting
// its mode.
func listen(path string) (net.Listener, error) {
	dir := strings.TrimSuffix(path, filepath.Ext(path)) + ".new"
	if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700)); err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	hidden := filepath.Join(dir, "s")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: hidden, Net: "unix"})
	if err != nil {
		return nil, err
	}
	listener.SetUnlinkOnClose(false)
	err = os.Chmod(hidden, 0o600)
	if err == nil {
		err = os.Rename(hidden, path)
	}
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}

// mostError limits the bytes that are read of an error answer.
const mostError = 64 << 10

// Get asks the controller of a state directory for a path with its query, such as
// "/routes?host=shop.example". The caller closes the answer. An error is one line: the
// controller's own, or the reason why none answers.
func Get(ctx context.Context, stateDir, path string) (io.ReadCloser, error) {
	answer, err := send(ctx, stateDir, http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	return answer.Body, nil
}

// Diff asks the controller of a state directory what manifests would change, with the query
// of debugapi.DiffPath. The caller closes the answer.
func Diff(ctx context.Context, stateDir, query string, manifests io.Reader) (answer io.ReadCloser, changed bool, err error) {
	response, err := send(ctx, stateDir, http.MethodPost, debugapi.DiffPath+"?"+query, manifests)
	if err != nil {
		return nil, false, err
	}
	return response.Body, response.Header.Get(debugapi.ChangedHeader) == "true", nil
}

// send sends a request to the controller of a state directory.
func send(ctx context.Context, stateDir, method, path string, body io.Reader) (*http.Response, error) {
	socket := filepath.Join(stateDir, debugapi.Socket)
	if !strings.HasPrefix(path, "/") {
		return nil, fmt.Errorf("%s: want a path that begins with /, such as %s", model.Quoted(path), debugapi.GeneralPath)
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://controller"+path, body)
	if err != nil {
		return nil, fmt.Errorf("%s: want a path with a query that is percent-encoded: %w", model.Quoted(path), errors.Unwrap(err))
	}
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}}
	response, err := client.Do(request)
	if err != nil {
		return nil, unreachable(socket, err)
	}
	if response.StatusCode == http.StatusOK {
		return response, nil
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(response.Body, mostError))
	return nil, &AnswerError{response.StatusCode, strings.TrimSpace(string(text))}
}

// AnswerError is an error answer of the controller.
type AnswerError struct {
	// Status is the HTTP status; see package debugapi.
	Status int
	// Text is one line.
	Text string
}

func (e *AnswerError) Error() string { return e.Text }

// NotFound reports whether the question is valid, but there is no such thing.
func (e *AnswerError) NotFound() bool { return e.Status == http.StatusNotFound }

// unreachable returns the reason why no controller answers.
func unreachable(socket string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("no controller runs with this state directory: nobody listens on %s", socket)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("no permission to enter %s: run this as the user of the controller", socket)
	}
	return fmt.Errorf("ask the controller over %s: %w", socket, err)
}
