// Package image tests the image that `build.sh image` makes: what is in the
// archive, and that it serves a cluster as the kubelet would run it. The archive
// is unpacked and run without a container engine, in namespaces of its own, with
// what a restricted pod is allowed:
//
//	make test-image
//
// Its tests have the build tag image, as they need two archives that take minutes
// to be built: SLUICE_IMAGE, and SLUICE_IMAGE_AGAIN of the same commit.
package image
