package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"
	utilexec "k8s.io/client-go/util/exec"

	"sluice/test/kit"
)

// aPod makes a pod of one container, and gives its name when it runs.
func aPod(t *testing.T, c *Cluster, namespace, container string) string {
	t.Helper()
	d := Deployment(namespace, "one", 1)
	d.Spec.Template.Spec.Containers[0].Name = container
	c.Apply(t, d)
	c.AwaitDeployment(t, namespace, "one")
	return c.Pods(t, namespace, "one")[0].Name
}

// remoteCommand is one command that is run in a container.
type remoteCommand struct {
	options corev1.PodExecOptions
	stdin   string
	spdy    bool
}

// run gives what the command printed, and how it ended.
func (v remoteCommand) run(t *testing.T, c *Cluster, namespace, pod string) (out, errs string, err error) {
	t.Helper()
	v.options.Stdin, v.options.Stdout, v.options.Stderr = v.stdin != "", true, !v.options.TTY
	url := c.Admin().CoreV1().RESTClient().Post().Namespace(namespace).Resource("pods").Name(pod).SubResource("exec").
		VersionedParams(&v.options, scheme.ParameterCodec).URL()
	executor, err := remotecommand.NewWebSocketExecutor(c.Config(), http.MethodGet, url.String())
	if v.spdy {
		executor, err = remotecommand.NewSPDYExecutor(c.Config(), http.MethodPost, url)
	}
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	streams := remotecommand.StreamOptions{Stdout: &stdout, Tty: v.options.TTY}
	if v.options.Stdin {
		streams.Stdin = strings.NewReader(v.stdin)
	}
	if v.options.Stderr {
		streams.Stderr = &stderr
	}
	ctx, cancel := context.WithTimeout(t.Context(), kit.Patience)
	defer cancel()
	err = executor.StreamWithContext(ctx, streams)
	return stdout.String(), stderr.String(), err
}

// TestExec: commands run with the environment of what is bound, by either
// protocol, and tell what they print and how they end.
func TestExec(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	ns := c.NewNamespace(t, "exec")
	pod := aPod(t, c, ns, "main")
	c.Bind(t, ns, pod, "main", Program{Environment: []string{"GREETING=hello"}, Log: kit.Log(filepath.Join(t.TempDir(), "log"))})
	for _, overSPDY := range []bool{false, true} {
		t.Run(fmt.Sprintf("spdy=%t", overSPDY), func(t *testing.T) {
			options := corev1.PodExecOptions{Container: "main", Command: []string{"sh", "-c", `read line; echo "$GREETING $line"; echo oops >&2; exit 3`}}
			out, errs, err := remoteCommand{options, "world\n", overSPDY}.run(t, c, ns, pod)
			if exit := (utilexec.CodeExitError{}); !errors.As(err, &exit) || exit.Code != 3 {
				t.Errorf("it ended with %v, not with the status 3", err)
			}
			if out != "hello world\n" || errs != "oops\n" {
				t.Errorf("it printed %q and %q", out, errs)
			}
			options.Command = []string{"cat"}
			if out, _, err = (remoteCommand{options, "to the end", overSPDY}).run(t, c, ns, pod); out != "to the end" || err != nil {
				t.Errorf("cat gave %q, %v", out, err)
			}
			options.Command, options.TTY = []string{"sh", "-c", "test -t 0 && test -t 1 && echo a terminal"}, true
			if out, _, err = (remoteCommand{options, "", overSPDY}).run(t, c, ns, pod); strings.TrimSpace(out) != "a terminal" || err != nil {
				t.Errorf("with a terminal: %q, %v", out, err)
			}
		})
	}
}

// TestFoldersOfPrograms: a path in a container is really elsewhere, and one that
// only begins alike is not meant.
func TestFoldersOfPrograms(t *testing.T) {
	t.Parallel()
	p := Program{Folders: map[string]string{"/var/lib/x": "/tmp/real"}}
	for argument, want := range map[string]string{
		"/var/lib/x": "/tmp/real", "/var/lib/x/y": "/tmp/real/y", "--dir=/var/lib/x": "--dir=/tmp/real", "--dir=/var/lib/x/y": "--dir=/tmp/real/y",
		"/var/lib/xy": "/var/lib/xy", "--dir=/var/lib/xy": "--dir=/var/lib/xy", "x": "x", "a=": "a=",
	} {
		if got := p.real(argument); got != want {
			t.Errorf("%s: %s, want %s", argument, got, want)
		}
	}
}

// TestExecRefuses says why, in what the client is told.
func TestExecRefuses(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	ns := c.NewNamespace(t, "refused")
	pod := aPod(t, c, ns, "main")
	bound := func() {
		c.Bind(t, ns, pod, "main", Program{Log: kit.Log(filepath.Join(t.TempDir(), "log"))})
	}
	for _, test := range []struct {
		container, command, says string
		before                   func()
	}{
		{"main", "true", "no test has bound a program to it", func() {}},
		{"other", "true", "container other is not valid for pod " + pod, func() {}},
		{"main", "no-such-program", "executable file not found", bound},
	} {
		test.before()
		_, _, err := remoteCommand{options: corev1.PodExecOptions{Container: test.container, Command: []string{test.command}}}.run(t, c, ns, pod)
		if err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s in %s: %v, not %q", test.command, test.container, err, test.says)
		}
	}
}

// TestKubeletWantsACertificate: nobody but the API server runs commands.
func TestKubeletWantsACertificate(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	transport, err := rest.TransportFor(c.anonymous())
	if err != nil {
		t.Fatal(err)
	}
	response, err := (&http.Client{Transport: transport}).Get(fmt.Sprintf("https://%s:%d/containerLogs/a/b/c", c.nodes.all[0].address, kubeletPort))
	if err == nil {
		response.Body.Close()
		t.Errorf("without a certificate the kubelet answers %s", response.Status)
	}
}

func TestPortForward(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	ns := c.NewNamespace(t, "forward")
	pod := aPod(t, c, ns, "main")
	transport, upgrader, err := spdy.RoundTripperFor(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	url := c.Admin().CoreV1().RESTClient().Post().Namespace(ns).Resource("pods").Name(pod).SubResource("portforward").URL()
	overSPDY := spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, url)
	tunnel, err := portforward.NewSPDYOverWebsocketDialer(url, c.Config())
	if err != nil {
		t.Fatal(err)
	}
	for name, dialer := range map[string]httpstream.Dialer{"spdy": overSPDY, "websocket": tunnel} {
		t.Run(name, func(t *testing.T) {
			stop, ready := make(chan struct{}), make(chan struct{})
			defer close(stop)
			f, err := portforward.New(dialer, []string{fmt.Sprintf("0:%d", PodPort)}, stop, ready, io.Discard, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- f.ForwardPorts() }()
			select {
			case <-ready:
			case err := <-ended:
				t.Fatal(err)
			case <-time.After(kit.Patience):
				t.Fatal("no port was forwarded in time")
			}
			ports, err := f.GetPorts()
			if err != nil {
				t.Fatal(err)
			}
			answer := EventuallyStatus(t, Request{URL: fmt.Sprintf("http://127.0.0.1:%d/", ports[0].Local)}, http.StatusOK)
			if answer.Echo == nil || answer.Echo.Pod != pod {
				t.Errorf("the answer came from %s", answer.Body)
			}
		})
	}
}

// TestLogs: what a program printed, as pods/log is asked for it.
func TestLogs(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	ns := c.NewNamespace(t, "logs")
	pod := aPod(t, c, ns, "main")
	path := filepath.Join(t.TempDir(), "log")
	c.Bind(t, ns, pod, "main", Program{Log: kit.Log(path)})
	say := func(text string) {
		t.Helper()
		file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
		if err == nil {
			_, err = file.WriteString(text)
		}
		if err := errors.Join(err, file.Close()); err != nil {
			t.Fatal(err)
		}
	}
	logs := func(o corev1.PodLogOptions) (string, error) {
		ctx, cancel := context.WithTimeout(t.Context(), kit.Patience)
		defer cancel()
		stream, err := c.Admin().CoreV1().Pods(ns).GetLogs(pod, &o).Stream(ctx)
		if err != nil {
			return "", err
		}
		defer stream.Close()
		content, err := io.ReadAll(stream)
		return string(content), err
	}
	eventually := func(want string, o corev1.PodLogOptions) {
		t.Helper()
		Eventually(t, fmt.Sprintf("the log %q", want), func(context.Context) error {
			got, err := logs(o)
			if err == nil && got != want {
				err = fmt.Errorf("it is %q", got)
			}
			return err
		})
	}
	say("one\ntwo\nthree\nunfini")
	eventually("one\ntwo\nthree\n", corev1.PodLogOptions{})
	one, nine, future := int64(1), int64(9), metav1.NewTime(time.Now().Add(time.Hour))
	eventually("three\n", corev1.PodLogOptions{TailLines: &one})
	eventually("one\ntwo\nt", corev1.PodLogOptions{LimitBytes: &nine})
	eventually("", corev1.PodLogOptions{SinceTime: &future})
	stamped, err := logs(corev1.PodLogOptions{Timestamps: true, TailLines: &one})
	when, line, _ := strings.Cut(stamped, " ")
	if at, wrong := time.Parse(time.RFC3339Nano, when); err != nil || wrong != nil || line != "three\n" || time.Since(at).Abs() > kit.Patience {
		t.Errorf("with a time: %q, %v", stamped, err)
	}
	if _, err := logs(corev1.PodLogOptions{Previous: true}); err == nil || !strings.Contains(err.Error(), "previous terminated container") {
		t.Errorf("of an earlier run: %v", err)
	}
	stream, err := c.Admin().CoreV1().Pods(ns).GetLogs(pod, &corev1.PodLogOptions{Follow: true, TailLines: &one}).Stream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	say("shed\n")
	want := "three\nunfinished\n"
	got := make([]byte, len(want))
	if _, err := io.ReadFull(stream, got); string(got) != want || err != nil {
		t.Errorf("followed: %q, %v", got, err)
	}
}
