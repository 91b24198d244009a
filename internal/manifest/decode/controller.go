package decode

import (
	"path"
	"slices"
	"strings"

	"sluice/internal/snapshot"
)

// workload is what is read of a Deployment or DaemonSet.
type workload struct {
	Spec struct {
		Template struct {
			Spec struct {
				Containers []container `json:"containers"`
			} `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
}

// container is one of its containers.
type container struct {
	Image   string   `json:"image"`
	Command []string `json:"command"`
	Args    []string `json:"args"`
	Env     []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"env"`
}

// controller adds to the last note, which is about a Deployment or DaemonSet, which
// arguments the ingress controller in it has, if there is one.
func (b *batch) controller(at place, raw []byte) {
	var w workload
	h := at.header
	if h.Kind != "Deployment" && h.Kind != "DaemonSet" || decodeLoosely(raw, &w) != nil {
		return
	}
	namespace := orDefault(h.Metadata.Namespace)
	for _, c := range w.Spec.Template.Spec.Containers {
		if arguments, is := c.arguments(); is {
			note := &b.notes[len(b.notes)-1]
			note.Object = h.Kind + " " + snapshot.Name{Namespace: namespace, Name: h.Metadata.Name}.String()
			note.Arguments = c.expand(arguments, namespace)
			return
		}
	}
}

// arguments gives those of the ingress controller, if the container runs one: Sluice,
// or ingress-nginx. In either image it may be the first argument that says so.
func (c container) arguments() (arguments []string, is bool) {
	words := slices.Concat(c.Command, c.Args)
	for i, word := range words {
		switch path.Base(word) {
		case "nginx-ingress-controller":
			return words[i+1:], true
		case "sluice":
			if i+1 < len(words) && words[i+1] == "run" {
				return words[i+2:], true
			}
		}
	}
	image, _, _ := strings.Cut(path.Base(c.Image), "@")
	image, _, _ = strings.Cut(image, ":")
	if image == "sluice" && len(c.Command) == 0 && len(words) > 0 && words[0] == "run" {
		return words[1:], true
	}
	return nil, false
}

// expand puts the values in that the container's environment gives. What it does not
// give is left as it is written.
func (c container) expand(arguments []string, namespace string) []string {
	var values []string
	for _, v := range c.Env {
		if v.Value != "" {
			values = append(values, "$("+v.Name+")", v.Value)
		}
	}
	values = append(values, "$(POD_NAMESPACE)", namespace)
	expanded := make([]string, len(arguments)) // never nil: a controller without arguments is one
	for i, argument := range arguments {
		expanded[i] = strings.NewReplacer(values...).Replace(argument)
	}
	return expanded
}
