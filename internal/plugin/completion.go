package plugin

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/kube"
)

// completionPatience is the timeout of a completion.
const completionPatience = 3 * time.Second

// mustComplete registers the completion of a flag. It panics only if the flag does
// not exist.
func mustComplete(cmd *cobra.Command, flag string, complete cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err)
	}
}

// completion asks the cluster for values of a flag. Without an answer it offers
// nothing.
func (s *session) completion(values func(ctx context.Context, c *cluster) ([]string, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		parent := cmd.Context()
		if parent == nil {
			parent = context.Background()
		}
		ctx, cancel := context.WithTimeout(parent, completionPatience)
		defer cancel()
		c, err := s.connect()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		found, err := values(ctx, c)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		found = slices.DeleteFunc(compact(found), func(v string) bool { return !strings.HasPrefix(v, begun) })
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

func (s *session) completeNamespace(root *cobra.Command) {
	mustComplete(root, "namespace", s.completion(completeNamespaces))
}

func completeNamespaces(ctx context.Context, c *cluster) ([]string, error) {
	list := corev1.NamespaceList{}
	err := c.List(ctx, kube.Namespaces, metav1.NamespaceAll, metav1.ListOptions{}, &list)
	var names []string
	for _, one := range list.Items {
		names = append(names, one.Name)
	}
	return names, err
}

// completePods offers the pods of a namespace that look like a controller, or all
// pods if none does.
func completePods(ctx context.Context, c *cluster, namespace string) ([]string, error) {
	pods, err := likelyPods(ctx, c, namespace)
	var names []string
	for _, p := range pods {
		names = append(names, p.Name)
	}
	return names, err
}

// completeOwners offers the Deployments and DaemonSets of those pods.
func completeOwners(ctx context.Context, c *cluster, namespace string) ([]string, error) {
	pods, err := likelyPods(ctx, c, namespace)
	var names []string
	for _, p := range pods {
		if o := ownerOf(&p); o.kind != "Pod" {
			names = append(names, o.name)
		}
	}
	return names, err
}

func likelyPods(ctx context.Context, c *cluster, namespace string) ([]corev1.Pod, error) {
	list := corev1.PodList{}
	if err := c.List(ctx, kube.Pods, cmp.Or(namespace, c.namespace), metav1.ListOptions{}, &list); err != nil {
		return nil, err
	}
	likely := slices.DeleteFunc(slices.Clone(list.Items), func(p corev1.Pod) bool { return !looksLikeController(&p) })
	if len(likely) == 0 {
		return list.Items, nil
	}
	return likely, nil
}

// readableIngresses lists the Ingresses of all namespaces, or of the current one if
// the user may not list all.
func readableIngresses(ctx context.Context, c *cluster) ([]networkingv1.Ingress, error) {
	list := networkingv1.IngressList{}
	err := c.List(ctx, kube.Ingresses, metav1.NamespaceAll, metav1.ListOptions{}, &list)
	if err != nil {
		err = c.List(ctx, kube.Ingresses, c.namespace, metav1.ListOptions{}, &list)
	}
	return list.Items, err
}

func completeHosts(ctx context.Context, c *cluster) ([]string, error) {
	ingresses, err := readableIngresses(ctx, c)
	var hosts []string
	for _, ing := range ingresses {
		for _, rule := range ing.Spec.Rules {
			hosts = append(hosts, cmp.Or(rule.Host, catchAll))
		}
	}
	return hosts, err
}

func completeIngresses(ctx context.Context, c *cluster) ([]string, error) {
	ingresses, err := readableIngresses(ctx, c)
	var names []string
	for _, ing := range ingresses {
		names = append(names, ing.Namespace+"/"+ing.Name)
	}
	return names, err
}

// compact sorts and removes duplicates.
func compact(texts []string) []string {
	slices.Sort(texts)
	return slices.Compact(texts)
}
