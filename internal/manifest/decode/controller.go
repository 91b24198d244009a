package decode

import (
	"path"
	"slices"
	"strings"

	"sluice/internal/snapshot"
)

// workload holds the fields of a Deployment or DaemonSet that Sluice reads.
type workload struct {
	Spec struct {
		Template struct {
			Spec struct {
				Containers []container `json:"containers"`
			} `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
}

// container is a container of a workload.
type container struct {
	Image   string   `json:"image"`
	Command []string `json:"command"`
	Args    []string `json:"args"`
	Env     []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"env"`
}

// controller adds the arguments of an ingress controller to the last note. raw is the
// skipped object that the note is about. If it is no Deployment or DaemonSet, or if no
// controller runs in it, the note stays as it is.
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

// arguments returns the arguments of the ingress controller that the container runs:
// Sluice or ingress-nginx. Either the image or the first argument shows which one. is is
// false for any other container.
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

// expand replaces $(NAME) by the value of NAME in the environment of the container. It
// keeps names that the environment lacks.
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
