package decode

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"sluice/internal/snapshot"
)

// workload holds the fields of a Deployment or DaemonSet that Sluice reads.
type workload struct {
	Spec struct {
		Template struct {
			Spec struct {
				InitContainers []struct{}  `json:"initContainers"`
				Containers     []container `json:"containers"`
				Volumes        []volume    `json:"volumes"`
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
	SecurityContext struct {
		ReadOnlyRootFilesystem bool `json:"readOnlyRootFilesystem"`
	} `json:"securityContext"`
	VolumeMounts []struct {
		Name      string `json:"name"`
		MountPath string `json:"mountPath"`
		ReadOnly  bool   `json:"readOnly"`
	} `json:"volumeMounts"`
}

// volume is a volume of a pod. Containers cannot write to those of the last five kinds.
type volume struct {
	Name     string `json:"name"`
	EmptyDir *struct {
		SizeLimit any `json:"sizeLimit"` // text or a number
	} `json:"emptyDir"`
	ConfigMap   *struct{} `json:"configMap"`
	Secret      *struct{} `json:"secret"`
	Projected   *struct{} `json:"projected"`
	DownwardAPI *struct{} `json:"downwardAPI"`
	Image       *struct{} `json:"image"`
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
		if arguments, isSluice, is := c.arguments(); is {
			note := &b.notes[len(b.notes)-1]
			note.Object = h.Kind + " " + snapshot.Name{Namespace: namespace, Name: h.Metadata.Name}.String()
			note.Arguments = c.expand(arguments, namespace)
			note.Folders, note.IsSluice = w.folders(c), isSluice
			if isSluice && !c.SecurityContext.ReadOnlyRootFilesystem {
				note.Folders = append(note.Folders, ofImage...)
			}
			return
		}
	}
}

// ofImage are the folders of Sluice's image that its user can write to.
var ofImage = []snapshot.Folder{{Path: "/tmp"}, {Path: "/var/tmp"}, {Path: "/var/lib/sluice"}}

// folders returns the folders of volumes that a container can write to.
func (w *workload) folders(c container) []snapshot.Folder {
	var all []snapshot.Folder
	spec := w.Spec.Template.Spec
	for _, mount := range c.VolumeMounts {
		at := slices.IndexFunc(spec.Volumes, func(v volume) bool { return v.Name == mount.Name })
		if mount.ReadOnly || at < 0 || !spec.Volumes[at].isWritable() {
			continue
		}
		folder := snapshot.Folder{Path: path.Clean(mount.MountPath)}
		if dir := spec.Volumes[at].EmptyDir; dir != nil {
			folder.Empty = len(spec.InitContainers) == 0
			if limit, err := resource.ParseQuantity(fmt.Sprint(dir.SizeLimit)); err == nil {
				folder.Limit = max(limit.Value(), 0)
			}
		}
		all = append(all, folder)
	}
	return all
}

// isWritable reports whether containers can write to a volume.
func (v volume) isWritable() bool {
	return v.ConfigMap == nil && v.Secret == nil && v.Projected == nil && v.DownwardAPI == nil && v.Image == nil
}

// arguments returns the arguments of the ingress controller that the container runs:
// Sluice or ingress-nginx. Either the image or the first argument shows which one. is is
// false for any other container.
func (c container) arguments() (arguments []string, isSluice, is bool) {
	words := slices.Concat(c.Command, c.Args)
	for i, word := range words {
		switch path.Base(word) {
		case "nginx-ingress-controller":
			return words[i+1:], false, true
		case "sluice":
			if i+1 < len(words) && words[i+1] == "run" {
				return words[i+2:], true, true
			}
		}
	}
	image, _, _ := strings.Cut(path.Base(c.Image), "@")
	image, _, _ = strings.Cut(image, ":")
	if image == "sluice" && len(c.Command) == 0 && len(words) > 0 && words[0] == "run" {
		return words[1:], true, true
	}
	return nil, false, false
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
