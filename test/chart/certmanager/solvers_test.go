//go:build image

package certmanager

import (
	"context"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/test/kit"
)

// solverLabel is on the pods and Ingresses of challenges.
const solverLabel = "acme.cert-manager.io/http01-solver=true"

// solver runs for a pod of a challenge. cert-manager's listens on all addresses, so that it gets a
// port of its own, and what comes for the pod is passed on to it.
type solver struct {
	process  *kit.Process
	listener net.Listener
}

// runSolvers runs a solver for each pod of a challenge, until the end of the test.
func (w *world) runSolvers(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan struct{})
	path, logs := program(t, "cert-manager"), t.TempDir()
	go func() {
		defer close(ended)
		running := map[string]*solver{}
		for ctx.Err() == nil {
			if err := w.followSolvers(ctx, path, logs, running); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
			time.Sleep(50 * time.Millisecond)
		}
		for _, one := range running {
			one.stop()
		}
	}()
	t.Cleanup(func() { cancel(); <-ended })
}

// followSolvers starts solvers for pods that have come, and ends those of pods that are gone.
func (w *world) followSolvers(ctx context.Context, path, logs string, running map[string]*solver) error {
	pods, err := w.Admin().CoreV1().Pods(shop).List(ctx, metav1.ListOptions{LabelSelector: solverLabel})
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, pod := range pods.Items {
		there[pod.Name] = pod.DeletionTimestamp == nil
		if running[pod.Name] != nil || pod.Status.PodIP == "" || !there[pod.Name] {
			continue
		}
		if running[pod.Name], err = startSolver(path, filepath.Join(logs, pod.Name), &pod); err != nil {
			return err
		}
	}
	for name, one := range running {
		if !there[name] {
			one.stop()
			delete(running, name)
		}
	}
	return nil
}

func startSolver(path, log string, pod *corev1.Pod) (*solver, error) {
	container := pod.Spec.Containers[0]
	listener, err := net.Listen("tcp", net.JoinHostPort(pod.Status.PodIP, fmt.Sprint(container.Ports[0].ContainerPort)))
	if err != nil {
		return nil, err
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	own := free.Addr().(*net.TCPAddr)
	free.Close()
	arguments := []string{"solver"}
	for _, argument := range container.Args {
		if strings.HasPrefix(argument, "--listen-port=") {
			argument = fmt.Sprintf("--listen-port=%d", own.Port)
		}
		arguments = append(arguments, argument)
	}
	command := exec.Command(path, arguments...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	process, err := kit.Launch(command, kit.Log(log))
	if err != nil {
		return nil, err
	}
	go pass(listener, own.String())
	return &solver{process: process, listener: listener}, nil
}

func (s *solver) stop() {
	s.listener.Close()
	s.process.Stop(syscall.SIGTERM, kit.Patience)
}

// pass passes connections on until the listener is closed.
func pass(listener net.Listener, to string) {
	for {
		from, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer from.Close()
			backend, err := net.Dial("tcp", to)
			if err != nil {
				return // the solver does not listen yet
			}
			defer backend.Close()
			go func() { _, _ = io.Copy(backend, from) }()
			_, _ = io.Copy(from, backend)
		}()
	}
}
