package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

)

func TestMain(m *testing.M) { Main(m) }

// at is the URL of a pod.
func at(address string) string { return fmt.Sprintf("http://%s:%d/", address, PodPort) }

func TestStarts(t *testing.T) {
	began := time.Now()
	c := Shared(t)
	t.Logf("the control plane was up after %.1f s", time.Since(began).Seconds())
	version, err := c.Admin().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	t.Log("Kubernetes", version)
}

func TestPodsAnswer(t *testing.T) {
	c := Shared(t)
	c.Apply(t, Web("answer", "web", 3)...)
	c.AwaitDeployment(t, "answer", "web")
	pods := map[string]bool{}
	for _, address := range c.AwaitEndpoints(t, "answer", "web", 3) {
		answer := EventuallyStatus(t, Request{URL: at(address) + "some/path?q=1", From: "10.255.7.7"}, 200)
		e := answer.Echo
		if e == nil || e.IP != address || e.Namespace != "answer" || e.Port != PodPort || e.Method != "GET" || e.Path != "/some/path?q=1" ||
			e.Host != fmt.Sprintf("%s:%d", address, PodPort) || !strings.HasPrefix(e.Client, "10.255.7.7:") {
			t.Errorf("the pod at %s answers %s", address, answer.Body)
			continue
		}
		pods[e.Pod] = true
	}
	for _, pod := range c.Pods(t, "answer", "web") {
		if !pods[pod.Name] {
			t.Errorf("the pod %s is none of those that answer: %v", pod.Name, pods)
		}
	}
}

func TestDeletedPodStopsListening(t *testing.T) {
	c := Shared(t)
	c.Apply(t, Web("delete", "web", 1)...)
	address := c.AwaitEndpoints(t, "delete", "web", 1)[0]
	EventuallyStatus(t, Request{URL: at(address)}, 200)
	c.Delete(t, Deployment("delete", "web", 1))
	c.AwaitEndpoints(t, "delete", "web", 0)
	Eventually(t, "a refused connection", func(ctx context.Context) error {
		_, err := (&net.Dialer{}).DialContext(ctx, "tcp", fmt.Sprintf("%s:%d", address, PodPort))
		if errors.Is(err, syscall.ECONNREFUSED) {
			return nil
		}
		return fmt.Errorf("got %v", err)
	})
}
