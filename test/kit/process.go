package kit

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Process is a program that was started.
type Process struct {
	Command *exec.Cmd
	// Exited is closed when the program has ended and was reaped; Err says how
	// it ended, from then on.
	Exited chan struct{}
	Err    error
}

// Start starts a command, which is reaped as soon as it ends. What it prints is
// appended to a log, unless the command says where else that goes. That is
// a file and not a pipe, which a child that outlives the program would hold open.
func Start(t testing.TB, command *exec.Cmd, log Log) *Process {
	t.Helper()
	p, err := Launch(command, log)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Launch is Start for where there is no test at hand.
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

// Ended says whether the program has ended.
func (p *Process) Ended() bool {
	select {
	case <-p.Exited:
		return true
	default:
		return false
	}
}

// Stop sends a signal and waits for the end. If that does not come within
// patience, the program is killed, and with it its process group if it was
// started as the leader of one. It may be called again.
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

// Log is the path of the file that a process prints to.
type Log string

// Text is all that was printed so far.
func (l Log) Text(t testing.TB) string {
	t.Helper()
	content, err := l.Read()
	if err != nil {
		t.Error(err)
	}
	return content
}

// Read is Text for where there is no test at hand.
func (l Log) Read() (string, error) {
	content, err := os.ReadFile(string(l))
	return string(content), err
}

// Lines are those lines so far that contain a text, without their ends.
func (l Log) Lines(t testing.TB, text string) []string {
	t.Helper()
	var found []string
	for line := range strings.Lines(l.Text(t)) {
		if strings.Contains(line, text) {
			found = append(found, strings.TrimSuffix(line, "\n"))
		}
	}
	return found
}

// Tail gives at most the last n lines.
func Tail(lines []string, n int) string {
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// Await polls until something holds, and fails the test after patience.
func Await(t testing.TB, patience time.Duration, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited %s in vain for %s", patience, what)
		}
	}
}
