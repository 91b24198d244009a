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
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice/internal/syntax"
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

// TestApart checks a small file beside everything else. It takes no turn, because the file
// listens on unix sockets of its own, so that it keeps nobody from a port. If memory runs
// out, the kernel ends this test first: then it decides nothing. A file that takes longer
// than names that resolve is refused.
func (p *Process) TestApart(ctx context.Context, conf io.WriterTo) error {
	sockets, err := os.MkdirTemp(p.options.StateDir, apartDir)
	if err != nil {
		return fmt.Errorf("make room for a test: %w", err)
	}
	defer os.RemoveAll(sockets)
	var text bytes.Buffer
	if _, err := conf.WriteTo(&text); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	return p.testWithin(ctx, Conf(listeningApart(text.Bytes(), sockets)), p.apartTimeout(), true)
}

// apartDir is the pattern of the folders with the sockets of small files. It is short, because
// the paths of sockets are.
const apartDir = "t-*"

// apartTime is longer than a small file takes whose names resolve.
const apartTime = 2 * time.Second

// apartTimeout limits the test of a small file: on a slow machine it is longer.
func (p *Process) apartTimeout() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(apartTime, 2*p.longestLoad)
}

// listen is a listen directive: its beginning, the address and the parameters.
var listen = regexp.MustCompile(`(?s)^(listen\s+)("[^"]*"|'[^']*'|[^\s;]+)([^;]*);$`)

// ofPorts are parameters of listen that unix sockets cannot have.
var ofPorts = regexp.MustCompile(`[ \t]+(quic|udp|reuseport|ipv6only=\w+|so_keepalive=[\w:]+|fastopen=\d+)\b`)

// listeningApart replaces each address of listen directives by a unix socket in a folder.
func listeningApart(conf []byte, folder string) (apart []byte) {
	sockets := map[string]string{}
	from := 0
	syntax.Directives(conf, func(d syntax.Directive) {
		parts := listen.FindSubmatch(conf[d.Start:d.End])
		if d.Name != "listen" || d.Block != "server" || parts == nil {
			return
		}
		dropped := ofPorts.FindAllString(string(parts[3]), -1)
		key := d.Arg
		for _, parameter := range []string{"quic", "udp"} {
			if slices.ContainsFunc(dropped, func(d string) bool { return strings.TrimSpace(d) == parameter }) {
				key += " " + parameter
			}
		}
		socket := sockets[key]
		if socket == "" {
			socket = fmt.Sprintf("%s/%d", folder, len(sockets))
			sockets[key] = socket
		}
		apart = append(apart, conf[from:d.Start]...)
		apart = fmt.Appendf(apart, `%s"unix:%s"%s;`, parts[1], socket, ofPorts.ReplaceAll(parts[3], nil))
		from = d.End
	})
	return append(apart, conf[from:]...)
}

func (p *Process) test(ctx context.Context, conf io.WriterTo) error {
	return p.testWithin(ctx, conf, 0, false)
}

// testWithin tests a file. A limit of 0 is that of the options. A test that is expendable is
// the first to end if memory runs out.
func (p *Process) testWithin(ctx context.Context, conf io.WriterTo, limit time.Duration, expendable bool) error {
	path, err := writeBeside(p.options.path("candidate-*.conf"), conf)
	if err != nil {
		return err
	}
	defer os.Remove(path)
	if limit == 0 {
		limit = p.testTimeout(path)
	}
	began := time.Now()
	output, err := p.runTest(ctx, path, limit, expendable)
	if err == nil && !expendable {
		p.noteLoad(time.Since(began))
	}
	var failed *exec.ExitError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("test the configuration: %w", ctx.Err())
	case errors.Is(err, context.DeadlineExceeded):
		return &TestError{Text: fmt.Sprintf("`nginx -t` did not end within %v", limit), Raw: output}
	case errors.As(err, &failed) && failed.Exited():
		return parseTestOutput(output, path)
	default:
		return fmt.Errorf("run `nginx -t`: %w", err)
	}
}

func (p *Process) runTest(ctx context.Context, path string, limit time.Duration, expendable bool) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	argv := p.install.Command(p.arguments("-t", "-c", path)...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.Env, cmd.Dir, cmd.WaitDelay = environment(largePages+keepMemory), "/", time.Second
	cmd.SysProcAttr = attributes()
	if err := cmd.Start(); err != nil {
		return "", err
	}
	if expendable {
		// Where that is not allowed, the test is as any other process.
		_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", cmd.Process.Pid), []byte("1000"), 0)
	}
	err := cmd.Wait()
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
