package nginx

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// TestError is the reason why `nginx -t` rejected a file.
type TestError struct {
	// Text is one line, without the path of the file and the line number.
	Text string
	// Line is the line of the tested file that nginx named, from 1; 0 if none.
	Line int
	// Raw is the whole output of nginx.
	Raw string
}

// Error returns the text, and the line if there is one.
func (e *TestError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("nginx refuses the configuration: line %d: %s", e.Line, e.Text)
	}
	return "nginx refuses the configuration: " + e.Text
}

// Test checks a file with `nginx -t`, without touching the running configuration. It
// returns a *TestError if nginx rejects the file. Tests and reloads exclude each
// other: a test briefly binds new ports, which would keep a reload from binding them.
func (p *Process) Test(ctx context.Context, conf io.WriterTo) error {
	if err := p.take(ctx); err != nil {
		return err
	}
	defer p.release()
	return p.test(ctx, conf)
}

// TestAside is Test for callers that can wait: it gives way to other tests and
// reloads, and then starts again. It does not give way before nginx has the sockets
// of a real file, because an interrupted test can leave a new socket behind.
func (p *Process) TestAside(ctx context.Context, conf io.WriterTo) error {
	for {
		if err := p.take(ctx); err != nil {
			return err
		}
		aside, cancel := context.WithCancel(ctx)
		if p.good == goodFile {
			p.aside.Store(&cancel)
		}
		err := p.test(aside, conf)
		p.aside.Store(nil)
		gaveWay := aside.Err() != nil && ctx.Err() == nil
		cancel()
		p.release()
		if !gaveWay {
			return err
		}
	}
}

func (p *Process) test(ctx context.Context, conf io.WriterTo) error {
	path, err := writeBeside(p.options.path("candidate-*.conf"), conf)
	if err != nil {
		return err
	}
	defer os.Remove(path)
	began := time.Now()
	output, err := p.runTest(ctx, path)
	if err == nil {
		p.noteLoad(time.Since(began))
	}
	var failed *exec.ExitError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("test the configuration: %w", ctx.Err())
	case errors.Is(err, context.DeadlineExceeded):
		return &TestError{Text: fmt.Sprintf("`nginx -t` did not end within %v", p.testTimeout(path)), Raw: output}
	case errors.As(err, &failed) && failed.Exited():
		return parseTestOutput(output, path)
	default:
		return fmt.Errorf("run `nginx -t`: %w", err)
	}
}

func (p *Process) runTest(ctx context.Context, path string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, p.testTimeout(path))
	defer cancel()
	argv := p.install.Command(p.arguments("-t", "-c", path)...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.Env, cmd.Dir, cmd.WaitDelay = environment(largePages+keepMemory), "/", time.Second
	cmd.SysProcAttr = attributes()
	err := cmd.Run()
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return output.String(), err
}

// testTimeout implements Options.TestTimeout.
func (p *Process) testTimeout(path string) time.Duration {
	if p.options.TestTimeout > 0 {
		return p.options.TestTimeout
	}
	var size int64
	if info, err := os.Stat(path); err == nil {
		size = info.Size()
	}
	return time.Minute + time.Duration(size)*slowestLoad
}

// arguments are the arguments of every run of nginx: the state directory as its
// prefix, the log to stderr from the first line, and no daemon.
func (p *Process) arguments(more ...string) []string {
	return append([]string{"-p", p.options.StateDir, "-e", "stderr", "-g", "daemon off;"}, more...)
}

// writeBeside writes a new file with a name by a pattern of os.CreateTemp.
func writeBeside(pattern string, conf io.WriterTo) (path string, err error) {
	f, err := os.CreateTemp(filepath.Dir(pattern), filepath.Base(pattern))
	if err != nil {
		return "", fmt.Errorf("write the configuration: %w", err)
	}
	_, err = conf.WriteTo(f)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
		return "", fmt.Errorf("write the configuration: %w", err)
	}
	return f.Name(), nil
}

// parseTestOutput finds the line with the cause: the first of the most severe level.
func parseTestOutput(output, path string) *TestError {
	e := &TestError{Raw: output, Text: OneLine(strings.ReplaceAll(output, path, "the file"))}
	rank := len(levels)
	for line := range strings.Lines(output) {
		g, ok := parseLine(line)
		if r := slices.Index(levels, g.Level); ok && r < rank {
			rank = r
			e.Text, e.Line = cutPosition(g.Text, path)
		}
	}
	return e
}

// cutPosition removes " in PATH:LINE" from the end of a message. A value of a user
// earlier in the message can look the same.
func cutPosition(text, path string) (string, int) {
	place := " in " + path + ":"
	line := 0
	if i := strings.LastIndex(text, place); i >= 0 {
		if n, err := strconv.Atoi(text[i+len(place):]); err == nil {
			text, line = text[:i], n
		}
	}
	return strings.ReplaceAll(text, path, "the file"), line
}
