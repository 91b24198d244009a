package kit

import (
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Process is a started program.
type Process struct {
	Command *exec.Cmd
	// Exited is closed when the program has ended and was reaped; then Err is its
	// result.
	Exited chan struct{}
	Err    error
}

// Start starts a command, which is reaped when it ends. Its output is appended to a
// log, unless the command redirects it. The log is a file, because a child that
// outlives the program would hold a pipe open.
func Start(t testing.TB, command *exec.Cmd, log Log) *Process {
	t.Helper()
	p, err := Launch(command, log)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Launch is Start without a test.
func Launch(command *exec.Cmd, log Log) (*Process, error) {
	output, err := os.OpenFile(string(log), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer output.Close()
	if command.Stdout == nil {
		command.Stdout = output
	}
	if command.Stderr == nil {
		command.Stderr = output
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	p := &Process{Command: command, Exited: make(chan struct{})}
	go func() {
		p.Err = command.Wait()
		close(p.Exited)
	}()
	return p, nil
}

// PID is the process id.
func (p *Process) PID() int { return p.Command.Process.Pid }

// Ended reports whether the program has ended.
func (p *Process) Ended() bool {
	select {
	case <-p.Exited:
		return true
	default:
		return false
	}
}

// Stop sends a signal and waits for the end. If the program has not ended after
// patience, it is killed, together with its process group if it leads one. Stop can
// be called repeatedly.
func (p *Process) Stop(signal syscall.Signal, patience time.Duration) {
	_ = p.Command.Process.Signal(signal)
	select {
	case <-p.Exited:
	case <-time.After(patience):
		p.kill()
		<-p.Exited
	}
}

func (p *Process) kill() {
	if attributes := p.Command.SysProcAttr; attributes != nil && attributes.Setpgid {
		_ = syscall.Kill(-p.PID(), syscall.SIGKILL)
		return
	}
	_ = p.Command.Process.Kill()
}

// Log is the path of the file with the output of a process.
type Log string

// Text returns the output so far.
func (l Log) Text(t testing.TB) string {
	t.Helper()
	content, err := l.Read()
	if err != nil {
		t.Error(err)
	}
	return content
}

// Read is Text without a test.
func (l Log) Read() (string, error) {
	content, err := os.ReadFile(string(l))
	return string(content), err
}

// Size is the number of bytes so far.
func (l Log) Size(t testing.TB) int64 {
	t.Helper()
	info, err := os.Stat(string(l))
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// Since returns the output after the first bytes, of a number that Size gave.
func (l Log) Since(t testing.TB, size int64) string {
	t.Helper()
	file, err := os.Open(string(l))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	content, err := io.ReadAll(io.NewSectionReader(file, size, math.MaxInt64-size))
	if err != nil {
		t.Error(err)
	}
	return string(content)
}

// Lines returns the lines so far that contain a text, without line ends. The last one of the
// file is no line before its end is written.
func (l Log) Lines(t testing.TB, text string) []string {
	t.Helper()
	var found []string
	for line := range strings.Lines(l.Text(t)) {
		if line, ended := strings.CutSuffix(line, "\n"); ended && strings.Contains(line, text) {
			found = append(found, line)
		}
	}
	return found
}

// Reloads counts the reloads of nginx that Sluice has told of. nginx serves what is new a moment before
// the line of the sync is written, so a reload that has begun is waited for.
func (l Log) Reloads(t testing.TB) int {
	t.Helper()
	var count int
	Await(t, "the line of the sync that reloads nginx", func() bool {
		var busy bool
		count, busy = countReloads(l.Lines(t, ""))
		return !busy
	})
	return count
}

// countReloads also tells whether nginx was told to reload and the end of it is not in the log.
func countReloads(lines []string) (count int, busy bool) {
	for _, line := range lines {
		switch {
		case strings.Contains(line, "signal 1 (SIGHUP) received"):
			busy = true
		case strings.Contains(line, "msg=sync ") && strings.Contains(line, "reload=true"):
			count, busy = count+1, false
		case strings.Contains(line, `msg="sync failed`), strings.Contains(line, `msg="nginx found"`), strings.Contains(line, `msg="nginx started"`):
			busy = false
		}
	}
	return count, busy
}

// Tail returns at most the last n lines.
func Tail(lines []string, n int) string {
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// Patience limits each wait for something that must happen. Only a test that fails
// waits so long. It is long because a busy machine can take ten times as long as an
// idle one. RequestPatience limits one request, so that a wait can try again.
const (
	Patience        = 4 * time.Minute
	RequestPatience = time.Minute
)

// Await polls until holds returns true, and fails the test after Patience. The longer it takes the
// less often it looks, but never later than a fortieth of the time: reading logs and asking
// processes every 5 ms took a good part of the processor of a busy machine.
func Await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for began := time.Now(); !holds(); time.Sleep(Pause(began, 5*time.Millisecond)) {
		if time.Since(began) > Patience {
			t.Fatalf("waited %s in vain for %s", Patience, what)
		}
	}
}

// Pause is the time to the next look at something that is waited for since a moment: the shortest
// at first, and at most eight times that.
func Pause(began time.Time, shortest time.Duration) time.Duration {
	return min(max(shortest, time.Since(began)/40), 8*shortest)
}

// Children are the processes that a process of one thread, such as nginx's master, has started and
// that are its own still, also those that have ended and that it has not reaped. Looking through
// all processes of a machine for them takes a hundred times as long. Source: proc(5),
// /proc/pid/task/tid/children, which Linux has since 3.5.
func Children(parent int) []int {
	id := strconv.Itoa(parent)
	content, _ := os.ReadFile(filepath.Join("/proc", id, "task", id, "children"))
	var found []int
	for _, child := range strings.Fields(string(content)) {
		if pid, err := strconv.Atoi(child); err == nil {
			found = append(found, pid)
		}
	}
	return found
}
