package main

import (
	"context"
	"flag"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/cert-manager/cert-manager/pkg/controller"
	_ "github.com/cert-manager/cert-manager/pkg/controller/acmechallenges"
	_ "github.com/cert-manager/cert-manager/pkg/controller/acmeorders"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificate-shim/ingresses"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/acme"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/approver"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/ca"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/selfsigned"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/issuing"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/keymanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/readiness"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/requestmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/revisionmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/trigger"
	_ "github.com/cert-manager/cert-manager/pkg/controller/clusterissuers"
	_ "github.com/cert-manager/cert-manager/pkg/controller/issuers"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/acme"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/ca"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/selfsigned"
)

// command runs until its context ends.
type command func(ctx context.Context, arguments []string) error

// options are the defaults of cert-manager's flags.
func options(kubeconfig, nameserver string, retry time.Duration) controller.ContextOptions {
	return controller.ContextOptions{
		Kubeconfig: kubeconfig, KubernetesAPIQPS: 20, KubernetesAPIBurst: 50,
		IssuerOptions: controller.IssuerOptions{ClusterResourceNamespace: "kube-system", ClusterIssuerAmbientCredentials: true},
		ACMEOptions: controller.ACMEOptions{
			HTTP01SolverImage:              "quay.io/jetstack/cert-manager-acmesolver:test",
			HTTP01SolverResourceRequestCPU: resource.MustParse("10m"), HTTP01SolverResourceRequestMemory: resource.MustParse("64Mi"),
			HTTP01SolverResourceLimitsCPU: resource.MustParse("100m"), HTTP01SolverResourceLimitsMemory: resource.MustParse("64Mi"),
			ACMEHTTP01SolverRunAsNonRoot: true,
			HTTP01SolverNameservers:      []string{nameserver},
			DNS01Nameservers:             []string{nameserver},
			DNS01CheckRetryPeriod:        retry,
		},
		IngressShimOptions: controller.IngressShimOptions{
			DefaultIssuerKind: "Issuer", DefaultIssuerGroup: "cert-manager.io", DefaultAutoCertificateAnnotations: []string{"kubernetes.io/tls-acme"},
		},
		CertificateOptions: controller.CertificateOptions{
			CopiedAnnotationPrefixes:                 []string{"*", "-kubectl.kubernetes.io/", "-fluxcd.io/", "-argocd.argoproj.io/"},
			CertificateRequestMinimumBackoffDuration: time.Hour, CertificateRequestMaximumBackoffDuration: 32 * time.Hour,
		},
		SchedulerOptions: controller.SchedulerOptions{MaxConcurrentChallenges: 60},
	}
}

// control runs all controllers that are imported.
func control(ctx context.Context, arguments []string) error {
	flags := flag.NewFlagSet("controller", flag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", "", "file with the access to the API server")
	nameserver := flags.String("nameserver", "", "DNS server that the hosts of challenges are looked up at")
	retry := flags.Duration("dns01-check-retry-period", 10*time.Second, "time until the next request of its own for a challenge, also for one by HTTP")
	workers := flags.Int("concurrent-workers", 5, "how many objects of a kind are worked on at a time; one with a challenge for 10 seconds")
	_ = flags.Parse(arguments)
	factory, err := controller.NewContextFactory(ctx, options(*kubeconfig, *nameserver, *retry))
	if err != nil {
		return err
	}
	common, err := factory.Build()
	if err != nil {
		return err
	}
	all, ctx := errgroup.WithContext(ctx)
	for _, construct := range controller.Known() {
		one, err := construct(factory)
		if err != nil {
			return err
		}
		all.Go(func() error { return one.Run(*workers, ctx) })
	}
	common.SharedInformerFactory.Start(ctx.Done())
	common.KubeSharedInformerFactory.Start(ctx.Done())
	common.HTTP01ResourceMetadataInformersFactory.Start(ctx.Done())
	return all.Wait()
}
