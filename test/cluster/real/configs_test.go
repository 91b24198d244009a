//go:build image

package real

// The templates of the files that the programs of a node read.

const cniConfig = `{
  "cniVersion": "1.0.0", "name": "pods",
  "plugins": [
    {"type": "bridge", "bridge": "cni0", "isGateway": true, "hairpinMode": true,
     "ipam": {"type": "host-local", "ranges": [[{"subnet": "{{.Pods}}.0/24"}]], "routes": [{"dst": "0.0.0.0/0"}], "dataDir": "/run/cni"}},
    {"type": "portmap", "capabilities": {"portMappings": true}}
  ]
}
`

// registryConfig: images of registry.k8s.io come from the tests' registry, too.
const registryConfig = `server = "https://{{.Registry}}"
[host."https://{{.Registry}}"]
  ca = "{{.Authority}}"
`

// cniPrograms is where Debian has the programs of CNI.
const cniPrograms = "/usr/lib/cni"

// restrict_oom_score_adj is for machines without CAP_SYS_RESOURCE.
const containerdConfig = `version = 2
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "registry.k8s.io/{{.Pause}}"
  restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = "` + cniPrograms + `"
  conf_dir = "{{.Dir}}/cni"
[plugins."io.containerd.grpc.v1.cri".registry]
  config_path = "{{.Dir}}/certs"
`

const kubeletConfig = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: {{.Address}}
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: {{.Authority}}}}
authorization: {mode: Webhook}
tlsCertFile: {{.Certificate}}
tlsPrivateKeyFile: {{.Key}}
cgroupDriver: cgroupfs
cgroupRoot: {{.Cgroup}}
failCgroupV1: false
enforceNodeAllocatable: []
failSwapOn: false
oomScoreAdj: 0
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
clusterDNS: [10.96.0.10]
clusterDomain: cluster.local
resolvConf: {{.Dir}}/resolv.conf
evictionHard: {memory.available: 100Mi, nodefs.available: 0%, imagefs.available: 0%, nodefs.inodesFree: 0%}
imageGCHighThresholdPercent: 100
`

const proxyConfig = `apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: nftables
hostnameOverride: {{.Name}}
clusterCIDR: 10.244.0.0/16
clientConnection: {kubeconfig: {{.Kubeconfig}}}
metricsBindAddress: 127.0.0.1:10249
conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
nftables: {minSyncPeriod: 0s}
oomScoreAdj: 0
`
