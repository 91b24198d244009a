package plugin

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"
)

// controller is the pod to ask.
type controller struct {
	*cluster
	pod       *corev1.Pod
	container string
}

// at returns the controller in a pod. It fails if the pod has no such container.
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

// controller selects the pod to ask.
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

// get asks the controller for a view and returns the body of the answer. The command
// in the container uses a unix socket that is not reachable from outside.
func (c *controller) get(ctx context.Context, path string, query url.Values) ([]byte, error) {
	where := url.URL{Path: path, RawQuery: query.Encode()}
	program := []string{"sluice", "debug", "get", where.String()}
	if folder := c.stateDir(); folder != "" {
		program = append(program, "--state-dir", folder)
	}
	cmd, err := c.execute(ctx, streams{}, program)
	if err != nil {
		return nil, err
	}
	var body, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &body, &complaint
	if err = cmd.Run(); err == nil {
		return body.Bytes(), nil
	}
	pod, line := fmt.Sprintf("pod %s/%s", c.pod.Namespace, c.pod.Name), strings.Join(program[:4], " ")
	text, ended := programError(complaint.String())
	switch {
	case strings.Contains(body.String()+text, "executable file not found"):
		return nil, fmt.Errorf("the container %q of the %s has no program sluice: --deployment, --selector or --pod and --container say where the controller is (%s)",
			c.container, pod, text)
	case ended:
		return nil, fmt.Errorf("%s, `%s`: %s", pod, line, strings.TrimPrefix(text, "sluice: "))
	}
	return nil, c.explained(failure(ctx, err, complaint.String()), "run `%s` in the container %q of the %s", line, c.container, pod)
}

// stateDir returns the state directory from the container's arguments; empty for the
// default.
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

// podPatience is the timeout for one of several pods. askedAtOnce is the number of
// pods asked concurrently, each by its own kubectl.
const (
	podPatience = 10 * time.Second
	askedAtOnce = 8
)

// eachPod asks each pod, and returns its answer or its error in the order of the pods. A pod
// that fails or hangs does not affect the others.
func eachPod[T any](ctx context.Context, f *podFlags, c *cluster, pods []corev1.Pod, q question) ([]T, []error) {
	all, failed := make([]T, len(pods)), make([]error, len(pods))
	workqueue.ParallelizeUntil(context.Background(), askedAtOnce, len(pods), func(n int) {
		ctx, cancel := context.WithTimeout(ctx, podPatience)
		defer cancel()
		at, err := f.at(c, &pods[n])
		var body []byte
		if err == nil {
			body, err = at.get(ctx, q.path, q.query)
		}
		if err == nil {
			all[n], err = decode[T](body)
		}
		failed[n] = err
	})
	return all, failed
}
