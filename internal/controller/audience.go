package controller

import (
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
)

// Audience passes on to the owners what became of their objects. None of its methods
// may wait for anything.
type Audience interface {
	// Problems takes the Problems as they are now: all of them, each time.
	Problems(problems []model.Problem)
	// Served takes the Ingresses that are served, as far as a worker has confirmed
	// it, the oldest first.
	Served(ingresses []*networkingv1.Ingress)
	// Remarks are Problems that it came upon itself.
	Remarks() []model.Problem
}

// nobody is the Audience of objects that have no owner to be told.
type nobody struct{}

func (nobody) Problems([]model.Problem) {}

func (nobody) Served([]*networkingv1.Ingress) {}

func (nobody) Remarks() []model.Problem { return nil }
