package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"

	"sluice/internal/kube"
	"sluice/internal/snapshot"
)

// zoneTimeout limits the reading of the zone.
const zoneTimeout = 10 * time.Second

// zoneOf returns the zone of the node of a pod. If it is not known, endpoints of all zones
// are used, and the log tells why.
func zoneOf(client *kube.Client, pod snapshot.Name, log *slog.Logger) string {
	ctx, cancel := context.WithTimeout(context.Background(), zoneTimeout)
	defer cancel()
	zone, err := readZone(ctx, client, pod)
	if err != nil {
		log.Warn("--enable-topology-aware-routing has no effect: endpoints of all zones are used", "error", err)
		return ""
	}
	log.Info("endpoints of this zone are preferred", "zone", zone)
	return zone
}

func readZone(ctx context.Context, client *kube.Client, pod snapshot.Name) (string, error) {
	if pod == (snapshot.Name{}) {
		return "", errors.New("want POD_NAMESPACE and POD_NAME of a pod (got none)")
	}
	var own corev1.Pod
	if err := client.Get(ctx, kube.Pods, pod, &own); err != nil {
		return "", fmt.Errorf("read Pod %s: %w", pod, err)
	}
	var node corev1.Node
	if err := client.Get(ctx, kube.Nodes, snapshot.Name{Name: own.Spec.NodeName}, &node); err != nil {
		return "", fmt.Errorf("read Node %s: %w", own.Spec.NodeName, err)
	}
	zone := node.Labels[corev1.LabelTopologyZone]
	if zone == "" {
		return "", fmt.Errorf("the Node %s has no label %s", node.Name, corev1.LabelTopologyZone)
	}
	return zone, nil
}
