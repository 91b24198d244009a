package cluster

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"sluice/internal/kube"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// newHeaders prepares the ConfigMaps that Ingresses refer to, by the annotations
// custom-headers and auth-proxy-set-headers, and the settings by add-headers and
// proxy-set-headers.
func newHeaders(s *Source) *polledObjects[corev1.ConfigMap, *corev1.ConfigMap] {
	return &polledObjects[corev1.ConfigMap, *corev1.ConfigMap]{
		source: s, kind: "ConfigMap", get: s.getConfigMap, strip: stripConfigMap, held: map[snapshot.Name]*polledObject[*corev1.ConfigMap]{},
	}
}

// getConfigMap reads a ConfigMap of at least a version by its name. If the permission get
// is missing, it lists by name, because the account of ingress-nginx has only list.
func (s *Source) getConfigMap(ctx context.Context, name snapshot.Name, version string, into *corev1.ConfigMap) error {
	err := s.o.Client.Recall(ctx, kube.ConfigMaps, name, version, into)
	if !apierrors.IsForbidden(err) {
		return err
	}
	var list corev1.ConfigMapList
	if s.o.Client.RecallAlone(ctx, kube.ConfigMaps, name, version, &list) != nil {
		return err
	}
	if len(list.Items) == 0 {
		return apierrors.NewNotFound(corev1.Resource("configmaps"), name.Name)
	}
	*into = list.Items[0]
	return nil
}

// headerNames returns the names of the ConfigMaps with headers, sorted. Those that are
// watched as settings are not among them.
func (s *Source) headerNames() []snapshot.Name {
	settings := s.configMaps.get(s.o.Translate.ConfigMap)
	if settings == nil {
		return s.needs.headers.list()
	}
	if s.ofSettings.configMap != settings {
		s.ofSettings = settingsHeaders{settings, translate.HeaderConfigMaps(settings)}
	}
	named := slices.DeleteFunc(slices.Clone(s.ofSettings.names), func(name snapshot.Name) bool { return slices.Contains(s.needs.settings, name) })
	if len(named) == 0 {
		return s.needs.headers.list()
	}
	all := slices.Concat(named, s.needs.headers.list())
	slices.SortFunc(all, snapshot.Name.Compare)
	return slices.Compact(all)
}

// settingsHeaders are the names of ConfigMaps with headers in a ConfigMap with settings.
type settingsHeaders struct {
	configMap *corev1.ConfigMap
	names     []snapshot.Name
}
