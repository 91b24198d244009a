package cluster

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// runs is the status of a pod that runs.
func (p *pod) runs(ready bool) corev1.PodStatus {
	return p.status(corev1.PodRunning, ready, corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: p.born}})
}

// ended is the status of a pod whose containers have stopped.
func (p *pod) ended() corev1.PodStatus {
	return p.status(corev1.PodSucceeded, false, corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: p.born, FinishedAt: metav1.Now()},
	})
}

// failed is the status of a pod that could not be started.
func (p *pod) failed(err error) corev1.PodStatus {
	status := p.status(corev1.PodFailed, false, corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", Message: err.Error(), StartedAt: p.born, FinishedAt: metav1.Now()},
	})
	status.Reason, status.Message = "CannotListen", err.Error()
	return status
}

func (p *pod) status(phase corev1.PodPhase, ready bool, state corev1.ContainerState) corev1.PodStatus {
	status := corev1.PodStatus{
		Phase: phase, HostIP: p.host.address, HostIPs: []corev1.HostIP{{IP: p.host.address}},
		PodIP: p.address, PodIPs: []corev1.PodIP{{IP: p.address}}, StartTime: &p.born,
		Conditions: []corev1.PodCondition{
			condition(corev1.PodScheduled, true), condition(corev1.PodInitialized, true),
			condition(corev1.ContainersReady, ready), condition(corev1.PodReady, ready),
		},
	}
	started := state.Running != nil
	for _, container := range p.object.Load().Spec.Containers {
		status.ContainerStatuses = append(status.ContainerStatuses, corev1.ContainerStatus{
			Name: container.Name, Image: container.Image, Ready: ready, Started: &started, State: state,
		})
	}
	return status
}

func condition(kind corev1.PodConditionType, holds bool) corev1.PodCondition {
	status := corev1.ConditionFalse
	if holds {
		status = corev1.ConditionTrue
	}
	return corev1.PodCondition{Type: kind, Status: status, LastTransitionTime: metav1.Now()}
}
