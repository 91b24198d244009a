package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/keys"
	"sluice/internal/kube"
	"sluice/internal/manifest/decode"
	"sluice/internal/migrate"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// fromOneCluster reads a cluster with the Deployments of its ingress-nginx.
func (f *migrateFlags) fromOneCluster(ctx context.Context, diagnostics io.Writer) (input, error) {
	client, err := kube.ConnectWith(f.kubeconfig, &f.overrides, "sluice-migrate/"+version)
	if err != nil {
		return input{}, err
	}
	fmt.Fprintln(diagnostics, "reading the cluster at", client.Host())
	all, err := f.readCluster(ctx, client, &f.inputFlags)
	if err != nil {
		return input{}, err
	}
	for _, plural := range []string{"deployments", "daemonsets"} {
		if err := workloads(ctx, client, plural, &all); err != nil {
			f.unread = err
			break
		}
	}
	if err := named(ctx, client, &all); err != nil {
		return all, kube.Unreached(client.Host(), err)
	}
	fmt.Fprintf(diagnostics, "read %d Ingresses and %d Services\n", len(all.Objects.Ingresses), len(all.Objects.Services))
	return all, nil
}

// unknownFlags says that the ConfigMap of a Deployment cannot be told, or that the flags of
// ingress-nginx in a cluster are not known, unless the command line, the manifests or the
// values give them.
func (f *migrateFlags) unknownFlags(in *input) []migrate.Item {
	for _, p := range in.problems {
		if p.Field == "--configmap" {
			return []migrate.Item{{Status: migrate.Different, Object: p.Object, Field: p.Field, Reason: p.Reason, Text: "the settings are not known: " + p.Text, Remedy: "Give --configmap on the command line."}}
		}
	}
	known := slices.ContainsFunc(in.Notes, func(n snapshot.Note) bool { return n.Arguments != nil })
	if !f.cluster || known || f.given.Changed("configmap") {
		return nil
	}
	why := "no Deployment and no DaemonSet has the label " + controllers
	if f.unread != nil {
		why = f.unread.Error()
	}
	return []migrate.Item{{
		Status: migrate.Different, Reason: model.NotFound, Text: "the flags of ingress-nginx are not known: " + why,
		Remedy: "Give its --configmap on the command line, with --ingress-class and --controller-class if it has others than nginx and k8s.io/ingress-nginx; or its Deployment with -f, or the values of its chart with --values.",
	}}
}

// named adds the ConfigMaps that the flags of a controller name.
func named(ctx context.Context, client *kube.Client, all *input) error {
	in := &inspection{client: client}
	for _, note := range all.Notes {
		flags := givenIn(note.Arguments)
		for _, flag := range []string{"configmap", "tcp-services-configmap", "udp-services-configmap"} {
			name, err := snapshot.ParseName(flags[flag])
			there := func(m *corev1.ConfigMap) bool { return m.Namespace == name.Namespace && m.Name == name.Name }
			if err == nil && !slices.ContainsFunc(all.Objects.ConfigMaps, there) {
				all.Objects.ConfigMaps = append(all.Objects.ConfigMaps, in.configMaps(ctx, name)...)
			}
		}
	}
	return in.err
}

// controllers selects the Deployments and DaemonSets of ingress-nginx, as its chart and
// manifests label them. A Sluice beside it does not count.
const controllers = "app.kubernetes.io/name=ingress-nginx"

// workloadKinds are the kinds of apps/v1 that run a controller.
var workloadKinds = map[string]string{"deployments": "Deployment", "daemonsets": "DaemonSet"}

// workloads adds the notes about Deployments or DaemonSets of a controller.
func workloads(ctx context.Context, client *kube.Client, plural string, all *input) error {
	text, err := client.ListJSON(ctx, "apps/v1", plural, metav1.ListOptions{LabelSelector: controllers})
	if apierrors.IsForbidden(err) {
		return fmt.Errorf("you may not list %s", plural)
	}
	if err != nil {
		return fmt.Errorf("list %s: %w", plural, err)
	}
	var list struct {
		Items []map[string]any `json:"items"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return fmt.Errorf("read the list of %s: %w", plural, err)
	}
	var manifests bytes.Buffer
	for _, item := range list.Items {
		item["apiVersion"], item["kind"] = "apps/v1", workloadKinds[plural]
		document, err := json.Marshal(item)
		if err != nil {
			return err
		}
		manifests.WriteString("---\n")
		manifests.Write(document)
		manifests.WriteString("\n")
	}
	_, notes, err := decode.FromYAML("", manifests.Bytes())
	for _, note := range notes {
		if note.Arguments != nil {
			all.Notes = append(all.Notes, note)
		}
	}
	return err
}

// givenIn returns the flags of a command line of ingress-nginx.
func givenIn(arguments []string) map[string]string {
	given := map[string]string{}
	flags := ingressNginxCommand().Flags()
	flags.ParseErrorsAllowlist.UnknownFlags = true
	// A value that is not valid is a Problem of the Deployment.
	_ = flags.ParseAll(arguments, func(flag *pflag.Flag, value string) error {
		given[flag.Name] = value
		return nil
	})
	for _, argument := range arguments {
		name, isLong := strings.CutPrefix(argument, "--")
		name, value, _ := strings.Cut(name, "=")
		if isLong && name != "" && flags.Lookup(name) == nil {
			given[name] = value
		}
	}
	return given
}

// flagsOf returns the flags of all Deployments with their fates. One that decides about
// Ingresses counts for none of them if they differ.
func flagsOf(notes []snapshot.Note) []migrate.Argument {
	all := map[string]string{}
	differ := map[string]bool{}
	var first map[string]string
	for _, note := range notes {
		if note.Arguments == nil || note.File == valuesFile {
			continue
		}
		given := givenIn(note.Arguments)
		if first == nil {
			first = given
		}
		for _, name := range differing(first, given) {
			differ[strings.TrimPrefix(name, "--")] = true
		}
		maps.Copy(all, given)
	}
	fates, deciding := fatesOf("--", all), decidingFlags(&inputFlags{})
	for at, a := range fates {
		name := strings.TrimPrefix(a.Name, "--")
		if differ[name] && deciding.Lookup(name) != nil {
			fates[at].Fate, fates[at].Text = migrate.Changed, "it differs between the Deployments, so that it counts for none: give it on the command line"
		}
	}
	return fates
}

// ofChart begins the names of flags in the values of the chart, which refuses those with which
// no pod starts.
const ofChart = "controller.extraArgs."

// longestFlagName limits the shown length of the name of a flag.
const longestFlagName = 253

// fatesOf gives flags their fates. Flags whose meaning differs from ingress-nginx's have
// their own usage in ingressNginxCommand.
func fatesOf(prefix string, given map[string]string) []migrate.Argument {
	flags, ours := ingressNginxCommand().Flags(), runCommand().Flags()
	var all []migrate.Argument
	for _, name := range slices.Sorted(maps.Keys(given)) {
		a := migrate.Argument{Name: prefix + model.OneLine(name, longestFlagName), Fate: migrate.Kept}
		flag, of := flags.Lookup(name), ours.Lookup(name)
		i, inert := inertNamed(name)
		fault := ""
		if ours.Lookup(name) != nil && prefix == ofChart {
			fault = migrate.FlagFault(name, given[name])
		}
		switch {
		case flag == nil:
			a.Fate, a.Text = migrate.Unknown, "neither Sluice nor ingress-nginx has this flag"+keys.DidYouMean(meantFlag(flags, name))
		case fault != "":
			a.Fate, a.Text = migrate.Refused, fault
		case inert:
			a.Fate, a.Text = migrate.WithoutEffect, i.reason
		case of != nil && strings.Contains(of.Usage, "without effect"):
			a.Fate, a.Text = migrate.WithoutEffect, of.Usage
		case of != nil && of.Usage != flag.Usage:
			a.Fate, a.Text = migrate.Changed, flag.Usage
		}
		all = append(all, a)
	}
	return all
}
