package cluster

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/test/kit"
)

// watching is a call of the plugin that goes on, and the lines that it prints.
type watching struct {
	command *exec.Cmd
	lines   *bufio.Scanner
	errs    strings.Builder
}

func (v call) watch(t *testing.T, arguments ...string) *watching {
	t.Helper()
	path, err := pluginBinary()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), kit.Patience)
	t.Cleanup(cancel)
	w := &watching{command: exec.CommandContext(ctx, path, arguments...)}
	w.command.Env = v.environ(t)
	w.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	w.command.Stderr = &w.errs
	out, err := w.command.StdoutPipe()
	if err == nil {
		err = w.command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	w.lines = bufio.NewScanner(out)
	return w
}

// next waits for a line with these texts, the first of which says what is waited for.
func (w *watching) next(t *testing.T, texts ...string) string {
	t.Helper()
	for w.lines.Scan() {
		line := spaces.ReplaceAllString(w.lines.Text(), "   ")
		found := 0
		for _, text := range texts {
			if strings.Contains(line, text) {
				found++
			}
		}
		if found == len(texts) {
			return line
		}
	}
	_ = w.command.Wait()
	t.Fatalf("it ended before %q came: %s", texts, w.errs.String())
	return ""
}

// interrupted ends it as Ctrl-C does.
func (w *watching) interrupted(t *testing.T) {
	t.Helper()
	if err := w.command.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	for w.lines.Scan() {
		t.Errorf("it prints %q at its end", w.lines.Text())
	}
	if err := w.command.Wait(); err != nil || strings.Contains(w.errs.String(), "error") {
		t.Errorf("after Ctrl-C: %v, it says %q", err, w.errs.String())
	}
}

// pluginWatch: a Problem is shown when it comes and when it goes, and Ctrl-C ends with 0.
func pluginWatch(t *testing.T, p *pluginScene) {
	where := []string{"--controller-namespace", p.system, "--namespace", p.name}
	table := p.watch(t, append([]string{"problems", "--watch"}, where...)...)
	document := p.watch(t, append([]string{"problems", "-w", "-o", "json"}, where...)...)
	if head := table.next(t, "EVENT"); head != "EVENT   OBJECT   REASON   FIELD   TEXT" {
		t.Errorf("the heading is %q", head)
	}
	table.next(t, "ADDED   Ingress plugin/bad   NotFound")
	document.next(t, `{"event":"ADDED","problem":{"object":{"kind":"Ingress","namespace":"plugin","name":"bad"}`)

	const host = "watched.plugin.example"
	object := annotated(p.ingress("watched", path(host, "/", networkingv1.PathTypePrefix, "web")), "proxy-read-timeout", "late")
	p.Apply(t, object)
	table.next(t, "ADDED   Ingress plugin/watched", "proxy-read-timeout", "late")
	line := document.next(t, "ADDED", `"name":"watched"`)
	p.Delete(t, object)
	table.next(t, "REMOVED   Ingress plugin/watched", "proxy-read-timeout")
	document.next(t, strings.Replace(line, "ADDED", "REMOVED", 1))
	if !json.Valid([]byte(line)) {
		t.Errorf("%q is not JSON", line)
	}
	table.interrupted(t)
	document.interrupted(t)
	p.fails(t, []string{"problems", "--watch", "-o", "yaml"}, "--watch: want it with -o table, wide or json (got yaml)")
	p.fails(t, append([]string{"problems", "--watch", "--pod", "no-such"}, where...), `no pod "no-such"`)
	Eventually(t, "two Ingresses again, which other tests want", func(context.Context) error {
		if got := p.must(t, "general", "--namespace", p.system); !strings.Contains(got, "Serves:        2 Ingresses") {
			return fmt.Errorf("general says %s", got)
		}
		return nil
	})
}
