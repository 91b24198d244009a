package cluster

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/creack/pty"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
)

// executor runs commands beside a program, as processes of this machine.
type executor struct {
	nodes *nodes
	*bound
}

// ExecInContainer runs a command to its end. It is ended with the nodes, and
// does not outlive the tests.
func (e executor) ExecInContainer(_ context.Context, _, _, _ string, line []string, in io.Reader, out, errs io.WriteCloser, tty bool, resize <-chan remotecommand.TerminalSize, _ time.Duration) error {
	command := exec.CommandContext(e.nodes.life, e.find(line[0]))
	for _, argument := range line[1:] {
		command.Args = append(command.Args, e.real(argument))
	}
	command.Args[0] = line[0]
	command.Env = append(os.Environ(), e.Environment...)
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if tty {
		return exitOf(runWithTerminal(command, in, out, resize))
	}
	return exitOf(runWithPipes(command, in, out, errs))
}

// find gives the path of a program by the container's own PATH; os/exec would
// look at that of the tests.
func (e executor) find(program string) string {
	if strings.ContainsRune(program, '/') {
		return program
	}
	for _, setting := range e.Environment {
		path, is := strings.CutPrefix(setting, "PATH=")
		if !is {
			continue
		}
		for folder := range strings.SplitSeq(path, string(os.PathListSeparator)) {
			if found, err := exec.LookPath(folder + "/" + program); err == nil {
				return found
			}
		}
	}
	return program
}

// runWithPipes ends when the command does, even if the client goes on to say
// something.
func runWithPipes(command *exec.Cmd, in io.Reader, out, errs io.Writer) error {
	if out != nil {
		command.Stdout = out
	}
	if errs != nil {
		command.Stderr = errs
	}
	if in == nil {
		return command.Run()
	}
	stdin, err := command.StdinPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	go func() {
		defer stdin.Close()
		_, _ = io.Copy(stdin, in) // a command need not read all that it is told
	}()
	return command.Wait()
}

// runWithTerminal gives the command a terminal of its own, whose size follows
// the client's.
func runWithTerminal(command *exec.Cmd, in io.Reader, out io.Writer, resize <-chan remotecommand.TerminalSize) error {
	command.SysProcAttr.Setsid, command.SysProcAttr.Setctty = true, true
	command.Env = append(command.Env, "TERM=xterm")
	terminal, err := pty.Start(command)
	if err != nil {
		return err
	}
	defer terminal.Close()
	go func() {
		for size := range resize {
			_ = pty.Setsize(terminal, &pty.Winsize{Rows: size.Height, Cols: size.Width})
		}
	}()
	if in != nil {
		go func() { _, _ = io.Copy(terminal, in) }()
	}
	if out != nil {
		_, _ = io.Copy(out, terminal) // ends with EIO when the command has ended
	}
	return command.Wait()
}

// exitOf makes an exit status one that the client is told.
func exitOf(err error) error {
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.Exited() {
		return utilexec.CodeExitError{Err: err, Code: exit.ExitCode()}
	}
	return err
}

// forwarder connects to the ports of a pod. at gives where one is.
type forwarder struct{ at func(port int32) string }

// PortForward ends when either side does.
func (f forwarder) PortForward(ctx context.Context, _, _ string, port int32, stream io.ReadWriteCloser) error {
	connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", f.at(port))
	if err != nil {
		return err
	}
	defer connection.Close()
	go func() {
		_, _ = io.Copy(connection, stream)
		if half, ok := connection.(*net.TCPConn); ok {
			_ = half.CloseWrite()
		}
	}()
	_, err = io.Copy(stream, connection)
	return err
}
