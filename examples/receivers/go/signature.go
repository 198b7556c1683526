package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// isSigned says whether a delivery was made with one of the secrets (whsec_…; during a rotation the old and the new one).
// rawBody has the bytes as they arrived, before any JSON parser.
func isSigned(header http.Header, rawBody []byte, secrets []string, tolerance time.Duration) bool {
	// The Standard Webhooks signature also covers the time of the attempt, so it is the one to verify where it is present.
	_, isStandard := header["Webhook-Signature"]
	if isStandard && !isRecent(header.Get("Webhook-Timestamp"), tolerance) {
		return false
	}
	for _, secret := range secrets {
		if isStandard && matchesStandard(header, rawBody, secret) || !isStandard && matchesBody(header, rawBody, secret) {
			return true
		}
	}
	return false
}

func isRecent(timestamp string, tolerance time.Duration) bool {
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	return err == nil && time.Since(time.Unix(seconds, 0)).Abs() <= tolerance
}

func matchesStandard(header http.Header, rawBody []byte, secret string) bool {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return false
	}
	head := header.Get("Webhook-Id") + "." + header.Get("Webhook-Timestamp") + "."
	expected := "v1," + base64.StdEncoding.EncodeToString(sign(key, []byte(head), rawBody))
	// During a rotation there are several signatures, separated by spaces. One that matches is enough.
	for _, given := range strings.Split(header.Get("Webhook-Signature"), " ") {
		if isEqual(expected, given) {
			return true
		}
	}
	return false
}

func matchesBody(header http.Header, rawBody []byte, secret string) bool {
	return isEqual(hex.EncodeToString(sign([]byte(secret), rawBody)), header.Get("X-Service-Signature"))
}

func sign(key []byte, parts ...[]byte) []byte {
	mac := hmac.New(sha256.New, key)
	for _, part := range parts {
		mac.Write(part)
	}
	return mac.Sum(nil)
}

// In constant time: the duration of the comparison must not reveal where it failed.
func isEqual(expected, given string) bool {
	return hmac.Equal([]byte(expected), []byte(given))
}
