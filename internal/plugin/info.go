package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"sluice/internal/debugapi"
	"sluice/internal/kube"
	"sluice/internal/snapshot"
)

const infoExample = `  # The addresses of the controller's Service, and the state of each of its pods
  kubectl sluice info

  # For a Service with another name
  kubectl sluice info --service edge -o wide`

// info is the result of `info`, also as JSON.
type info struct {
	// Service is null if there is no Service of that name.
	Service *serviceInfo `json:"service"`
	Pods    []podInfo    `json:"pods"`
}

type serviceInfo struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	ClusterIP string `json:"clusterIP"`
	// LoadBalancer are the addresses and hostnames in the status.
	LoadBalancer []string `json:"loadBalancer"`
}

type podInfo struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Node      string `json:"node"`
	Ready     bool   `json:"ready"`
	// General is null if the pod did not answer; Error has the reason.
	General *debugapi.General `json:"general"`
	Error   string            `json:"error,omitempty"`
}

func infoCommand(s *session) *cobra.Command {
	var service string
	cmd := &cobra.Command{
		Use:     "info",
		Short:   "Show the addresses of the controller's Service, and the state of each of its pods",
		Example: infoExample,
		Args:    noMore,
	}
	pods, output := s.podFlags(cmd), addFormat(cmd, asTable, asWide, asJSON, asYAML)
	cmd.Flags().StringVar(&service, "service", "sluice-controller", "name of the controller's Service, in the namespace of its pods")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx, cancel := bounded(cmd)
		defer cancel()
		c, err := s.connect()
		if err != nil {
			return err
		}
		found, err := pods.find(ctx, c)
		if err != nil {
			return err
		}
		var i info
		i.Service, err = readService(ctx, c, snapshot.Name{Namespace: found[0].Namespace, Name: service})
		// With host ports there need not be a Service.
		if isNone := errors.Is(err, errNoService) && !cmd.Flags().Changed("service"); err != nil && !isNone {
			return err
		}
		var failed error
		i.Pods, failed = askPods(ctx, pods, c, found)
		return errors.Join(printInfo(s.output(output.chosen), i, time.Now()), failed)
	}
	return cmd
}

var errNoService = errors.New("no Service")

func readService(ctx context.Context, c *cluster, name snapshot.Name) (*serviceInfo, error) {
	object := corev1.Service{}
	err := c.Get(ctx, kube.Services, name, &object)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("%w %q in the namespace %q: --service names the one of the controller", errNoService, name.Name, name.Namespace)
	}
	if err != nil {
		return nil, c.explained(err, "read the Service %s", name)
	}
	i := &serviceInfo{Namespace: name.Namespace, Name: name.Name, ClusterIP: object.Spec.ClusterIP, LoadBalancer: []string{}}
	for _, at := range object.Status.LoadBalancer.Ingress {
		i.LoadBalancer = append(i.LoadBalancer, cmp.Or(at.IP, at.Hostname))
	}
	return i, nil
}

// askPods asks each pod and returns the answers in the order of the pods. A pod that
// fails or hangs does not affect the others.
func askPods(ctx context.Context, f *podFlags, c *cluster, pods []corev1.Pod) ([]podInfo, error) {
	answers, failed := eachPod[debugapi.General](ctx, f, c, pods, asking(debugapi.GeneralPath))
	all := make([]podInfo, len(pods))
	for n := range pods {
		all[n] = podInfo{Namespace: pods[n].Namespace, Name: pods[n].Name, Node: pods[n].Spec.NodeName, Ready: isReady(&pods[n])}
		if failed[n] != nil {
			all[n].Error = failed[n].Error()
			continue
		}
		all[n].General = &answers[n]
	}
	return all, errors.Join(failed...)
}

func printInfo(o output, i info, now time.Time) error {
	if o.isDocument() {
		return o.value(i)
	}
	name, clusterIP, balancer := "-", "-", "-"
	if i.Service != nil {
		name, clusterIP, balancer = i.Service.Namespace+"/"+i.Service.Name, i.Service.ClusterIP, orDash(strings.Join(i.Service.LoadBalancer, ","))
	}
	err := o.painted(printableLines(fmt.Sprintf("Service: %s\nService cluster IP address: %s\nLoadBalancer IP|CNAME: %s\n\n", name, clusterIP, balancer)))
	if err != nil {
		return err
	}
	t := table{heading: []string{"POD", "READY", "VERSION", "NGINX", "INGRESSES", "PROBLEMS", "LEADER", "LAST APPLY", "NODE"}, wide: 2}
	for _, p := range i.Pods {
		row := cells(p.Name, "false", "-", "-", "-", "-", "-", "-", p.Node)
		if row[1].colour = red; p.Ready {
			row[1] = cell{"true", green}
		}
		if g := p.General; g != nil {
			leads := g.Leader != nil && g.Leader.Leads
			row[2].text, row[3].text, row[4].text, row[5].text, row[6].text = g.Version, g.Nginx.Version, fmt.Sprint(g.Counts.Ingresses), fmt.Sprint(g.Counts.Problems), fmt.Sprint(leads)
			row[7] = lastApply(g.LastApply, now)
		}
		t.rows = append(t.rows, row)
	}
	return o.table(t)
}
