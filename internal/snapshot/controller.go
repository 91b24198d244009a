package snapshot

import "strings"

// controller is what is read of a Deployment or DaemonSet.
type controller struct {
	Metadata struct {
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Spec struct {
		Template struct {
			Spec struct {
				Containers []struct {
					Command []string `json:"command"`
					Args    []string `json:"args"`
				} `json:"containers"`
			} `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
}

// settingsOf gives the ConfigMap that the flag --configmap of a container of a
// Deployment or DaemonSet names; none if there is no such flag.
func settingsOf(raw []byte, h header) Name {
	var c controller
	if h.Kind != "Deployment" && h.Kind != "DaemonSet" || decodeLoosely(raw, &c) != nil {
		return Name{}
	}
	for _, container := range c.Spec.Template.Spec.Containers {
		words := append(container.Command, container.Args...)
		for i, word := range words {
			value, is := strings.CutPrefix(word, "--configmap=")
			if word == "--configmap" && i+1 < len(words) {
				value, is = words[i+1], true
			}
			value = strings.ReplaceAll(value, "$(POD_NAMESPACE)", c.Metadata.Namespace)
			if name, err := ParseName(value); is && err == nil {
				return name
			}
		}
	}
	return Name{}
}
