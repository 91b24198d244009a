package plugin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/util/exec"
	"k8s.io/streaming/pkg/httpstream"

	"sluice/internal/kube"
	"sluice/internal/snapshot"
)

// remote is a command that runs in a container of a pod. A nil stream is not
// asked for.
type remote struct {
	pod       *corev1.Pod
	container string
	command   []string
	stdin     io.Reader
	stdout    io.Writer
	stderr    io.Writer
	// sizes are those of the terminal that the command has; nil for none.
	sizes remotecommand.TerminalSizeQueue
}

// run runs a command to its end, as kubectl does: over a WebSocket, or over SPDY
// where something on the way does not know that. The error is an
// exec.CodeExitError if the command gave a status other than 0.
func (c *cluster) run(ctx context.Context, r remote) error {
	tty := r.sizes != nil
	location := c.URL(kube.Pods, kube.Subresource{Of: nameOf(r.pod), Name: "exec"}, &corev1.PodExecOptions{
		Container: r.container, Command: r.command, Stdin: r.stdin != nil, Stdout: r.stdout != nil, Stderr: r.stderr != nil && !tty, TTY: tty,
	})
	spdy, err := remotecommand.NewSPDYExecutor(c.config, http.MethodPost, location)
	if err != nil {
		return err
	}
	websocket, err := remotecommand.NewWebSocketExecutor(c.config, http.MethodGet, location.String())
	if err != nil {
		return err
	}
	executor, err := remotecommand.NewFallbackExecutor(websocket, spdy, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	})
	if err != nil {
		return err
	}
	options := remotecommand.StreamOptions{Stdin: r.stdin, Stdout: r.stdout, Stderr: r.stderr, Tty: tty, TerminalSizeQueue: r.sizes}
	if tty {
		options.Stderr = nil
	}
	return executor.StreamWithContext(ctx, options)
}

func nameOf(p *corev1.Pod) snapshot.Name {
	return snapshot.Name{Namespace: p.Namespace, Name: p.Name}
}

// controller is the pod that is asked.
type controller struct {
	*cluster
	pod       *corev1.Pod
	container string
}

// at gives the controller in a pod; it fails if the pod has no such container.
func (f *podFlags) at(c *cluster, pod *corev1.Pod) (*controller, error) {
	var names []string
	for _, one := range pod.Spec.Containers {
		names = append(names, one.Name)
	}
	if !slices.Contains(names, f.container) {
		return nil, fmt.Errorf("the pod %s/%s has no container %q: want --container with one of %s", pod.Namespace, pod.Name, f.container, strings.Join(names, ", "))
	}
	return &controller{cluster: c, pod: pod, container: f.container}, nil
}

// controller finds the pod that is asked.
func (s *session) controller(ctx context.Context, f *podFlags) (*controller, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	pod, err := f.pick(ctx, s, c)
	if err != nil {
		return nil, err
	}
	return f.at(c, pod)
}

// get asks the controller for a view, and gives the body of the answer. The
// command there talks to the controller by a unix socket, which nobody reaches
// from outside the container.
func (c *controller) get(ctx context.Context, path string, query url.Values) ([]byte, error) {
	where := url.URL{Path: path, RawQuery: query.Encode()}
	command := []string{"sluice", "debug", "get", where.String()}
	if folder := c.stateDir(); folder != "" {
		command = append(command, "--state-dir", folder)
	}
	var body, complaint bytes.Buffer
	err := c.run(ctx, remote{pod: c.pod, container: c.container, command: command, stdout: &body, stderr: &complaint})
	if exit := (exec.CodeExitError{}); errors.As(err, &exit) {
		text := strings.TrimSpace(strings.TrimPrefix(complaint.String(), "sluice: "))
		return nil, fmt.Errorf("pod %s/%s, `%s`: %s", c.pod.Namespace, c.pod.Name, strings.Join(command[:4], " "), text)
	}
	if err != nil && strings.Contains(err.Error(), "executable file not found") {
		return nil, fmt.Errorf("the container %q of the pod %s/%s has no program sluice: --deployment, --selector or --pod and --container say where the controller is (%w)",
			c.container, c.pod.Namespace, c.pod.Name, err)
	}
	return body.Bytes(), c.said(err, "run `%s` in the container %q of the pod %s/%s", strings.Join(command[:4], " "), c.container, c.pod.Namespace, c.pod.Name)
}

// stateDir is what the container's arguments say of it; empty for the default,
// which the command knows by itself.
func (c *controller) stateDir() string {
	for _, one := range c.pod.Spec.Containers {
		if one.Name != c.container {
			continue
		}
		line := slices.Concat(one.Command, one.Args)
		for i, argument := range line {
			if folder, is := strings.CutPrefix(argument, "--state-dir="); is {
				return folder
			}
			if argument == "--state-dir" && i+1 < len(line) {
				return line[i+1]
			}
		}
	}
	return ""
}
