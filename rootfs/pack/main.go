// Command pack makes the image. In go the Debian part of its root file system, from
// rootfs/debian.sh, and the binary. Out come an OCI archive for docker, podman and
// containerd, and its bill of materials. The same inputs give the same bytes.
//
//	pack -base debian.tar -binary sluice -license LICENSE -version v1 -architecture amd64 -epoch 1700000000 -out dist/sluice-v1-amd64
package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

// inputs are what an image is made of.
type inputs struct {
	base, binary, license string
	version, revision     string
	architecture          string
	epoch                 int64
	out                   string
}

func main() {
	var in inputs
	flag.StringVar(&in.base, "base", "", "tar archive with the Debian part of the root file system")
	flag.StringVar(&in.binary, "binary", "", "the program")
	flag.StringVar(&in.license, "license", "", "its license")
	flag.StringVar(&in.version, "version", "", "its version, which becomes the tag")
	flag.StringVar(&in.revision, "revision", "", "the commit that it was built from")
	flag.StringVar(&in.architecture, "architecture", "", "amd64 or arm64")
	flag.Int64Var(&in.epoch, "epoch", 0, "seconds since 1970: nothing in the image is younger")
	flag.StringVar(&in.out, "out", "", "what the names of the written files begin with")
	flag.Parse()
	if err := in.pack(); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

// time is the time of all that pack makes.
func (in inputs) time() time.Time { return time.Unix(in.epoch, 0).UTC() }

// pack writes the image and its bill, and prints their names.
func (in inputs) pack() error {
	base, err := readTree(in.base, in.time())
	if err != nil {
		return fmt.Errorf("the Debian part: %w", err)
	}
	bill, err := in.bill(base)
	if err != nil {
		return fmt.Errorf("the bill of materials: %w", err)
	}
	own, err := in.ownTree(bill)
	if err != nil {
		return fmt.Errorf("our part: %w", err)
	}
	written, err := in.image(base, own)
	if err != nil {
		return fmt.Errorf("the image: %w", err)
	}
	if err := os.WriteFile(in.out+".spdx.json", bill, 0o644); err != nil {
		return err
	}
	fmt.Printf("%s.oci.tar %s, %.1f MB compressed, %.1f MB unpacked\n%s.spdx.json\n", in.out, written.digest, megabytes(written.compressed), megabytes(base.size()+own.size()), in.out)
	return nil
}

func megabytes(bytes int64) float64 { return float64(bytes) / 1e6 }
