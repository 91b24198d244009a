package cluster

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"sluice/test/kit"
)

// contain is what a container runtime does with the pod of deploy/static.yaml: the
// root file system is read-only, the volume belongs to root and lets the group
// in, and of the capabilities only one may ever be had.
const contain = `
set -e
mount --make-rprivate /
ip link set lo up
[ -z "$FIRST_PORT" ] || echo "$FIRST_PORT" > /proc/sys/net/ipv4/ip_unprivileged_port_start
mount -t tmpfs -o mode=2770,gid="$GROUP" volume "$VOLUME"
cp "$SLUICE" "$VOLUME/binary"
cp "$MANIFEST" "$VOLUME/manifest.yaml"
mount -o remount,bind,ro /
exec setpriv --reuid "$USER_ID" --regid "$GROUP" --clear-groups --bounding-set=-all,"+$CAPABILITY" --inh-caps=-all --no-new-privs "$VOLUME/binary" "$@"
`

// container runs sluice as the Deployment of deploy/ would, but on manifests and
// with a network of its own. change may alter its environment before.
func container(t *testing.T, change func(environment map[string]string)) *kit.Sluice {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can become another user, with a read-only root file system")
	}
	volume, err := os.MkdirTemp("", "sluice-volume-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(volume) })
	manifest := filepath.Join(t.TempDir(), "manifest.yaml")
	if err := errors.Join(os.Chmod(volume, 0o755), os.WriteFile(manifest, []byte("kind: Namespace\napiVersion: v1\nmetadata: {name: shop}\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	spec := theDeployment(t).Spec.Template.Spec
	one := spec.Containers[0]
	environment := map[string]string{
		"SLUICE": SluicePath(), "MANIFEST": manifest, "VOLUME": volume, "FIRST_PORT": "",
		"USER_ID": strconv.FormatInt(*one.SecurityContext.RunAsUser, 10), "GROUP": strconv.FormatInt(*spec.SecurityContext.FSGroup, 10),
		"CAPABILITY": strings.ToLower(string(one.SecurityContext.Capabilities.Add[0])),
	}
	for _, sysctl := range spec.SecurityContext.Sysctls {
		if sysctl.Name == "net.ipv4.ip_unprivileged_port_start" {
			environment["FIRST_PORT"] = sysctl.Value
		}
	}
	state := ""
	for _, argument := range one.Args {
		if folder, is := strings.CutPrefix(argument, "--state-dir="); is {
			state = strings.Replace(folder, one.VolumeMounts[0].MountPath, volume, 1)
		}
	}
	environment["STATE"] = state
	change(environment)
	command := exec.Command("sh", "-c", contain, "contain", "run", "--manifests", filepath.Join(volume, "manifest.yaml"), "--state-dir", environment["STATE"])
	for name, value := range environment {
		command.Env = append(command.Env, name+"="+value)
	}
	command.Env = append(command.Env, "PATH="+os.Getenv("PATH"))
	command.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	s := &kit.Sluice{State: state, Log: kit.Log(filepath.Join(t.TempDir(), "log"))}
	s.Start(t, command)
	t.Cleanup(func() { s.Stop(syscall.SIGTERM, kit.Patience) })
	return s
}

// TestDeployedPodRuns: what the Deployment allows the container is enough for nginx
// to listen on the ports 80 and 443, and for sluice to write what it has to.
func TestDeployedPodRuns(t *testing.T) {
	s := container(t, func(map[string]string) {})
	kit.Await(t, "a configuration that the workers serve", func() bool {
		s.MustRun(t)
		return len(s.Log.Lines(t, "msg=sync")) > 0
	})
	for _, line := range append(s.Log.Lines(t, "level=ERROR"), s.Log.Lines(t, "[emerg]")...) {
		t.Error(line)
	}
}

// TestDeployedPodNeedsWhatItAsksFor: without the sysctl there is no listening on port 80, and
// the volume itself is no state directory.
func TestDeployedPodNeedsWhatItAsksFor(t *testing.T) {
	for _, test := range []struct {
		name, says string
		change     func(environment map[string]string)
	}{
		{"sysctl", "no permission to listen on port 80", func(e map[string]string) { e["FIRST_PORT"] = "1024" }},
		{"folder below the volume", "operation not permitted", func(e map[string]string) { e["STATE"] = e["VOLUME"] }},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := container(t, test.change)
			kit.Await(t, test.says, func() bool { return len(s.Log.Lines(t, test.says)) > 0 })
		})
	}
}
