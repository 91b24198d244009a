//go:build image

package real

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/test/cluster"
	"sluice/test/kit"
)

// process is one of a container, as the machine sees it.
type process struct {
	pid  int
	name string // its command line
}

// processes are those of a release's containers of one pod, but for the pause container.
func processes(t *testing.T, pod corev1.Pod) []process {
	t.Helper()
	id := pod.Status.ContainerStatuses[0].ContainerID
	id = id[strings.LastIndexByte(id, '/')+1:]
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var found []process
	for _, entry := range entries {
		group, _ := os.ReadFile(filepath.Join("/proc", entry.Name(), "cgroup"))
		line, _ := os.ReadFile(filepath.Join("/proc", entry.Name(), "cmdline"))
		if pid, err := strconv.Atoi(entry.Name()); err == nil && len(line) > 0 && strings.Contains(string(group), id) {
			found = append(found, process{pid, strings.Trim(strings.ReplaceAll(string(line), "\x00", " "), " ")})
		}
	}
	return found
}

// workers are nginx's of one pod, without those that end.
func workers(t *testing.T, pod corev1.Pod) []int {
	t.Helper()
	var found []int
	for _, p := range processes(t, pod) {
		if strings.HasPrefix(p.name, "nginx: worker process") && !strings.Contains(p.name, "shutting down") {
			found = append(found, p.pid)
		}
	}
	slices.Sort(found)
	return found
}

// TestWorkersByQuota: there are as many workers as the container's limit of CPU lets
// run at the same time, rounded up, and not as many as the machine has processors.
func TestWorkersByQuota(t *testing.T) {
	w := theWorld(t)
	if runtime.NumCPU() == 1 {
		t.Skip("with one processor there is one worker anyway")
	}
	r := w.install(t, "quota", "restricted", "controller.resources.limits.cpu=600m")
	pod := r.pod(t)
	kit.Await(t, "one worker", func() bool { return len(workers(t, pod)) == 1 })
	conf, err := r.in(t, pod.Name, "cat", "/etc/nginx/nginx.conf")
	if err != nil || !strings.Contains(conf, "worker_processes 1;") {
		t.Errorf("the configuration does not say worker_processes 1: %v %.200s", err, conf)
	}
}

// TestOutOfMemory: where a limit of memory is hit, a worker that grew is killed, and
// nginx starts another one; where it is Sluice that is killed, the kubelet starts the
// container again, which serves as before with the volume that it left.
func TestOutOfMemory(t *testing.T) {
	w := theWorld(t)
	r := w.install(t, "memory", "restricted", "controller.resources.limits.memory=300Mi", "controller.resources.limits.cpu=2",
		"controller.config.client-body-buffer-size=16m", "controller.config.proxy-body-size=1g")
	s := r.openShop(t)
	pod := r.pod(t)
	var before []int
	kit.Await(t, "the workers of the last reload only", func() bool {
		before = workers(t, pod)
		return len(before) == min(2, runtime.NumCPU())
	})
	s.grow(t)
	kit.Await(t, "another worker in place of the one that grew", func() bool {
		now := workers(t, pod)
		return len(now) == len(before) && !slices.Equal(now, before)
	})
	s.servesAgain(t)
	if status := r.pod(t).Status.ContainerStatuses[0]; status.RestartCount != 0 {
		t.Errorf("the container was started again: %+v", status)
	}

	preferSluice(t, pod)
	s.grow(t)
	cluster.Eventually(t, "a container that was killed for want of memory, and runs again", func(ctx context.Context) error {
		now, err := r.Admin().CoreV1().Pods(r.name).Get(ctx, pod.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		status := now.Status.ContainerStatuses[0]
		if ended := status.LastTerminationState.Terminated; ended == nil || ended.Reason != "OOMKilled" || !status.Ready {
			return fmt.Errorf("its status is %+v", status)
		}
		return nil
	})
	s.servesAgain(t)
}

// preferSluice has the kernel take Sluice first when memory is short, and nginx last.
func preferSluice(t *testing.T, pod corev1.Pod) {
	t.Helper()
	for _, p := range processes(t, pod) {
		score := "1000"
		if strings.HasPrefix(p.name, "nginx: ") {
			score = "0"
		}
		if err := os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", p.pid), []byte(score), 0); err != nil {
			t.Fatal(err)
		}
	}
}

// grow sends bodies that nginx keeps in memory, together larger than the container's
// limit, and lets none of them end. It returns when the connections are cut.
func (s *shop) grow(t *testing.T) {
	t.Helper()
	address := s.request("/").To
	body := make([]byte, 15<<20)
	var sending sync.WaitGroup
	cut := atomic.Int64{}
	for range 60 {
		sending.Go(func() {
			connection, err := net.Dial("tcp", address)
			if err != nil {
				return
			}
			defer connection.Close()
			_ = connection.SetDeadline(time.Now().Add(15 * time.Second))
			fmt.Fprintf(connection, "POST /echo HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n", s.host, len(body)+1)
			_, _ = connection.Write(body)
			if _, err := io.Copy(io.Discard, connection); !errors.Is(err, os.ErrDeadlineExceeded) {
				cut.Add(1)
			}
		})
	}
	sending.Wait()
	t.Logf("%d of 60 requests were cut off", cut.Load())
}

// servesAgain: ten requests in a row are answered.
func (s *shop) servesAgain(t *testing.T) {
	t.Helper()
	cluster.Eventually(t, "ten answers in a row", func(ctx context.Context) error {
		for range 10 {
			if answer, err := s.request("/hostname").Do(ctx); err != nil || answer.Status != http.StatusOK {
				return errors.Join(err, fmt.Errorf("the answer is %+v", answer))
			}
		}
		return nil
	})
}

// TestVolumeIsFull: the kubelet evicts a pod whose volume holds more than the chart's
// limit, and another one takes its place.
func TestVolumeIsFull(t *testing.T) {
	t.Parallel()
	w := theWorld(t)
	r := w.install(t, "disk", "restricted", "controller.stateSizeLimit=20Mi")
	former := r.pod(t)
	if output, err := r.in(t, former.Name, "sh", "-c", "head -c 40000000 /dev/zero >/var/lib/sluice/large"); err != nil {
		t.Fatal(err, output)
	}
	cluster.Eventually(t, "the eviction", func(ctx context.Context) error {
		pod, err := r.Admin().CoreV1().Pods(r.name).Get(ctx, former.Name, metav1.GetOptions{})
		if err == nil && (pod.Status.Reason != "Evicted" || !strings.Contains(pod.Status.Message, `EmptyDir volume "state"`)) {
			err = fmt.Errorf("its status is %s: %s", pod.Status.Reason, pod.Status.Message)
		}
		return err
	})
	r.rollOut(t)
	if pod := r.pod(t); pod.Name == former.Name {
		t.Error("the pod that was evicted runs")
	}
}
