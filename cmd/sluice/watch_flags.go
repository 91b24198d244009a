package main

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"sluice/internal/snapshot"
)

// watchFlags are the flags that select the watched namespaces.
type watchFlags struct {
	namespace         string
	namespaceSelector string
}

func (f *watchFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.namespace, "watch-namespace", metav1.NamespaceAll, "the only namespace to watch; if empty, all")
	flags.StringVar(&f.namespaceSelector, "watch-namespace-selector", "", "labels of the namespaces whose Ingresses are served, such as team=web; if empty, all")
}

// watch checks the values.
func (f *watchFlags) watch() (snapshot.Watch, error) {
	w := snapshot.Watch{Namespace: f.namespace}
	if f.namespace != "" && len(validation.IsDNS1123Label(f.namespace)) > 0 {
		return w, fmt.Errorf("--watch-namespace: want the name of a namespace (got %q)", f.namespace)
	}
	if f.namespace != "" && f.namespaceSelector != "" {
		return w, errors.New("--watch-namespace and --watch-namespace-selector: want one of the two (got both)")
	}
	if f.namespaceSelector == "" {
		return w, nil
	}
	selector, err := labels.Parse(f.namespaceSelector)
	if err != nil {
		return w, fmt.Errorf("--watch-namespace-selector: want a selector of labels, such as team=web (got %q): %w", f.namespaceSelector, err)
	}
	w.Selector = selector
	return w, nil
}
