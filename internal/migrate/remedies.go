package migrate

import (
	"slices"
	"strings"
	"sync"

	"sluice/internal/annotations"
	"sluice/internal/keys"
	"sluice/internal/lint"
	"sluice/internal/model"
	"sluice/internal/settings"
)

// remedies say what to do, by the reason of a finding.
var remedies = map[model.Reason]string{
	model.InvalidValue:   "Write a valid value, or remove it to keep the default.",
	model.Unsupported:    "Remove it before you switch, or leave this Ingress with ingress-nginx for now.",
	model.NotFound:       "Make the object, or name another one.",
	model.Conflict:       "Remove it here or in the other Ingress.",
	model.NotDelegated:   "Let the owner delegate the host, or move the rule to the owner's namespace.",
	model.CrossNamespace: "Agree on it with the other namespace, or use another host.",
	model.Ambiguous:      "Keep one of the two.",
	model.Unread:         "Correct the name, or remove it.",
	model.NoRoom:         "Use fewer of them, or move some of the Ingresses to another namespace.",
	model.Refused:        "Write it so that nginx takes it.",
	model.Fixed:          "Write the fixed value, or ask whoever fixes it for another one.",
	lint.Unreadable:      "Correct the manifest.",
}

// closing are the remedies in place of these for something that protects: without it the paths
// would be open.
var closing = map[model.Reason]string{
	model.InvalidValue:   "Write a valid value. It protects the paths, so do not remove it.",
	model.Unsupported:    "Protect the paths in another way, or leave this Ingress with ingress-nginx for now.",
	model.Unread:         "Correct the name. It seems to protect the paths, so do not remove it.",
	model.Conflict:       "Write the same in both Ingresses, or use another host.",
	model.CrossNamespace: "Write it in an Ingress of the namespace that owns the host, or use another host.",
	model.NoRoom:         "Move some of the Ingresses to another namespace.",
}

// special are the remedies for findings whose reason says too little. The first holds whose
// reason is that of the finding, and whose text is in that of the finding.
var special = []struct {
	reason       model.Reason
	text, remedy string
}{
	{model.Unread, "this is a setting", "Write it in the ConfigMap of the controller, and remove the annotation."},
	{model.Unread, "this is an annotation", "Write it as an annotation, and remove it from the ConfigMap."},
	{model.Unread, "it is empty and protects nothing", "Write its value, or remove it."},
	{model.Unread, ": write ", "Write the one that the text names, and remove it."},
	{model.Unread, "; write ", "Write the one that the text names, and remove it."},
	{model.Unread, ": remove it", "Remove it."},
	{model.Unread, "it has no effect without ", "Write the one that it needs beside it, or remove it."},

	{model.Unsupported, "annotations-risk-level allows no more than", "Raise annotations-risk-level in the ConfigMap, or leave this Ingress with ingress-nginx for now."},
	{model.Unsupported, "counts only in the ConfigMap of the controller", "Write it in the ConfigMap of the controller."},
	{model.Unsupported, "cannot be given to several Ingresses", "Write it in the Ingresses that need it."},
	{model.Unsupported, "--disable-catch-all", "Remove spec.defaultBackend, or run without --disable-catch-all."},
	{model.Unsupported, "run it with --named-snippets", "Name the ConfigMap of the snippets in --named-snippets."},
	{model.Unsupported, ": the class has the settings of the controller", "Name a ConfigMap with its namespace, or leave spec.parameters out."},

	{model.NotFound, "has no port ", "Name a port that the Service has."},
	{model.NotFound, " is delegated to the namespace ", "Let the owner of the object delegate it, or name one of this namespace."},
	{model.NotFound, "there is no snippet ", "Add the snippet to the ConfigMap, or name another one."},
	{model.NotFound, "browsers compare the path of a cookie", "Write session-cookie-path with the beginning of the paths that the cookie is for."},
	{model.NotFound, "no permission to read", "Grant the permission that the text names."},
	{model.NotFound, " does not exist", "Make the object, or name another one."},
	{model.NotFound, "no other Ingress has the ", "Make the main Ingress, or give the canary a host and a path that another Ingress has."},
	{model.NotFound, ": the canary gets no requests", "Correct the Ingress whose path the canary shares, or give the canary another path."},

	{model.Conflict, "is not protected like it", "Give both paths the annotations that protect, or write one so that it takes fewer requests."},
	{model.Conflict, "asks for certificates of clients, which cannot be verified", "Correct auth-tls-secret in the Ingress that the text names."},
	{model.Conflict, "cannot be written to nginx.conf", "Correct the path of the Ingress that the text names."},
	{model.Conflict, "is not passed through", "Give what is passed through a host of its own."},
	{model.Conflict, "add up to more than all requests", "Lower the weights of the canaries."},
	{model.Conflict, "want one Ingress of this name", "Rename one of the two."},
	{model.Conflict, "is left out: want at most", "Write fewer patterns, or names in their place."},
	{model.Conflict, "want another ", "Choose another one."},
	{model.Conflict, "want no location ", "Choose another name for the location."},
	{model.Conflict, ": write the same there", "Write the same in both Ingresses, or use another host."},

	{model.NotDelegated, "ask the owner to set it there", "Ask the owner of the host to write it there, or use another host."},
	{model.InvalidValue, " beside it, without which it cannot be done", "Write the annotation that the text names beside it."},
	{model.NoRoom, "patterns", "Make the patterns simpler, or split the namespace."},
	{model.NoRoom, "ask the administrator to raise", "Raise the setting that the text names."},
	{model.Ambiguous, "is an alias of the first host", "Write an Ingress for each host."},
	{model.Ambiguous, "stands for one label", "Use another host for names of more labels."},
	{model.Ambiguous, "mirror-request-body: off", `Write mirror-request-body: "off", or remove the mirror.`},
}

// remedyOf returns what to do about a finding, before its row is known. key is the annotation
// or setting.
func remedyOf(f lint.Finding, key string) string {
	switch {
	case f.Reason == model.Conflict && f.Field == "metadata.name" && f.Object.Kind != "Ingress":
		return "Keep one " + f.Object.Kind + " of this name."
	case f.Reason == model.Unsupported && f.Field == "apiVersion" && f.Object.Kind == "Ingress":
		return "Write it as networking.k8s.io/v1 (kubectl convert does it)."
	}
	for _, s := range special {
		if f.Reason == s.reason && strings.Contains(f.Text, s.text) {
			return s.remedy
		}
	}
	if closing[f.Reason] != "" && (f.Denies || protectsPaths(key)) {
		return closing[f.Reason]
	}
	if f.Reason == model.InvalidValue && strings.HasPrefix(f.Field, "spec.") {
		return "Write a valid value."
	}
	return remedies[f.Reason]
}

// protecting are the annotations and settings that restrict access.
var protecting = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	add := func(docs []keys.Doc) {
		for _, doc := range docs {
			for _, name := range doc.Names {
				all[name] = all[name] || doc.Protects
			}
		}
	}
	for _, b := range annotations.All() {
		add(b.Keys)
	}
	add(settings.Catalog().Read)
	return all
})

// protectsPaths reports whether an annotation or setting restricts access.
func protectsPaths(key string) bool { return protecting()[key] }

// layerFields are the fields whose values are lines of annotations. Texts of their findings
// begin with the annotation.
var layerFields = []string{settings.NamespaceDefaults, settings.NamespaceFixed, "default-annotations", "fixed-annotations"}

// keyOf is the annotation or setting that a finding is about.
func keyOf(f lint.Finding, prefix string) string {
	if slices.Contains(layerFields, f.Field) {
		name, _, _ := strings.Cut(f.Text, ":")
		return name
	}
	if path, is := strings.CutPrefix(f.Field, annotations.PathsPrefix); is {
		return path
	}
	return strings.TrimPrefix(f.Field, prefix+"/")
}
