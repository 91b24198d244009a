package cluster

import (
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"sluice/test/kit"
)

// onTerminal runs the plugin at a terminal of 97 columns, where a text is typed,
// and gives all that the terminal got.
func (v call) onTerminal(t *testing.T, typed string, arguments ...string) string {
	t.Helper()
	path, err := pluginBinary()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), kit.Patience)
	defer cancel()
	command := exec.CommandContext(ctx, path, arguments...)
	command.Env = append(v.environ(t), "TERM=xterm")
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Pdeathsig: syscall.SIGKILL}
	terminal, err := pty.StartWithAttrs(command, &pty.Winsize{Rows: 31, Cols: 97}, command.SysProcAttr)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	if _, err := io.WriteString(terminal, typed); err != nil {
		t.Fatal(err)
	}
	shown, _ := io.ReadAll(terminal) // ends with EIO when the plugin has ended
	if err := command.Wait(); err != nil {
		t.Fatalf("%q: %v: %s", arguments, err, shown)
	}
	return strings.ReplaceAll(string(shown), "\r\n", "\n")
}

// pluginTerminal: colours are for terminals whose owner wants them; a program
// gets a terminal of the size of ours; and what a log holds cannot steer it.
func pluginTerminal(t *testing.T, p *pluginScene) {
	pod := "--pod=" + p.pods[0].Name
	general := []string{"general", "--namespace", p.system, pod}
	if got := p.onTerminal(t, "", general...); !strings.Contains(got, "\x1b[32myes\x1b[0m") {
		t.Errorf("on a terminal general says %q", got)
	}
	plain := p.call
	plain.environment = []string{"NO_COLOR=1"}
	if got := plain.onTerminal(t, "", general...); strings.Contains(got, "\x1b") || !strings.Contains(got, "yes") {
		t.Errorf("with NO_COLOR general says %q", got)
	}
	// The size comes a moment after the program has begun, as from any kubelet.
	const script = `until [ "$(stty size)" != "0 0" ]; do :; done; stty size; read drink; echo I like $drink`
	got := p.onTerminal(t, "tea\n", "exec", "-it", "--namespace", p.system, pod, "--", "sh", "-c", script)
	if !strings.Contains(got, "31 97\n") || !strings.Contains(got, "I like tea\n") {
		t.Errorf("exec -it says %q", got)
	}
	file, err := os.OpenFile(string(p.Log), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString("steered \x1b[2J away\n"); err != nil {
		t.Fatal(err)
	}
	Eventually(t, "the line in the log", func(context.Context) error {
		got = p.onTerminal(t, "", "logs", "--namespace", p.system, pod)
		if !strings.Contains(got, "steered ") {
			return io.ErrUnexpectedEOF
		}
		return nil
	})
	if strings.Contains(got, "\x1b") || !strings.Contains(got, `steered \x1b[2J away`) {
		t.Errorf("on a terminal the log ends with %q", got[len(got)-60:])
	}
	if raw := p.must(t, "logs", "--namespace", p.system, pod); !strings.Contains(raw, "steered \x1b[2J away") {
		t.Error("a file does not get the log as it is")
	}
}
