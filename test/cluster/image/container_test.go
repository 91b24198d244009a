//go:build image

package image

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
	"k8s.io/client-go/tools/clientcmd"

	"sluice/test/cluster"
	"sluice/test/kit"
)

// insideVariable has what becomeContainer is to do, as JSON.
const insideVariable = "SLUICE_IMAGE_CONTAINER"

// account is the user and the group that the image says.
const account = 101

// launch is a container to be: its root file system, what its process is started
// as, and the files that a pod finds for its service account.
type launch struct {
	Root      string
	Arguments []string
	Account   map[string]string
	// Volume is how the volume for the state is mounted; there is none if empty.
	Volume string
	// Group is the group that it runs as.
	Group int
}

// becomeContainer makes of this process, the first of its pid namespace, the
// container's: with the root file system read-only, but for what the kubelet
// mounts, and without any right.
func becomeContainer() error {
	runtime.LockOSThread() // capabilities belong to threads
	var l launch
	if err := json.Unmarshal([]byte(os.Getenv(insideVariable)), &l); err != nil {
		return err
	}
	os.Unsetenv(insideVariable)
	for _, step := range []func() error{l.mount, l.devices, l.secrets, l.seal, l.dropRights} {
		if err := step(); err != nil {
			return err
		}
	}
	return syscall.Exec(l.Arguments[0], l.Arguments, os.Environ())
}

func (l launch) in(path string) string { return filepath.Join(l.Root, path) }

func (l launch) mount() error {
	const quiet = unix.MS_NOSUID | unix.MS_NODEV
	err := errors.Join(
		unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""),
		unix.Mount(l.Root, l.Root, "", unix.MS_BIND|unix.MS_REC, ""),
		unix.Mount("proc", l.in("proc"), "proc", quiet|unix.MS_NOEXEC, ""),
		unix.Mount("tmpfs", l.in("tmp"), "tmpfs", quiet, "mode=1777"),
		unix.Mount("tmpfs", l.in("run"), "tmpfs", quiet, "mode=0755"),
		unix.Mount("tmpfs", l.in("dev"), "tmpfs", unix.MS_NOSUID, "mode=0755"),
	)
	if l.Volume != "" {
		err = errors.Join(err, unix.Mount("tmpfs", l.in("var/lib/sluice"), "tmpfs", quiet, l.Volume))
	}
	if l.Volume == ownVolume { // it stands for the image's own folder
		err = errors.Join(err, os.Symlink(".", l.in("var/lib/sluice/state")))
	}
	return err
}

// devices are those that every container has.
func (l launch) devices() error {
	var errs []error
	for _, name := range []string{"null", "zero", "full", "random", "urandom"} {
		path := l.in("dev/" + name)
		errs = append(errs, os.WriteFile(path, nil, 0o666), unix.Mount("/dev/"+name, path, "", unix.MS_BIND, ""))
	}
	for name, to := range map[string]string{"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"} {
		errs = append(errs, os.Symlink(to, l.in("dev/"+name)))
	}
	return errors.Join(errs...)
}

// secrets are the files of the service account.
func (l launch) secrets() error {
	folder := l.in("run/secrets/kubernetes.io/serviceaccount")
	err := os.MkdirAll(folder, 0o755)
	for name, content := range l.Account {
		err = errors.Join(err, os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644))
	}
	return err
}

// seal makes the root file system read-only, and enters it.
func (l launch) seal() error {
	var now unix.Statfs_t
	if err := unix.Statfs(l.Root, &now); err != nil {
		return err
	}
	// What the mount below forbids, nobody may allow who is root here only.
	kept := uintptr(now.Flags) & (unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC | unix.MS_NOATIME)
	if err := unix.Mount("", l.Root, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|kept, ""); err != nil {
		return fmt.Errorf("make the root file system read-only: %w", err)
	}
	if err := unix.Chroot(l.Root); err != nil {
		return err
	}
	return os.Chdir("/")
}

// dropRights becomes the account, without capabilities, as a runtime does it: in the
// bounding, the permitted and the effective set.
func (l launch) dropRights() error {
	for capability := uintptr(0); unix.Prctl(unix.PR_CAPBSET_READ, capability, 0, 0, 0) == nil; capability++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0); err != nil {
			return err
		}
	}
	err := errors.Join(unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0), unix.Prctl(unix.PR_SET_KEEPCAPS, 1, 0, 0, 0))
	if os.Getuid() != account {
		err = errors.Join(err, syscall.Setgroups(nil), syscall.Setresgid(l.Group, l.Group, l.Group), syscall.Setresuid(account, account, account))
	}
	sets := [2]unix.CapUserData{}
	return errors.Join(err, unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &sets[0]), unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
}

// container is the image, run as the kubelet would.
type container struct {
	*cluster.Sluice
	pod
	root string
}

// unpacked is the image's root file system, which all tests have in common, as it
// is never written to. It goes with the folder that it is in.
var unpacked = sync.OnceValues(func() (root string, err error) {
	a, err := readArchive(os.Getenv("SLUICE_IMAGE"))
	if err != nil {
		return "", err
	}
	folder, err := os.MkdirTemp(filepath.Dir(cluster.SluicePath()), "image-")
	if err != nil {
		return "", err
	}
	// The way there is open to the account.
	if err := errors.Join(os.Chmod(filepath.Dir(folder), 0o755), os.Chmod(folder, 0o755)); err != nil {
		return "", err
	}
	_, err = a.unpack(folder)
	return folder, err
})

// run starts a container of the image as a pod's. command takes the place of the
// image's entrypoint if there is one, as in a pod.
func run(t *testing.T, c *cluster.Cluster, p pod) *container {
	t.Helper()
	a := openArchive(t, "SLUICE_IMAGE")
	if a.config.Architecture != runtime.GOARCH {
		t.Fatalf("the image is for %s, this machine is %s", a.config.Architecture, runtime.GOARCH)
	}
	root, err := unpacked()
	if err != nil {
		t.Fatal(err)
	}
	openPorts(t)
	l := launch{
		Root: root, Arguments: append(a.config.Config.Entrypoint, p.args...), Account: accountFiles(t, c, p),
		Volume: p.volume, Group: p.group,
	}
	if len(p.command) > 0 {
		l.Arguments = append(append([]string{}, p.command...), p.args...)
	}
	content, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command("/proc/self/exe")
	command.Env = append(a.config.Config.Env, insideVariable+"="+string(content), "KUBERNETES_SERVICE_HOST="+c.Address, "KUBERNETES_SERVICE_PORT=6443",
		"POD_NAMESPACE="+p.namespace, "POD_NAME="+p.name)
	command.Env = append(command.Env, p.env...)
	command.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID, Pdeathsig: syscall.SIGKILL}
	if throughUserNamespace() {
		command.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		command.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: account, HostID: os.Getuid(), Size: 1}}
		command.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: account, HostID: os.Getgid(), Size: 1}}
		// Who is not root keeps the rights of becomeContainer by these alone.
		command.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SYS_CHROOT, unix.CAP_SETPCAP, unix.CAP_DAC_OVERRIDE}
	}
	s := &container{root: l.Root, pod: p, Sluice: &cluster.Sluice{Sluice: &kit.Sluice{Log: kit.Log(filepath.Join(t.TempDir(), "log")), HTTP: 80, HTTPS: 443, Healthz: 10254}}}
	s.Start(t, command)
	t.Cleanup(func() {
		s.Stop(syscall.SIGKILL, kit.Patience)
		if t.Failed() {
			t.Logf("the end of the container's log:\n%s", kit.Tail(s.Log.Lines(t, ""), 60))
		}
	})
	return s
}

// throughUserNamespace says whether the account has to be made up, as this user
// may become no other.
func throughUserNamespace() bool { return os.Getuid() != 0 }

// pod is what a Deployment says of the container.
type pod struct {
	namespace, name, account string
	command, args, env       []string
	// host is what is served.
	host string
	// volume is how that for the state is mounted; there is none if empty.
	volume string
	// group is the group that it runs as.
	group int
}

// openPorts lets everybody listen on all ports, as some container runtimes have it.
func openPorts(t *testing.T) {
	t.Helper()
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_unprivileged_port_start", []byte("0"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// accountFiles are those that a pod finds for its service account.
func accountFiles(t *testing.T, c *cluster.Cluster, p pod) map[string]string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(c.TokenKubeconfig(t, p.namespace, p.account))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"namespace": p.namespace}
	for _, user := range config.AuthInfos {
		files["token"] = user.Token
	}
	for _, server := range config.Clusters {
		files["ca.crt"] = string(server.CertificateAuthorityData)
	}
	return files
}

// exec runs a program in the container, as kubectl exec does: with the capability
// of the container, which its file gives, or with none.
func (s *container) exec(arguments ...string) (string, error) {
	enter := []string{"--target", strconv.Itoa(s.PID()), "--mount", "--pid", "--root", "--wd"}
	if throughUserNamespace() {
		enter = append(enter, "--user", "--preserve-credentials")
	} else {
		enter = append(enter, "--setuid", strconv.Itoa(account), "--setgid", strconv.Itoa(s.group))
	}
	enter = append(append([]string{"setpriv", "--no-new-privs", "nsenter"}, enter...), "--")
	command := exec.Command(enter[0], append(enter[1:], arguments...)...)
	command.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	output, err := command.CombinedOutput()
	return strings.TrimSpace(string(output)), err
}

// mustExec fails the test where the program does.
func (s *container) mustExec(t *testing.T, arguments ...string) string {
	t.Helper()
	output, err := s.exec(arguments...)
	if err != nil {
		t.Fatalf("%q in the container: %v: %s", arguments, err, output)
	}
	return output
}

// status gives a line of /proc/PID/status of the container's first process.
func (s *container) status(t *testing.T, field string) string {
	t.Helper()
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.PID()))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		if value, ok := strings.CutPrefix(line, field+":"); ok {
			return strings.Join(strings.Fields(value), " ")
		}
	}
	return ""
}
