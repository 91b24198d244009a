package docs

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sluice/test/kit"
)

// Shell is the one bash that runs the commands of a page, so that what a command
// sets or where it goes holds for the next, as it does for a reader.
type Shell struct {
	command *exec.Cmd
	input   *os.File
	ends    *bufio.Reader // a line for each command that has ended: its status
	reports *os.File
	notes   string // a folder for what the commands are and print
	count   int
	exited  chan struct{}
}

// patience bounds one command. That which takes longest builds Sluice.
const patience = 10 * time.Minute

// errPatience is how a command ends that does not end by itself.
var errPatience = errors.New("it goes on for too long: a command that does wants <!-- background --> before its block")

// StartShell starts a bash in a folder. Its files are in another, so that they are in
// no reader's way.
func StartShell(folder, notes string, environment []string) (*Shell, error) {
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	command := exec.Command("bash", "--noprofile", "--norc", "-s")
	command.Dir, command.Env, command.Stdin = folder, environment, inRead
	command.ExtraFiles = []*os.File{outWrite} // its descriptor 3
	// It leads a process group, by which all that it started is ended.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	err = command.Start()
	inRead.Close()
	outWrite.Close()
	if err != nil {
		return nil, err
	}
	s := &Shell{command: command, input: inWrite, ends: bufio.NewReader(outRead), reports: outRead, notes: notes, exited: make(chan struct{})}
	go func() {
		_ = command.Wait()
		close(s.exited)
	}()
	_, _, err = s.Run("set -o pipefail")
	return s, err
}

// write puts a command into a file, and gives that and the one for its output.
func (s *Shell) write(text string) (command, output string, err error) {
	s.count++
	command = filepath.Join(s.notes, fmt.Sprintf("%d.sh", s.count))
	return command, strings.TrimSuffix(command, ".sh") + ".out", os.WriteFile(command, []byte(text+"\n"), 0o644)
}

// Run runs a command and waits for its end.
func (s *Shell) Run(text string) (printed string, status int, err error) {
	command, output, err := s.write(text)
	if err != nil {
		return "", 0, err
	}
	if _, err := fmt.Fprintf(s.input, ". %s > %s 2>&1 < /dev/null 3>&-; echo $? >&3\n", command, output); err != nil {
		return "", 0, fmt.Errorf("the shell has ended: %w", err)
	}
	status, err = s.awaitEnd()
	content, readErr := os.ReadFile(output)
	return string(content), status, errors.Join(err, readErr)
}

// awaitEnd waits until the shell says how a command has ended.
func (s *Shell) awaitEnd() (status int, err error) {
	if err := s.reports.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return 0, err
	}
	line, err := s.ends.ReadString('\n')
	if errors.Is(err, os.ErrDeadlineExceeded) {
		s.Close()
		return 0, errPatience
	}
	if err != nil {
		return 0, fmt.Errorf("the shell has ended: %w", err)
	}
	return strconv.Atoi(strings.TrimSpace(line))
}

// Background is a command that goes on.
type Background struct{ output, end string }

// Start starts a command and does not wait for its end.
func (s *Shell) Start(text string) (*Background, error) {
	command, output, err := s.write(text)
	if err != nil {
		return nil, err
	}
	b := &Background{output: output, end: output + ".end"}
	_, _, err = s.Run(fmt.Sprintf("{ ( . %s ) > %s 2>&1 < /dev/null; echo $? > %s; } &", command, output, b.end))
	return b, err
}

// Ended says whether it has ended, which it was not to.
func (b *Background) Ended() bool {
	_, err := os.Stat(b.end)
	return err == nil
}

// Printed is what it has printed so far.
func (b *Background) Printed() string {
	content, _ := os.ReadFile(b.output) // it may not have begun yet
	return string(content)
}

// Close ends the shell and everything that it has started, as Ctrl-C would end
// what is in a terminal.
func (s *Shell) Close() {
	s.input.Close()
	group := -s.command.Process.Pid
	// Commands in the background of a shell ignore SIGINT; SIGTERM does as much. A
	// second one would keep Sluice from ending in order.
	_ = syscall.Kill(group, syscall.SIGTERM)
	for deadline := time.Now().Add(kit.Patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if syscall.Kill(group, 0) != nil {
			break // nobody is left
		}
	}
	_ = syscall.Kill(group, syscall.SIGKILL)
	<-s.exited
	s.reports.Close()
}
