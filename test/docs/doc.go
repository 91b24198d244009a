// Package docs does what the documentation tells its readers to do, and sees
// whether it is as the pages say. In go README.md, the pages of docs and those of
// charts; out come faults, each with its page and line.
//
// A page is a reader's session: its commands run in its order, in one bash, in a
// copy of the checkout, which is a repository of its own, and with an empty home, as a new user has them; and if it
// uses a cluster, in one of its own. On the PATH are sluice, kubectl and helm.
// What each language of a fenced block means:
//
//	sh       commands, which have to succeed
//	console  the same after "$ ", with what they print
//	yaml     manifests: an API server has to take them in a dry run with strict
//	         validation, and Sluice has to render them and find nothing wrong
//	nginx    a part of what the command in <!-- output of: COMMAND --> prints
//	json     the same
//	text     pictures and formulas; nothing is done with them
//
// Comments just before a block say more about it; pages.Marks lists them. What is
// printed may differ from what is shown in times, in ids, in the widths of
// columns, and where the page has "…" or a placeholder such as <address>: see
// allowances.
//
// No cloud and no kubelet is there. So a Deployment of Sluice is run by
// Controllers, as a process for each pod, and a Service of the type LoadBalancer
// is given its address, or on one page its name, by Balancers. The other
// pods are those of test/cluster, which answer each request with what they were asked.
package docs
