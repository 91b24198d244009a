package docs

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

var (
	// installs matches commands that install the chart of this checkout.
	installs = regexp.MustCompile(`\bhelm (install|upgrade --install)\b.*\bcharts/sluice\b`)
	// imageOf and tagOf match what such a command says of the image.
	imageOf = regexp.MustCompile(`controller\.image\.repository="?([^\s"]+)`)
	tagOf   = regexp.MustCompile(`--set-string controller\.image\.tag="?([^\s"]+)`)
	// folder matches how each page names the chart.
	folder = regexp.MustCompile(` \./charts/sluice\b`)
	// pushed matches where the image is pushed from and to.
	pushed = regexp.MustCompile(`skopeo copy "oci-archive:([^"]+)" "docker://([^"]+)"`)
	// version matches how a page, and build.sh, find out the version.
	version      = regexp.MustCompile(`(?m)^V=\$\((.+)\)$`)
	buildVersion = regexp.MustCompile(`(?m)^version="\$\((.+) 2>/dev/null \|\| echo unknown\)"$`)
)

// TestInstalledImage: who does what a page says installs an image that there is.
// build.sh gives the image the version of the checkout as its tag, which is not the
// chart's default; so each installation says which image it means, and where the page
// has it pushed, that is this one.
func TestInstalledImage(t *testing.T) {
	t.Parallel()
	build := buildVersion.FindStringSubmatch(read(t, "build.sh"))
	if build == nil || !strings.Contains(read(t, "build.sh"), `-out "$dist/sluice-$version-$1"`) {
		t.Fatal("build.sh does not say what it calls the image: mend this test")
	}
	installed, pushes := 0, 0
	for _, page := range readPages(t) {
		to := ""
		for _, b := range page.Blocks {
			for _, c := range b.Commands() {
				if found := version.FindStringSubmatch(c.Text); found != nil && found[1] != build[1] {
					t.Errorf("%s:%d: V is what %q prints, and for build.sh the version is what %q prints", page.Path, c.Line, found[1], build[1])
				}
				if found := pushed.FindStringSubmatch(c.Text); found != nil {
					pushes++
					if to = found[2]; found[1] != "dist/sluice-$V-amd64.oci.tar" {
						t.Errorf("%s:%d: build.sh writes no %s", page.Path, c.Line, found[1])
					}
				}
				if !installs.MatchString(strings.ReplaceAll(c.Text, "\\\n", " ")) || strings.Contains(c.Text, " --dry-run") {
					continue
				}
				installed++
				if err := installsImage(c.Text, to); err != nil {
					t.Errorf("%s:%d: %v", page.Path, c.Line, err)
				}
			}
		}
	}
	if installed < 5 || pushes < 2 {
		t.Errorf("only %d installations and %d pushes were found", installed, pushes)
	}
}

// installsImage says what is wrong with the image that a command installs, which is
// to be the one that was pushed, if the page has one pushed.
func installsImage(command, pushed string) error {
	image, tag := imageOf.FindStringSubmatch(command), tagOf.FindStringSubmatch(command)
	switch {
	case image == nil:
		return fmt.Errorf("it does not set controller.image.repository, and no registry has the default")
	case tag == nil:
		return fmt.Errorf("it does not set controller.image.tag with --set-string (--set takes a version of digits for a number), and build.sh makes no image with the chart's default")
	case !folder.MatchString(command):
		return fmt.Errorf("it does not call the chart ./charts/sluice, as other pages do: without ./, Helm may look for a repository of that name")
	case pushed != "" && image[1]+":"+tag[1] != pushed:
		return fmt.Errorf("it installs %s:%s, and the page pushes %s", image[1], tag[1], pushed)
	}
	return nil
}

func TestInstallsImage(t *testing.T) {
	t.Parallel()
	const here = "helm install sluice ./charts/sluice --set controller.image.repository=registry.example/sluice"
	const noTag = "it does not set controller.image.tag with --set-string (--set takes a version of digits for a number), and build.sh makes no image with the chart's default"
	for command, want := range map[string]string{
		here + ` --set-string controller.image.tag="$V"`:  "",
		here + ` --set-string controller.image.tag=0.1.0`: "it installs registry.example/sluice:0.1.0, and the page pushes registry.example/sluice:$V",
		here:                                    noTag,
		here + ` --set controller.image.tag=$V`: noTag,
		strings.Replace(here, "./", "", 1) + ` --set-string controller.image.tag="$V"`: "it does not call the chart ./charts/sluice, as other pages do: without ./, Helm may look for a repository of that name",
		"helm install sluice ./charts/sluice --set-string controller.image.tag=0.1.0":  "it does not set controller.image.repository, and no registry has the default",
	} {
		said := ""
		if err := installsImage(command, "registry.example/sluice:$V"); err != nil {
			said = err.Error()
		}
		if said != want {
			t.Errorf("%s: got %q, want %q", command, said, want)
		}
	}
}
