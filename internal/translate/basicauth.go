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
	// authFile is the key of a Secret with a file of htpasswd.
	authFile = "auth"
	// authMap is the type of a Secret with a user in each key.
	authMap = "auth-map"
	// notRealm is the word by which nginx asks for no password.
	notRealm = "off"
)

// basicAuthBlock is what the template of basic-auth prints.
type basicAuthBlock struct {
	Realm string `json:"realm"`
	// File is relative to the state directory.
	File string `json:"file"`
}

// readBasicAuth reads the users that clients have to be one of.
func (t *translation) readBasicAuth(ing *owner, asked *annotations.BasicAuth) *claim.Attached {
	const key = "auth-secret"
	if !asked.On() {
		return nil
	}
	if asked.Secret == "" {
		return ing.refuse("auth-type", model.InvalidValue, "want the Secret with the users in "+ing.PrefixKey+key+" (got none)")
	}
	name, err := snapshot.ParseReference(asked.Secret, ing.Ref.Namespace)
	if err != nil {
		return ing.refuse(key, model.InvalidValue, err.Error())
	}
	secret, missing := t.secretFor(ing, name)
	if secret == nil {
		return ing.refuse(key, model.NotFound, missing)
	}
	users, faults := usersOf(secret, asked.SecretType)
	for _, fault := range faults {
		ing.report(ing.PrefixKey+key, model.InvalidValue, fmt.Sprintf("Secret %s: %s: the user cannot come in", name, fault))
	}
	switch {
	case len(users) == 0:
		return ing.refuse(key, model.InvalidValue, fmt.Sprintf("Secret %s: %s", name, wantedUsers(asked.SecretType)))
	case len(users) > mostUsers:
		return ing.refuse(key, model.InvalidValue, fmt.Sprintf("Secret %s: want at most %d bytes of users (got %d)", name, mostUsers, len(users)))
	}
	realm := asked.Realm
	if realm == notRealm {
		ing.report(ing.PrefixKey+"auth-realm", model.InvalidValue, "want another word than off, by which nginx asks for no password: the realm is empty")
		realm = ""
	}
	file := &model.UserFile{ID: userFileID(secret, users), Content: users}
	return &claim.Attached{Users: file, Block: model.Block{Name: basicAuth, Source: ing.Ref, Data: basicAuthBlock{realm, model.UsersDir + "/" + file.ID}}}
}

// mostUsers is how large a file of users may be: nginx reads it at each request.
const mostUsers = 256 << 10

func wantedUsers(secretType string) string {
	if secretType == authMap {
		return "want a user in each key, with the hash of the password as the value (got none)"
	}
	return "want a file of htpasswd in the key " + authFile + ", with at least one user (got none)"
}

// userFileID is a hash of the content. The uid of the Secret is in it, too: who reads
// nginx.conf could else try out passwords.
func userFileID(secret *corev1.Secret, content []byte) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n", secret.UID)
	sum.Write(content)
	return hex.EncodeToString(sum.Sum(nil))
}

// usersOf gives the users of a Secret as a file that nginx reads, and what is wrong
// with others. The faults hold nothing of a hash.
func usersOf(secret *corev1.Secret, secretType string) (file []byte, faults []string) {
	if secretType != authMap {
		return usersInFile(secret.Data[authFile])
	}
	for _, user := range slices.Sorted(maps.Keys(secret.Data)) {
		line, fault := userLine(user, trimmed(secret.Data[user]))
		if fault != "" {
			faults = append(faults, fmt.Sprintf("key %s: %s", user, fault))
			continue
		}
		file = append(file, line...)
	}
	return file, firstFew(faults)
}

// usersInFile reads a file of htpasswd.
func usersInFile(text []byte) (file []byte, faults []string) {
	number := 0
	for line := range linesOf(text) {
		number++
		if line == "" || line[0] == '#' {
			continue
		}
		user, hash := splitUser(line)
		line, fault := userLine(user, hash)
		if fault != "" {
			faults = append(faults, fmt.Sprintf("line %d: %s", number, fault))
			continue
		}
		file = append(file, line...)
	}
	return file, firstFew(faults)
}

// firstFew leaves out what nobody would read.
func firstFew(faults []string) []string { return faults[:min(len(faults), claim.Few)] }

// users gives the files of users that the annotations of an Ingress need.
func (i *owner) users() []*model.UserFile {
	var files []*model.UserFile
	for _, of := range i.Attached {
		if of.Users != nil {
			files = append(files, of.Users)
		}
	}
	return files
}

// userFiles sorts files, and takes each once.
func userFiles(files []*model.UserFile) []*model.UserFile {
	slices.SortStableFunc(files, func(a, b *model.UserFile) int { return strings.Compare(a.ID, b.ID) })
	return slices.CompactFunc(files, func(a, b *model.UserFile) bool { return a.ID == b.ID })
}
