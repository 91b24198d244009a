package cluster

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// static is the manifest that users apply; those of chartFolder are rendered from the
// chart with other values. test/chart keeps all of them fresh.
const (
	static      = "../../deploy/static.yaml"
	chartFolder = "testdata/chart/"
)

// rendered reads a manifest that was rendered from the chart.
func rendered(t testing.TB, path string) []*unstructured.Unstructured {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(content))
}

// ofChart is the manifest of a name in chartFolder.
func ofChart(name string) string { return chartFolder + name + ".yaml" }

// right is one verb on one resource, as a role grants it.
type right struct {
	// role is the kind and name of what grants it, such as Role/sluice/sluice.
	role            string
	group, resource string
	// names are those of the only objects that it is for; empty for all.
	names string
	verb  string
}

// String is how the tables of the tests name it.
func (r right) String() string { return r.role + " " + r.what() }

// what is the right without what grants it.
func (r right) what() string {
	if r.names != "" {
		return r.resource + "(" + r.names + ") " + r.verb
	}
	return r.resource + " " + r.verb
}

// is says whether a rule grants it.
func (r right) is(rule rbacv1.PolicyRule) bool {
	return rule.APIGroups[0] == r.group && slices.Contains(rule.Resources, r.resource) && strings.Join(rule.ResourceNames, ",") == r.names
}

// roleOf gives a ClusterRole's or Role's name and its rules; false for other
// objects.
func roleOf(t testing.TB, o *unstructured.Unstructured) (name string, rules []rbacv1.PolicyRule, is bool) {
	t.Helper()
	if kind := o.GetKind(); kind != "ClusterRole" && kind != "Role" {
		return "", nil, false
	}
	var role rbacv1.ClusterRole // a Role has the same rules
	typed(t, o, &role)
	return strings.TrimSuffix(o.GetKind()+"/"+o.GetNamespace(), "/") + "/" + o.GetName(), role.Rules, true
}

// typed reads an object into a struct of Kubernetes.
func typed(t testing.TB, o *unstructured.Unstructured, into any) {
	t.Helper()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(o.Object, into, true); err != nil {
		t.Fatalf("%s: %v", nameOf(o), err)
	}
}

// rightsOf lists what objects grant.
func rightsOf(t testing.TB, objects []*unstructured.Unstructured) []right {
	t.Helper()
	var all []right
	for _, o := range objects {
		name, rules, is := roleOf(t, o)
		if !is {
			continue
		}
		for _, rule := range rules {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					all = append(all, right{role: name, group: rule.APIGroups[0], resource: resource, names: strings.Join(rule.ResourceNames, ","), verb: verb})
				}
			}
		}
	}
	return all
}

// without takes one right out of objects.
func without(t testing.TB, objects []*unstructured.Unstructured, gone right) {
	t.Helper()
	taken := false
	for _, o := range objects {
		name, rules, is := roleOf(t, o)
		if !is || name != gone.role {
			continue
		}
		var kept []any
		for _, rule := range rules {
			verbs := slices.Clone(rule.Verbs)
			if gone.is(rule) {
				verbs = slices.DeleteFunc(verbs, func(verb string) bool { return verb == gone.verb })
			}
			taken = taken || len(verbs) < len(rule.Verbs)
			if rule.Verbs = verbs; len(verbs) == 0 {
				continue
			}
			content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&rule)
			if err != nil {
				t.Fatal(err)
			}
			kept = append(kept, content)
		}
		o.Object["rules"] = kept
	}
	if !taken {
		t.Fatalf("nothing grants %s", gone)
	}
}

// places say what the names in a manifest are in a test, so that many can share a
// cluster.
type places struct {
	// namespaces has those that other names stand for.
	namespaces map[string]string
	// suffix ends the names of what is in no namespace.
	suffix string
}

// move renames an object, and what it refers to.
func (p places) move(o *unstructured.Unstructured) {
	if namespace, moved := p.namespaces[o.GetNamespace()]; moved {
		o.SetNamespace(namespace)
	}
	switch o.GetKind() {
	case "Namespace":
		o.SetName(p.namespaces[o.GetName()])
	case "ClusterRole", "ClusterRoleBinding", "IngressClass", "ValidatingWebhookConfiguration", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding":
		o.SetName(o.GetName() + p.suffix)
	}
	p.moveWebhooks(o)
	if kind, _, _ := unstructured.NestedString(o.Object, "roleRef", "kind"); kind == "ClusterRole" {
		name, _, _ := unstructured.NestedString(o.Object, "roleRef", "name")
		_ = unstructured.SetNestedField(o.Object, name+p.suffix, "roleRef", "name")
	}
	subjects, _, _ := unstructured.NestedSlice(o.Object, "subjects")
	for _, s := range subjects {
		subject := s.(map[string]any)
		subject["namespace"] = p.namespaces[subject["namespace"].(string)]
	}
	if len(subjects) > 0 {
		_ = unstructured.SetNestedSlice(o.Object, subjects, "subjects")
	}
}

// TestDeployIsAccepted: the API server takes each object that the chart renders as
// it is written there, with no field that it does not know, and would run the pods
// in a namespace that is restricted.
func TestDeployIsAccepted(t *testing.T) {
	c := Shared(t)
	c.Apply(t, Namespace("sluice"), Namespace("shop"), Namespace("settings"))
	files, err := filepath.Glob(ofChart("*"))
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, file := range append(files, static) {
		for _, o := range rendered(t, file) {
			count++
			if err := c.applier.check(t.Context(), o); err != nil {
				t.Errorf("%s: %s: %v", file, nameOf(o), err)
			}
		}
	}
	if count < 70 {
		t.Errorf("there are %d objects only", count)
	}
	broken := rendered(t, static)[0]
	broken.Object["dat"] = map[string]any{}
	if err := c.applier.check(t.Context(), broken); err == nil || !strings.Contains(err.Error(), ".dat") {
		t.Errorf("an unknown field is not refused: %v", err)
	}
}

// TestDeployedPodIsRestricted: what the Deployment runs is allowed where Pod
// Security is at its strictest, and nginx can listen.
func TestDeployedPodIsRestricted(t *testing.T) {
	c := Shared(t)
	const namespace = "rbac-restricted"
	restricted := Namespace(namespace)
	restricted.Labels = map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}
	c.Apply(t, restricted)
	d := theDeployment(t)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "sluice"}, Spec: d.Spec.Template.Spec}
	dryRun := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict}
	if _, err := c.Admin().CoreV1().Pods(namespace).Create(t.Context(), pod, dryRun); err != nil {
		t.Errorf("the pod is refused: %v", err)
	}
	security := d.Spec.Template.Spec.Containers[0].SecurityContext
	if !*security.ReadOnlyRootFilesystem || *security.AllowPrivilegeEscalation || !slices.Equal(security.Capabilities.Add, []corev1.Capability{"NET_BIND_SERVICE"}) {
		t.Errorf("the security context of the container is %v", security)
	}
	root := pod.DeepCopy()
	root.Spec.Containers[0].SecurityContext.RunAsNonRoot = new(bool)
	if _, err := c.Admin().CoreV1().Pods(namespace).Create(t.Context(), root, dryRun); err == nil {
		t.Error("a pod that may run as root is not refused, so that this test proves nothing")
	}
}

// theDeployment is that of deploy/static.yaml.
func theDeployment(t testing.TB) *appsv1.Deployment {
	t.Helper()
	d := &appsv1.Deployment{}
	theObject(t, static, "Deployment", d)
	return d
}

// theClass is the IngressClass of deploy/static.yaml.
func theClass(t testing.TB) *networkingv1.IngressClass {
	t.Helper()
	class := &networkingv1.IngressClass{}
	theObject(t, static, "IngressClass", class)
	return class
}

func theObject(t testing.TB, path, kind string, into any) {
	t.Helper()
	for _, o := range rendered(t, path) {
		if o.GetKind() == kind {
			typed(t, o, into)
			return
		}
	}
	t.Fatalf("%s has no %s", path, kind)
}

// documented are the sections of docs/rbac.md: the manifest with the rights that a
// section tells of, and another one whose rights it does not tell again.
var documented = []struct{ section, path, besides string }{
	{"All namespaces", static, ""},
	{"Settings of classes", ofChart("all-namespaces"), static},
	{"Single Secrets", ofChart("single-secrets"), ofChart("all-namespaces")},
	{"All Secrets", ofChart("all-secrets"), ofChart("all-namespaces")},
	{"A selector of namespaces", ofChart("namespace-selector"), ofChart("all-namespaces")},
	{"The addresses of nodes", ofChart("status-from-nodes"), ofChart("all-namespaces")},
	{"TCP and UDP services", ofChart("streams"), ofChart("all-namespaces")},
	{"Headers of ConfigMaps", ofChart("headers"), ofChart("all-namespaces")},
	{"Headers of ConfigMaps", ofChart("single-headers"), ofChart("all-namespaces")},
	{"One namespace", ofChart("one-namespace"), ""},
}

// TestEachRuleSaysWhatItIsFor: a comment stands before each rule, and docs/rbac.md
// has a row for each right.
func TestEachRuleSaysWhatItIsFor(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/rbac.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range documented {
		content, err := os.ReadFile(d.path)
		if err != nil {
			t.Fatal(err)
		}
		lines, rules := strings.Split(string(content), "\n"), 0
		for i, line := range lines {
			if strings.HasPrefix(line, "- apiGroups:") {
				rules++
				if !strings.HasPrefix(lines[i-1], "# ") {
					t.Errorf("%s:%d: the rule has no comment", d.path, i+1)
				}
			}
		}
		rights := rightsOf(t, rendered(t, d.path))
		if rules < 8 || len(rights) < rules {
			t.Errorf("%s has %d rules and %d rights only", d.path, rules, len(rights))
		}
		if d.besides != "" {
			told := rightsOf(t, rendered(t, d.besides))
			rights = slices.DeleteFunc(rights, func(r right) bool { return slices.Contains(told, r) })
		}
		if diff := documentedOnly(string(page), d.section, rights); len(diff) > 0 {
			t.Errorf("%q in docs/rbac.md and %s differ in:\n%s", d.section, d.path, strings.Join(diff, "\n"))
		}
	}
}

// documentedOnly compares rights with the rows of the table of a section, such as
//
//	| `resource` | `verb`, `verb` | ...
func documentedOnly(page, heading string, rights []right) (differ []string) {
	_, section, _ := strings.Cut(page, "\n## "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var granted, documented []string
	for _, r := range rights {
		granted = append(granted, r.resource+" "+r.verb)
	}
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || !strings.HasPrefix(cells[1], " `") {
			continue
		}
		for _, verb := range strings.Split(cells[2], ",") {
			documented = append(documented, strings.Trim(cells[1], " `")+" "+strings.Trim(verb, " `"))
		}
	}
	slices.Sort(granted)
	slices.Sort(documented)
	for _, one := range granted {
		if !slices.Contains(documented, one) {
			differ = append(differ, one+" is granted, and has no row")
		}
	}
	for _, one := range documented {
		if !slices.Contains(granted, one) {
			differ = append(differ, one+" has a row, and is not granted")
		}
	}
	if len(granted) != len(documented) && len(differ) == 0 {
		differ = append(differ, strings.Join(documented, ", "))
	}
	return differ
}
