package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"sluice/internal/report/status"
	"sluice/internal/snapshot"
)

// reportFlags are the flags for writing to the cluster.
type reportFlags struct {
	publishService   string
	publishAddresses []string
	nodeInternalIP   bool
	updateStatus     bool
	updateOnShutdown bool
	interval         int
	electionID       string
	electionTTL      time.Duration
	withoutElection  bool
}

func (f *reportFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.publishService, "publish-service", "", "Service whose addresses become the status of Ingresses, as NAMESPACE/NAME")
	flags.StringSliceVar(&f.publishAddresses, "publish-status-address", nil, "IP addresses and names that become the status of Ingresses, separated by commas")
	flags.BoolVar(&f.nodeInternalIP, "report-node-internal-ip-address", false, "use the internal addresses of nodes, if the status of Ingresses has addresses of nodes")
	flags.BoolVar(&f.updateStatus, "update-status", true, "write the status of Ingresses; set it to false to run beside another controller without changes")
	flags.BoolVar(&f.updateOnShutdown, "update-status-on-shutdown", true, "remove the status of Ingresses when the last replica stops")
	flags.IntVar(&f.interval, "status-update-interval", int(status.DefaultInterval/time.Second), "seconds after which all statuses are compared again")
	flags.StringVar(&f.electionID, "election-id", "ingress-controller-leader", "name of the Lease that the leader of several replicas holds, in the namespace of the pod")
	flags.DurationVar(&f.electionTTL, "election-ttl", 30*time.Second, "how long a leader stays the leader without renewing its Lease")
	flags.BoolVar(&f.withoutElection, "disable-leader-election", false, "elect no leader; then no replica writes the status of Ingresses")
}

// validate returns an error with the flag, its value and a valid one.
func (f *reportFlags) validate() error {
	if f.publishService != "" && len(f.publishAddresses) > 0 {
		return errors.New("--publish-service and --publish-status-address: want one of the two (got both)")
	}
	if _, err := snapshot.ParseName(f.publishService); f.publishService != "" && err != nil {
		return fmt.Errorf("--publish-service: want NAMESPACE/NAME (got %q)", f.publishService)
	}
	if _, err := status.OfList(f.publishAddresses); err != nil {
		return fmt.Errorf("--publish-status-address: %w", err)
	}
	if least := int(status.LeastInterval / time.Second); f.interval < least {
		return fmt.Errorf("--status-update-interval: want %d seconds or more (got %d)", least, f.interval)
	}
	if f.electionTTL < leastTTL {
		return fmt.Errorf("--election-ttl: want %v or more (got %v)", leastTTL, f.electionTTL)
	}
	if _, err := snapshot.ParseName("default/" + f.electionID); err != nil {
		return fmt.Errorf("--election-id: want the name of a Lease (got %q)", f.electionID)
	}
	return nil
}

// leastTTL limits the requests to the API server.
const leastTTL = 4 * time.Second

// thisPod returns the pod of this process, from the environment variables that
// ingress-nginx's chart also sets; empty outside a cluster.
func thisPod() (snapshot.Name, error) {
	pod := snapshot.Name{Namespace: os.Getenv("POD_NAMESPACE"), Name: os.Getenv("POD_NAME")}
	if pod == (snapshot.Name{}) {
		return pod, nil
	}
	if _, err := snapshot.ParseName(pod.String()); err != nil {
		return pod, fmt.Errorf("the environment's POD_NAMESPACE and POD_NAME: want both, the name of this pod (got %s)", strings.TrimSpace(fmt.Sprintf("%q and %q", pod.Namespace, pod.Name)))
	}
	return pod, nil
}
