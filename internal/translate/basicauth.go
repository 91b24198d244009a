package translate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"sluice/internal/annotations"
	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

const (
	basicAuth = "basic-auth"
	// authFile is the key of a Secret with an htpasswd file.
	authFile = "auth"
	// authMap is the auth-secret-type of Secrets with one user in each key.
	authMap = "auth-map"
	// notRealm is the realm with which nginx asks for no password.
	notRealm = "off"
)

// basicAuthBlock is the data of the template basic-auth.
type basicAuthBlock struct {
	Realm string `json:"realm"`
	// File is relative to the state directory.
	File string `json:"file"`
	Pace pace   `json:"pace"`
}

// pace limits how fast a client may have costly hashes checked: half of the time of a
// processor. Paths with the same cost share a zone.
type pace struct {
	Zone string `json:"zone"` // empty for no limit
	Rate string `json:"rate"`
	// Waiting is the number of requests that may wait, AtOnce of those that need not
	// wait.
	Waiting int `json:"waiting"`
	AtOnce  int `json:"atOnce"`
}

// paceOf returns the pace for a cost of bcrypt: cost 10 takes 50 ms, and each step
// doubles it. Below 9, a check is as cheap as other requests.
func paceOf(cost int) pace {
	if cost < 9 {
		return pace{}
	}
	return pace{Zone: fmt.Sprintf("basic_auth_%d", cost), Rate: fmt.Sprintf("%dr/m", 9600>>(cost-6)), Waiting: 100, AtOnce: 5}
}

// readBasicAuth reads the users that may pass.
func (t *translation) readBasicAuth(ing *owner, asked *annotations.BasicAuth) *claim.Attached {
	const key = "auth-secret"
	if !asked.On() {
		return nil
	}
	if asked.Secret == "" {
		return ing.refuse("auth-type", model.InvalidValue, "want the Secret with the users in "+ing.PrefixKey+key+" (got none)")
	}
	name, err := snapshot.ParseReference(asked.Secret, ing.Ref.Namespace)
	secret, fault := t.secretAt(ing, key, name, err)
	if fault != nil {
		return ing.refused(fault)
	}
	users := usersOf(secret, asked.SecretType, ing.Settings.Access.PasswordCost)
	for _, fault := range users.faults {
		ing.report(ing.field(key), model.InvalidValue, fmt.Sprintf("Secret %s: %s: the user cannot come in", name, fault))
	}
	switch {
	case len(users.file) == 0:
		return ing.refuse(key, model.InvalidValue, fmt.Sprintf("Secret %s: %s", name, wantedUsers(asked.SecretType)))
	case len(users.file) > mostUsers:
		return ing.refuse(key, model.InvalidValue, fmt.Sprintf("Secret %s: want at most %d bytes of users (got %d)", name, mostUsers, len(users.file)))
	}
	realm := asked.Realm
	if realm == notRealm {
		ing.report(ing.field("auth-realm"), model.InvalidValue, "want another word than off, by which nginx asks for no password: the realm is empty")
		realm = ""
	}
	file := &model.UserFile{ID: userFileID(secret, users.file), Content: users.file}
	return &claim.Attached{Users: file, Block: model.Block{Name: basicAuth, Source: ing.Ref, Data: basicAuthBlock{realm, model.UsersDir + "/" + file.ID, paceOf(users.cost)}}}
}

// mostUsers is the maximum size of a file of users, because nginx reads it at each
// request.
const mostUsers = 256 << 10

func wantedUsers(secretType string) string {
	if secretType == authMap {
		return "want a user in each key, with the hash of the password as the value (got none)"
	}
	return "want a file of htpasswd in the key " + authFile + ", with at least one user (got none)"
}

// userFileID is a hash of the content and the uid of the Secret. Without the uid, a
// reader of nginx.conf could try out passwords against the hash.
func userFileID(secret *corev1.Secret, content []byte) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n", secret.UID)
	sum.Write(content)
	return hex.EncodeToString(sum.Sum(nil))
}

type users struct {
	// most is the highest accepted cost of a hash, as a cost of bcrypt.
	most int
	// file is the content for nginx, cost the highest cost in it.
	file []byte
	cost int
	// faults describe the other users; they contain no part of a hash.
	faults []string
}

// add adds a user; at is its place in the Secret.
func (u *users) add(at, user, hash string) {
	line, cost, fault := userLine(user, hash, u.most)
	if fault != "" {
		u.faults = append(u.faults, at+": "+fault)
		return
	}
	u.file = append(u.file, line...)
	u.cost = max(u.cost, cost)
}

func usersOf(secret *corev1.Secret, secretType string, most int) *users {
	u := &users{most: most}
	if secretType == authMap {
		for _, user := range slices.Sorted(maps.Keys(secret.Data)) {
			u.add("key "+user, user, strings.TrimSpace(string(secret.Data[user])))
		}
	} else {
		u.addFile(secret.Data[authFile])
	}
	u.faults = u.faults[:min(len(u.faults), claim.Few)]
	return u
}

// addFile reads an htpasswd file.
func (u *users) addFile(text []byte) {
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimRight(line, "\n\r \t")
		if line != "" && line[0] != '#' {
			user, hash := splitUser(line)
			u.add(fmt.Sprintf("line %d", number), user, hash)
		}
	}
}

// users returns the files of users of an owner.
func (i *owner) users() []*model.UserFile {
	var files []*model.UserFile
	for _, of := range i.Attached {
		if of.Users != nil {
			files = append(files, of.Users)
		}
	}
	return files
}

// userFiles sorts files and drops repetitions.
func userFiles(files []*model.UserFile) []*model.UserFile {
	slices.SortStableFunc(files, func(a, b *model.UserFile) int { return strings.Compare(a.ID, b.ID) })
	return slices.CompactFunc(files, func(a, b *model.UserFile) bool { return a.ID == b.ID })
}
