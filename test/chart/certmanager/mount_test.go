//go:build image

package certmanager

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// lag is how long after a change of a Secret its files change. A kubelet takes up to a minute and more.
const lag = 3 * time.Second

// mount keeps the files of a pod's volume "webhook-cert" until the end of the test, as a kubelet does:
// each file is a link through the link ..data, which is turned to a new folder.
func (w *world) mount(t *testing.T, pod corev1.Pod) (folder string) {
	t.Helper()
	folder = t.TempDir()
	var source *corev1.SecretVolumeSource
	for _, volume := range pod.Spec.Volumes {
		if volume.Name == "webhook-cert" {
			source = volume.Secret
		}
	}
	secret, err := w.secret(t.Context(), pod.Namespace, source.SecretName)
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range source.Items {
		if err := os.Symlink(filepath.Join("..data", item.Path), filepath.Join(folder, item.Path)); err != nil {
			t.Fatal(err)
		}
	}
	if err := turn(folder, source.Items, secret); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- w.followSecret(ctx, folder, source.Items, secret) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return folder
}

// followSecret writes the files anew when the Secret has changed.
func (w *world) followSecret(ctx context.Context, folder string, items []corev1.KeyToPath, last *corev1.Secret) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(100 * time.Millisecond):
		}
		now, err := w.secret(ctx, last.Namespace, last.Name)
		if err != nil || now.ResourceVersion == last.ResourceVersion {
			continue
		}
		last = now
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(lag):
		}
		if err := turn(folder, items, now); err != nil {
			return err
		}
	}
}

// turn writes the files of a Secret into a new folder, and turns ..data to it.
func turn(folder string, items []corev1.KeyToPath, secret *corev1.Secret) error {
	next := ".." + secret.ResourceVersion
	errs := []error{os.MkdirAll(filepath.Join(folder, next), 0o755)}
	for _, item := range items {
		content, found := secret.Data[item.Key]
		if !found {
			errs = append(errs, fmt.Errorf("the Secret has no key %s", item.Key))
		}
		errs = append(errs, os.WriteFile(filepath.Join(folder, next, item.Path), content, 0o644))
	}
	turning := filepath.Join(folder, "..turning")
	return errors.Join(append(errs, os.Symlink(next, turning), os.Rename(turning, filepath.Join(folder, "..data")))...)
}
