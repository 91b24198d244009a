package main

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/cluster"
	"sluice/internal/kube"
	"sluice/internal/model"
	"sluice/internal/report/election"
	"sluice/internal/report/events"
	"sluice/internal/report/status"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// inCluster is the part of a controller that only a cluster needs: the election and the
// writing of events and statuses. It implements controller.Audience.
type inCluster struct {
	source   *cluster.Source
	client   *kube.Client
	options  translate.Options
	elector  *election.Elector // nil without an election
	leader   status.Leader
	events   *events.Recorder
	statuses *status.Statuses // nil if none is written
	// remove is set if statuses are removed on exit.
	remove bool
	// published is the Service with the addresses of statuses, empty for none. service is
	// its state at the last sync.
	published snapshot.Name
	service   *corev1.Service
	// problems are those of the last sync. unserved are the Ingresses that are therefore not
	// served as written, with the error for the ports in their status.
	problems []model.Problem
	unserved map[model.ObjectRef]string
	// told is the source of the last statuses.
	told told

	writers, electing sync.WaitGroup
	stopWriting       context.CancelFunc
	resign            context.CancelFunc
}

// openCluster prepares the watching of a cluster and the writing to it.
func openCluster(f *runFlags, log *slog.Logger) (*inCluster, error) {
	pod, err := thisPod()
	if err != nil {
		return nil, usage(err)
	}
	client, err := f.client()
	if err != nil {
		return nil, usage(err)
	}
	if f.topology {
		f.Zone = zoneOf(client, pod, log)
	}
	options, err := f.options()
	if err != nil {
		return nil, usage(err)
	}
	c := &inCluster{client: client, options: options, leader: election.Fixed(false), remove: f.updateOnShutdown}
	if f.publishService != "" {
		c.published, _ = snapshot.ParseName(f.publishService)
	}
	c.source = f.clusterFlags.source(client, options, c.published)
	log.Info("watching the cluster", "server", client.Host())
	if pod == (snapshot.Name{}) {
		log.Warn("not running in a pod: Sluice writes neither status nor events; in a pod, set POD_NAMESPACE and POD_NAME")
		return c, nil
	}
	c.report(f, client, pod, log)
	return c, nil
}

// report prepares the writing of events and statuses.
func (c *inCluster) report(f *runFlags, client *kube.Client, pod snapshot.Name, log *slog.Logger) {
	c.events = events.New(events.Options{Client: client, Instance: pod.Name, Log: log})
	if f.withoutElection {
		log.Info("no leader is elected: the status of Ingresses is not written, and each replica writes events")
		c.leader = election.Fixed(true)
		return
	}
	c.elector = election.New(election.Options{
		Client: client, Lease: snapshot.Name{Namespace: pod.Namespace, Name: f.electionID}, Identity: pod.Name, TTL: f.electionTTL, Log: log,
	})
	c.leader = c.elector
	if !f.updateStatus {
		log.Info("the status of Ingresses is not written")
		return
	}
	replicas := status.NewReplicas(client, pod)
	c.statuses = status.New(status.Options{
		Client: client, Source: f.addresses(client, replicas, c.published), Replicas: replicas, Ingress: c.source.Ingress,
		Interval: time.Duration(f.interval) * time.Second, Changed: c.source.Touch, Log: log,
	})
}

// addresses returns the source of the addresses for statuses. The flags must be valid.
func (f *reportFlags) addresses(client *kube.Client, replicas *status.Replicas, published snapshot.Name) status.Source {
	switch {
	case len(f.publishAddresses) > 0:
		list, _ := status.OfList(f.publishAddresses)
		return list
	case f.publishService != "":
		return status.OfService(client, published)
	}
	preferred := corev1.NodeExternalIP
	if f.nodeInternalIP {
		preferred = corev1.NodeInternalIP
	}
	return status.OfNodes(replicas, preferred)
}

// start begins the election and the writing, until stop.
func (c *inCluster) start(ctx context.Context) {
	if c == nil {
		return
	}
	electing, resign := context.WithCancel(ctx)
	writing, stopWriting := context.WithCancel(ctx)
	c.resign, c.stopWriting = resign, stopWriting
	if c.elector != nil {
		c.electing.Go(func() { c.elector.Run(electing) })
	}
	if c.events != nil {
		c.writers.Go(func() { c.events.Run(writing, c.leader) })
	}
	if c.statuses != nil {
		c.writers.Go(func() { c.statuses.Run(writing, c.leader) })
		c.writers.Go(func() { c.recheck(writing) })
	}
}

// recheck compares statuses again after others have written some.
func (c *inCluster) recheck(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.source.Republished():
			c.statuses.Recheck()
		}
	}
}

// retreat removes the statuses if no replica is left. ctx limits its duration.
func (c *inCluster) retreat(ctx context.Context) {
	if c != nil && c.statuses != nil && c.remove {
		c.statuses.Shutdown(ctx)
	}
}

// stop ends the writing, and lets another replica lead.
func (c *inCluster) stop() {
	if c == nil {
		return
	}
	c.stopWriting()
	c.writers.Wait()
	c.resign()
	c.electing.Wait()
}

// Problems implements controller.Audience.
func (c *inCluster) Problems(problems []model.Problem) {
	if service := c.source.Service(c.published); c.statuses != nil && service != c.service {
		c.service = service
		c.statuses.Refresh()
	}
	if !model.SameProblems(c.problems, problems) {
		c.problems, c.unserved = problems, unserved(problems)
	}
	if c.events != nil {
		c.events.Problems(problems, c.source.Lookup)
	}
}

// unserved returns the objects that are not served as written because of Problems.
// Refused is more important to the owner than Denied.
func unserved(problems []model.Problem) map[model.ObjectRef]string {
	found := map[model.ObjectRef]string{}
	for _, p := range problems {
		switch {
		case p.Reason == model.Refused:
			found[p.Object] = status.Refused
		case p.Denies && found[p.Object] == "":
			found[p.Object] = status.Denied
		}
	}
	return found
}

// told are the served Ingresses and their errors.
type told struct {
	ingresses []*networkingv1.Ingress
	unserved  map[model.ObjectRef]string
}

// Served implements controller.Audience. Most syncs serve the same Ingresses as before.
func (c *inCluster) Served(ingresses []*networkingv1.Ingress) {
	same := slices.Equal(c.told.ingresses, ingresses) && maps.Equal(c.told.unserved, c.unserved)
	if c.statuses == nil || same {
		return
	}
	c.told = told{ingresses, c.unserved}
	list := make([]status.Served, len(ingresses))
	for i, ing := range ingresses {
		name := snapshot.Name{Namespace: ing.Namespace, Name: ing.Name}
		list[i] = status.Served{Name: name, UID: ing.UID, Ports: c.ports(ing)}
	}
	c.statuses.Served(list)
}

// ports returns the ports of an Ingress with their errors.
func (c *inCluster) ports(ing *networkingv1.Ingress) []networkingv1.IngressPortStatus {
	plain, tls := http, https
	if text := c.unserved[snapshot.RefOf(ing)]; text != "" {
		plain.Error, tls.Error = &text, &text
	}
	return status.Ports(ing, plain, tls)
}

// The ports of load balancers, for statuses.
var (
	http  = networkingv1.IngressPortStatus{Port: 80, Protocol: "TCP"}
	https = networkingv1.IngressPortStatus{Port: 443, Protocol: "TCP"}
)

// Remarks implements controller.Audience.
func (c *inCluster) Remarks() []model.Problem {
	if c.statuses == nil {
		return nil
	}
	return c.statuses.Problems()
}
