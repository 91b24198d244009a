package controller

import (
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
)

// Audience tells owners about their objects. None of its methods may block.
type Audience interface {
	// Problems receives all current Problems, each time.
	Problems(problems []model.Problem)
	// Served receives the served Ingresses that a worker has confirmed, the oldest
	// first.
	Served(ingresses []*networkingv1.Ingress)
	// Remarks returns Problems that the Audience found itself.
	Remarks() []model.Problem
}

// nobody is the Audience if there are no owners to tell.
type nobody struct{}

func (nobody) Problems([]model.Problem) {}

func (nobody) Served([]*networkingv1.Ingress) {}

func (nobody) Remarks() []model.Problem { return nil }
