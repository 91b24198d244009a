package migrate

import (
	"strings"

	"sluice/internal/model"
)

// allowSnippets is the remedy for a snippet that is well, where snippets are not allowed.
const allowSnippets = `Set allow-snippet-annotations: "true" and annotations-risk-level: Critical in the ConfigMap, or leave this Ingress with ingress-nginx for now.`

// replaceability is how much of a snippet annotations can replace.
type replaceability struct {
	// written is set if annotations do a part, left if a part remains.
	written, left bool
}

// replaceabilityOf reads the lines of lint's advice about a snippet.
func replaceabilityOf(advice []string) (r replaceability) {
	for _, line := range advice {
		r.written = r.written || strings.Contains(line, ": instead write ")
		r.left = r.left || strings.Contains(line, ": not replaced: ") || strings.HasPrefix(line, "no annotation is known ")
	}
	return r
}

// remedy returns what to do about a snippet. The remedy of its item is for lines that no
// annotation replaces.
func (r replaceability) remedy(item Item) string {
	rest := item.Remedy
	if item.Reason == model.Unsupported {
		rest = allowSnippets
	}
	switch {
	case r.written && r.left:
		return "Write these annotations for their lines, and remove those. For the lines that are not replaced: " + rest
	case r.left && item.Reason == model.Unsupported:
		return "No annotation does the same. " + rest
	case r.left:
		return rest
	case r.written:
		return "Write these annotations in place of the snippet, and remove the snippet."
	case item.Reason == model.CrossNamespace && rest != "":
		return rest
	}
	return "Remove the snippet: nothing in it is needed."
}

func (r replaceability) text() string {
	switch {
	case r.written && r.left:
		return "annotations can replace a part of this snippet"
	case r.left:
		return "no annotation can replace this snippet"
	case r.written:
		return "annotations can replace this snippet, so that nobody has to allow it"
	}
	return "this snippet is not needed"
}

// alsoNeeded marks the remedies of a field that is closed for several reasons: each of them
// alone changes nothing.
func alsoNeeded(items []Item) {
	closed := map[string]string{}
	for at, item := range items {
		if item.Status != Unavailable || item.Field == "" || item.Remedy == "" {
			continue
		}
		if first := closed[item.Field]; first != "" && first != item.Remedy {
			items[at].Remedy = "Also needed: " + item.Remedy
			continue
		}
		closed[item.Field] = item.Remedy
	}
}
