package chart

import (
	"encoding/json"
	"iter"
	"maps"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// other is a default that is not ingress-nginx's, with the reason.
type other struct{ ours, reason string }

var otherDefaults = map[string]other{
	"global.image.registry":                         {`""`, "Sluice's image is not at registry.k8s.io; the default backend's still is."},
	"controller.image.image":                        {`"sluice"`, "It is another image."},
	"controller.image.tag":                          {`""`, "It is the chart's appVersion."},
	"controller.image.digest":                       {`""`, "No image is published that it could be of."},
	"controller.image.runAsGroup":                   {`101`, "It is the group that Sluice's image has."},
	"controller.image.readOnlyRootFilesystem":       {`true`, "Sluice writes to its volume only."},
	"controller.sysctls":                            {`{"net.ipv4.ip_unprivileged_port_start":"0"}`, "User 101 can listen on the ports 80 and 443, too, where an image without file capabilities is run."},
	"controller.hostname":                           {``, "A text is wanted there."},
	"controller.readinessProbe.httpGet.path":        {`"/readyz"`, "It tells when the configuration is served, and when the pod is to end."},
	"controller.readinessProbe.initialDelaySeconds": {`0`, "The check answers rightly from the first moment."},
	"controller.readinessProbe.periodSeconds":       {`5`, "With three failures that is the 15 seconds of --shutdown-grace-period."},
	"controller.admissionWebhooks.failurePolicy":    {`"Ignore"`, "Ingresses can be changed while no replica answers: what is wrong with one is left out or answers 503 without a review, too."},
	"controller.admissionWebhooks.timeoutSeconds":   {`5`, "With Ignore, a webhook that the API server cannot reach delays each change of an Ingress by this."},
	"controller.lifecycle.preStop.exec.command":     {``, "Sluice itself does on SIGTERM what the hook is for."},
}

// initialOf is the default of a path, as JSON; empty if it is not set.
func initialOf(root *value, path []string) string {
	var at any = root.initial
	for _, part := range path {
		below, is := at.(map[string]any)
		if !is {
			return ""
		}
		if at, is = below[part]; !is {
			return ""
		}
	}
	if at == nil {
		return ""
	}
	if below, is := at.(map[string]any); is { // what is not set is not there
		maps.DeleteFunc(below, func(_ string, one any) bool { return one == nil })
	}
	text, err := json.Marshal(at)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func mapKeys[K comparable, V any](all ...map[K]V) iter.Seq[K] {
	return func(yield func(K) bool) {
		for _, m := range all {
			for key := range maps.Keys(m) {
				if !yield(key) {
					return
				}
			}
		}
	}
}

// byName are the lines of objects, by kind and name.
func byName(t testing.TB, objects []*unstructured.Unstructured) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, o := range objects {
		text, err := yaml.Marshal(o.Object)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.ReplaceAll(o.GetKind()+" "+o.GetNamespace()+"/"+o.GetName(), " /", " ")
		if all[name] != nil {
			t.Errorf("%s is there twice", name)
		}
		all[name] = strings.Split(strings.TrimSpace(string(text)), "\n")
	}
	return all
}

// changed gives the lines that go, after -, and those that come, after +, in their
// order.
func changed(was, is []string) []string {
	// longest[i][j] is how many lines was[i:] and is[j:] have in common.
	longest := make([][]int, len(was)+1)
	for i := range longest {
		longest[i] = make([]int, len(is)+1)
	}
	for i := len(was) - 1; i >= 0; i-- {
		for j := len(is) - 1; j >= 0; j-- {
			if longest[i][j] = max(longest[i+1][j], longest[i][j+1]); was[i] == is[j] {
				longest[i][j] = longest[i+1][j+1] + 1
			}
		}
	}
	var lines []string
	i, j := 0, 0
	for i < len(was) || j < len(is) {
		switch {
		case i < len(was) && j < len(is) && was[i] == is[j]:
			i, j = i+1, j+1
		case j == len(is) || i < len(was) && longest[i+1][j] >= longest[i][j+1]:
			lines = append(lines, "- "+was[i])
			i++
		default:
			lines = append(lines, "+ "+is[j])
			j++
		}
	}
	return lines
}
