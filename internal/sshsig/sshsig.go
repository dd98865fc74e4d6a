// Package sshsig verifies SSH key signatures in the format of "ssh-keygen -Y sign",
// which OpenSSH describes in PROTOCOL.sshsig.
package sshsig

import (
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/pem"
	"errors"
	"fmt"
	"hash"
	"strings"

	"golang.org/x/crypto/ssh"
)

// MaxLength is the maximum length of an armored signature, in characters. A signature by an
// 8,192-bit RSA key has about 3,000.
const MaxLength = 3500

const (
	armorType = "SSH SIGNATURE"
	version   = 1
	// minRSABits is the minimum size of an RSA key, in bits.
	minRSABits = 2048
)

var magic = [6]byte{'S', 'S', 'H', 'S', 'I', 'G'}

// envelope is the encoded form of a signature.
type envelope struct {
	Magic                                         [6]byte
	Version                                       uint32
	PublicKey, Namespace, Reserved, HashAlgorithm string
	Signature                                     string
}

// signed is the data that the key signs.
type signed struct {
	Magic                              [6]byte
	Namespace, Reserved, HashAlgorithm string
	Hash                               []byte
}

// Verify returns the key that signed a message in a namespace. Error messages are meant to follow
// the words "the signature".
func Verify(armored, namespace, message string) (ssh.PublicKey, error) {
	if len(armored) > MaxLength {
		return nil, errors.New("is too long")
	}
	block, rest := pem.Decode([]byte(strings.TrimSpace(armored)))
	if block == nil || block.Type != armorType || len(block.Headers) > 0 || len(rest) > 0 {
		return nil, fmt.Errorf("must be the output of ssh-keygen -Y sign -n %s", namespace)
	}
	var e envelope
	if err := ssh.Unmarshal(block.Bytes, &e); err != nil || e.Magic != magic || e.Version != version {
		return nil, errors.New("is not well formed")
	}
	if e.Namespace != namespace {
		return nil, fmt.Errorf("is for a namespace other than %q", namespace)
	}
	key, err := ssh.ParsePublicKey([]byte(e.PublicKey))
	if err != nil {
		return nil, errors.New("has a public key that cannot be read")
	}
	var signature ssh.Signature
	if err := ssh.Unmarshal([]byte(e.Signature), &signature); err != nil {
		return nil, errors.New("is not well formed")
	}
	if err := accepts(key, signature.Format); err != nil {
		return nil, err
	}
	data, err := e.signed(message)
	if err != nil {
		return nil, err
	}
	if err := key.Verify(data, &signature); err != nil {
		return nil, fmt.Errorf("is not valid for %q", message)
	}
	return key, nil
}

// accepts returns an error unless the key and the signature format are strong enough.
func accepts(key ssh.PublicKey, format string) error {
	switch key.Type() {
	case ssh.KeyAlgoED25519, ssh.KeyAlgoSKED25519, ssh.KeyAlgoSKECDSA256,
		ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521:
		if format == key.Type() {
			return nil
		}
	case ssh.KeyAlgoRSA:
		with, ok := key.(ssh.CryptoPublicKey)
		if !ok {
			break
		}
		public, ok := with.CryptoPublicKey().(*rsa.PublicKey)
		if !ok || public.N.BitLen() < minRSABits {
			return fmt.Errorf("was made by an RSA key below %d bits; use another key", minRSABits)
		}
		if format == ssh.KeyAlgoRSASHA256 || format == ssh.KeyAlgoRSASHA512 {
			return nil
		}
	default:
		return fmt.Errorf("was made by a type of key that is not accepted (%q)", key.Type())
	}
	return fmt.Errorf("is of a type that is not accepted (%q)", format)
}

// hashes maps the names of hash algorithms to their functions.
var hashes = map[string]func() hash.Hash{"sha256": sha256.New, "sha512": sha512.New}

// signed returns the data that the key signs for a message.
func (e *envelope) signed(message string) ([]byte, error) {
	start, ok := hashes[e.HashAlgorithm]
	if !ok {
		return nil, fmt.Errorf("has an unknown hash algorithm (%q)", e.HashAlgorithm)
	}
	digest := start()
	digest.Write([]byte(message))
	return ssh.Marshal(signed{e.Magic, e.Namespace, e.Reserved, e.HashAlgorithm, digest.Sum(nil)}), nil
}
