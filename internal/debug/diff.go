package debug

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/debugapi"
	"sluice/internal/diff"
	"sluice/internal/explain"
	"sluice/internal/manifest/decode"
	"sluice/internal/render"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// diff answers what the manifests of the request would change.
func (q *question) diff() (body, error) {
	format, err := q.values.difference()
	if err != nil {
		return nil, err
	}
	namespace, _, err := q.values.namespace()
	if err != nil {
		return nil, err
	}
	if !q.differing.TryLock() {
		return nil, refusal{http.StatusServiceUnavailable, "another difference is being computed: ask again when it is ready"}
	}
	defer q.differing.Unlock()
	asked, err := q.manifests(namespace)
	if err != nil {
		return nil, err
	}
	result := q.compare(asked)
	q.header.Set(debugapi.ChangedHeader, strconv.FormatBool(result.Changed))
	switch format {
	case debugapi.JSON:
		return jsonBody{result}, nil
	case debugapi.Markdown:
		return textBody(result.WriteMarkdown), nil
	}
	return textBody(result.WriteText), nil
}

// manifests reads the objects of the request.
func (q *question) manifests(namespace string) (snapshot.Objects, error) {
	text, err := io.ReadAll(io.LimitReader(q.posted, debugapi.MostManifests+1))
	if err != nil {
		return snapshot.Objects{}, refusal{http.StatusBadRequest, "the manifests could not be read: " + err.Error()}
	}
	if len(text) > debugapi.MostManifests {
		return snapshot.Objects{}, refusal{http.StatusRequestEntityTooLarge, fmt.Sprintf("want at most %d bytes of manifests", debugapi.MostManifests)}
	}
	reader := decode.Reader{Namespace: namespace}
	objects, notes, err := reader.Read("manifests", text)
	for _, note := range notes {
		if note.Field != "" {
			err = errors.Join(err, errors.New(note.String()))
		}
	}
	if err != nil {
		all := decode.Errors(err)
		if more := len(all) - 1; more > 0 {
			return objects, refusal{http.StatusBadRequest, fmt.Sprintf("%v (and %d more errors)", all[0], more)}
		}
		return objects, refusal{http.StatusBadRequest, all[0].Error()}
	}
	if objects.Len() == 0 {
		return objects, refusal{http.StatusBadRequest, "want manifests of Ingresses, Services, ConfigMaps or other objects that Sluice reads (got none)"}
	}
	return objects, nil
}

// compare compares what runs with the same and other objects. Both sides are computed in one
// way, so that only the objects make a difference.
func (q *question) compare(asked snapshot.Objects) *diff.Result {
	c := q.state.Confirmed
	q.admit(asked.Ingresses)
	notes := q.keepBoundary(asked.ConfigMaps)
	before := c.Snapshot.Objects()
	after := before
	if q.Fetch != nil {
		fetched, more := q.Fetch(q.ctx, asked.Ingresses, c.Snapshot)
		notes, after = append(notes, more...), after.With(fetched)
	}
	after = after.With(asked)
	var builder snapshot.Builder
	memo, cache := translate.NewMemo(), render.NewCache()
	side := func(objects snapshot.Objects) diff.Side {
		snap, problems := builder.Next(objects)
		config, more := translate.Config(snap, c.Options, memo)
		file, unprintable := c.Templates.Render(config.Static, c.Environment, cache)
		return diff.Side{Input: explain.Input{Snapshot: snap, Options: c.Options, Config: config, Problems: slices.Concat(problems, more, unprintable)}, File: file}
	}
	old := side(before)
	result := diff.Compare(old, side(after))
	result.Notes = append(result.Notes, notes...)
	return result
}

// crossNamespace is the setting that lets annotations name Secrets of other namespaces.
const crossNamespace = "allow-cross-namespace-resources"

// keepBoundary gives ConfigMaps the setting crossNamespace of those that run: manifests must
// not decide which Secrets the answer is about. It returns a note for each that is changed.
func (q *question) keepBoundary(asked []*corev1.ConfigMap) (notes []string) {
	running := q.state.Confirmed
	for at, cm := range asked {
		now := running.Snapshot.ConfigMap(snapshot.NameOf(cm))
		if now == nil {
			now = running.Snapshot.ConfigMap(running.Options.ConfigMap)
		}
		value, has := boundaryOf(now)
		if written, is := boundaryOf(cm); !is || is == has && written == value {
			continue
		}
		cm = cm.DeepCopy()
		asked[at] = cm
		maps.DeleteFunc(cm.Data, func(key, _ string) bool { return strings.EqualFold(key, crossNamespace) })
		if has {
			cm.Data[crossNamespace] = value
		}
		notes = append(notes, fmt.Sprintf("%s of ConfigMap %s/%s: the value that runs counts", crossNamespace, cm.Namespace, cm.Name))
	}
	return notes
}

// boundaryOf returns the value of crossNamespace in a ConfigMap, false for none. Package
// settings reads keys in any case, and of several the one in lower case, which sorts last.
func boundaryOf(cm *corev1.ConfigMap) (value string, has bool) {
	if cm == nil {
		return "", false
	}
	for _, key := range slices.Sorted(maps.Keys(cm.Data)) {
		if strings.EqualFold(key, crossNamespace) {
			value, has = cm.Data[key], true
		}
	}
	return value, has
}

// defaultClass marks the class of Ingresses without one.
const defaultClass = networkingv1.AnnotationIsDefaultIngressClass

// admit does what an API server would do: an Ingress keeps its age, a new one is the newest,
// and gets the default class.
func (q *question) admit(ingresses []*networkingv1.Ingress) {
	snap := q.state.Confirmed.Snapshot
	class := ""
	for _, c := range snap.IngressClasses() {
		if c.Annotations[defaultClass] == "true" {
			class = c.Name
		}
	}
	for _, ing := range ingresses {
		if now := snap.Ingress(snapshot.NameOf(ing)); now != nil {
			ing.CreationTimestamp = now.CreationTimestamp
			continue
		}
		ing.CreationTimestamp = metav1.NewTime(time.Now())
		if _, legacy := ing.Annotations[snapshot.LegacyClass]; !legacy && ing.Spec.IngressClassName == nil && class != "" {
			ing.Spec.IngressClassName = &class
		}
	}
}
