package migrate

import (
	"strings"

	"sluice/internal/lint"
	"sluice/internal/model"
)

// remedies say what to do, by the reason of a finding.
var remedies = map[model.Reason]string{
	model.InvalidValue: "Write a valid value, or remove it to keep the default.",
	model.Unsupported:  "Remove it before you switch, or leave this Ingress with ingress-nginx for now.",
	model.NotFound:     "Make the object, or name another one.",
	model.Conflict:     "Remove it here or in the other Ingress.",
	model.NotDelegated: "Let the owner delegate the host, or move the rule to the owner's namespace.",
	model.Ambiguous:    "Keep one of the two.",
	model.Unread:       "Correct the name, or remove it.",
	model.NoRoom:       "Make the patterns simpler, or split the namespace.",
	model.Refused:      "Write it so that nginx takes it.",
}

// closing are the remedies in place of these for something that protects: without it the paths
// would be open.
var closing = map[model.Reason]string{
	model.InvalidValue: "Write a valid value. It protects the paths, so do not remove it.",
	model.Unsupported:  "Protect the paths in another way, or leave this Ingress with ingress-nginx for now.",
	model.Unread:       "Correct the name. It seems to protect the paths, so do not remove it.",
}

// misplaced are the remedies for a name that is right, and that nothing reads where it
// stands. The first whose text is in that of the finding holds.
var misplaced = []struct{ text, remedy string }{
	{"this is a setting", "Write it in the ConfigMap of the controller, and remove the annotation."},
	{"this is an annotation", "Write it as an annotation, and remove it from the ConfigMap."},
	{": write ", "Write the one that the text names, and remove it."},
	{": remove it", "Remove it."},
	{"it has no effect without ", "Write the one that it needs beside it, or remove it."},
}

// remedyOf returns what to do about a finding, before its row is known.
func remedyOf(f lint.Finding) string {
	if f.Reason == model.Unread {
		for _, m := range misplaced {
			if strings.Contains(f.Text, m.text) {
				return m.remedy
			}
		}
	}
	if f.Denies && closing[f.Reason] != "" {
		return closing[f.Reason]
	}
	return remedies[f.Reason]
}

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

func (r replaceability) remedy() string {
	const allow = "allow snippets in the ConfigMap (allow-snippet-annotations), or leave this Ingress with ingress-nginx for now."
	switch {
	case r.written && r.left:
		return "Write these annotations for their lines, and remove those. For the lines that are not replaced, " + allow
	case r.left:
		return "No annotation does the same: " + allow
	case r.written:
		return "Write these annotations in place of the snippet, and remove the snippet."
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
