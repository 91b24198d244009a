// Package requests sends requests of the kinds that applications send, through the nginx of Sluice
// and of each behaviour.
package requests
