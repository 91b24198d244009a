package translate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"sluice/internal/annotations"
	"sluice/internal/claim"
	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

const (
	namedSnippets    = "named-snippets" // the block
	namedSnippetsKey = "snippets"
)

// namedSnippetsBlock is printed in the locations of the paths.
type namedSnippetsBlock struct {
	Text string `json:"text"`
}

// library holds the named snippets of a ConfigMap.
type library struct {
	configMap *corev1.ConfigMap
	snippets  map[string]*namedSnippet
	faults    []model.Problem
}

// libraryIn reads the named snippets of a ConfigMap, once for each content.
func (m *Memo) libraryIn(configMap *corev1.ConfigMap) *library {
	if m.library == nil || m.library.configMap != configMap {
		l := &library{configMap: configMap, snippets: map[string]*namedSnippet{}}
		object := refTo(kindConfigMap, snapshot.Name{Namespace: configMap.Namespace, Name: configMap.Name})
		for _, name := range slices.Sorted(maps.Keys(configMap.Data)) {
			snippet, err := parseNamed(name, configMap.Data[name])
			if err != nil {
				l.faults = append(l.faults, model.Problem{Object: object, Field: name, Reason: model.InvalidValue, Text: err.Error() + "; paths that use it answer 503"})
			}
			l.snippets[name] = snippet
		}
		m.library = l
	}
	return m.library
}

// remarkLibrary reports the mistakes in the ConfigMap with the named snippets.
func (t *translation) remarkLibrary() {
	name := t.options.NamedSnippets
	if name == (snapshot.Name{}) {
		return
	}
	configMap := t.snap.ConfigMap(name)
	if configMap == nil {
		t.report(model.Problem{Object: refTo(kindConfigMap, name), Reason: model.NotFound, Text: "it does not exist, although --named-snippets names it: paths that use its snippets answer 503"})
		return
	}
	t.report(t.memo.libraryIn(configMap).faults...)
}

// readNamedSnippets fills the named snippets of some paths of an owner.
func (t *translation) readNamedSnippets(ing *owner, asked *annotations.NamedSnippets) *claim.Attached {
	if len(asked.Uses) == 0 {
		return nil
	}
	name := t.options.NamedSnippets
	if name == (snapshot.Name{}) {
		return ing.refuse(namedSnippetsKey, model.Unsupported, "the controller has no named snippets: run it with --named-snippets")
	}
	configMap := ing.reads.configMap(t.snap, name)
	if configMap == nil {
		return ing.refuse(namedSnippetsKey, model.NotFound, fmt.Sprintf("ConfigMap %s with the named snippets does not exist", name))
	}
	library, texts := t.memo.libraryIn(configMap), map[string]string{}
	for _, use := range asked.Uses {
		snippet, known := library.snippets[use.Name]
		switch {
		case !known:
			return ing.refuse(namedSnippetsKey, model.NotFound, library.missing(name, use.Name))
		case snippet == nil:
			return ing.refuse(namedSnippetsKey, model.InvalidValue, fmt.Sprintf("snippet %s of ConfigMap %s is not valid: ask its administrator", use.Name, name))
		case snippet.Context == contextServer && asked != ing.Annotations.NamedSnippets:
			return ing.refuse(namedSnippetsKey, model.InvalidValue, fmt.Sprintf("snippet %s is for whole hosts: want it for all paths of the Ingress", use.Name))
		}
		text, err := snippet.fill(use)
		if err != nil {
			return ing.refuse(namedSnippetsKey, model.InvalidValue, fmt.Sprintf("snippet %s: %v", use.Name, err))
		}
		texts[snippet.Context] += strings.TrimRight(text, "\n") + "\n"
	}
	return attachedSnippets(ing, texts)
}

// attachedSnippets checks the texts as those of annotations.
func attachedSnippets(ing *owner, texts map[string]string) *claim.Attached {
	location, server, err := checkedTexts(texts)
	if err != nil {
		return ing.refuse(namedSnippetsKey, model.InvalidValue, fmt.Sprintf("with these arguments, the text of the snippets is not valid: %v", err))
	}
	block := annotations.BlockOf(ing.Ref, namedSnippets, namedSnippetsBlock{string(location)})
	location.Place(&block)
	return &claim.Attached{Size: len(location) + len(server), Block: block, ServerSnippet: server}
}

// checkedTexts checks the texts for the contexts.
func checkedTexts(texts map[string]string) (location keys.Snippet, server keys.ServerSnippet, err error) {
	if err = location.UnmarshalText([]byte(texts[contextLocation])); err == nil {
		err = server.UnmarshalText([]byte(texts[contextServer]))
	}
	return location, server, err
}

// missing is the text of a Problem with an unknown snippet.
func (l *library) missing(configMap snapshot.Name, name string) string {
	names := slices.Sorted(maps.Keys(l.snippets))
	if len(names) == 0 {
		return fmt.Sprintf("there is no snippet %s: ConfigMap %s has none", name, configMap)
	}
	return fmt.Sprintf("there is no snippet %s: want %s", name, claim.ListedFew(names))
}
