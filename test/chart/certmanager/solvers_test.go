//go:build image

package certmanager

import (
	"context"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/test/kit"
)

// solverLabel is on the pods and Ingresses of challenges.
const solverLabel = "acme.cert-manager.io/http01-solver=true"

// solvers run for the pods of challenges, by the names of the pods.
type solvers struct {
	*world
	t          *testing.T
	path, logs string
	running    map[string]*solver
}

// solver is cert-manager's. It listens on all addresses, so that it gets a port of its own, and what
// comes for the pod is passed on to it.
type solver struct {
	process  *kit.Process
	listener net.Listener
}

// runSolvers runs a solver for each pod of a challenge, until the end of the test.
func (w *world) runSolvers(t *testing.T) {
	t.Helper()
	s := &solvers{world: w, t: t, path: program(t, "cert-manager"), logs: t.TempDir(), running: map[string]*solver{}}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var following sync.WaitGroup
	following.Go(func() {
		for ctx.Err() == nil {
			if err := s.follow(ctx); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
			time.Sleep(50 * time.Millisecond)
		}
		s.endOthers(nil)
	})
	t.Cleanup(func() { cancel(); following.Wait() })
}

// follow starts solvers for pods that have come, and ends those of pods that are gone.
func (s *solvers) follow(ctx context.Context) error {
	pods, err := s.Admin().CoreV1().Pods(shop).List(ctx, metav1.ListOptions{LabelSelector: solverLabel})
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, pod := range pods.Items {
		if pod.DeletionTimestamp != nil {
			continue
		}
		there[pod.Name] = true
		if s.running[pod.Name] != nil || pod.Status.PodIP == "" {
			continue
		}
		if s.running[pod.Name], err = s.start(&pod); err != nil {
			return err
		}
	}
	s.endOthers(there)
	return nil
}

// endOthers ends the solvers of all pods but some.
func (s *solvers) endOthers(there map[string]bool) {
	for name, one := range s.running {
		if !there[name] {
			one.stop()
			delete(s.running, name)
		}
	}
}

// start runs a solver with the arguments of a pod.
func (s *solvers) start(pod *corev1.Pod) (*solver, error) {
	container, own := pod.Spec.Containers[0], strconv.Itoa(kit.Port(s.t))
	arguments := []string{"solver"}
	for _, argument := range container.Args {
		if strings.HasPrefix(argument, "--listen-port=") {
			argument = "--listen-port=" + own
		}
		arguments = append(arguments, argument)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(pod.Status.PodIP, fmt.Sprint(container.Ports[0].ContainerPort)))
	if err != nil {
		return nil, err
	}
	command := exec.Command(s.path, arguments...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	process, err := kit.Launch(command, kit.Log(filepath.Join(s.logs, pod.Name)))
	if err != nil {
		listener.Close()
		return nil, err
	}
	go pass(listener, net.JoinHostPort("127.0.0.1", own))
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
