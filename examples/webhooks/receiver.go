// A webhook receiver in Go, without packages.
// WEBHOOK_SECRET=whsec_… PORT=3000 go run receiver.go
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"
)

const toleranceSeconds = 300
const bodyBytesMax = 1024 * 1024

// verifyWebhook reports whether rawBody (the bytes as they came, before any parsing) was signed
// with secret within five minutes of now.
func verifyWebhook(secret string, header http.Header, rawBody []byte, now time.Time) bool {
	timestamp := header.Get("X-Service-Timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return false
	}
	if age := now.Unix() - seconds; age > toleranceSeconds || age < -toleranceSeconds {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(rawBody)
	expected := []byte("sha256=" + hex.EncodeToString(mac.Sum(nil)))
	// After a rotation the secret before it signs too, for 24 hours.
	return hmac.Equal([]byte(header.Get("X-Service-Signature")), expected) ||
		hmac.Equal([]byte(header.Get("X-Service-Signature-Previous")), expected)
}

func main() {
	// A delivery may arrive more than once: keep this map in your database.
	var seen sync.Map
	receive := func(response http.ResponseWriter, request *http.Request) {
		rawBody, err := io.ReadAll(http.MaxBytesReader(response, request.Body, bodyBytesMax))
		secret := os.Getenv("WEBHOOK_SECRET")
		if err != nil || !verifyWebhook(secret, request.Header, rawBody, time.Now()) {
			response.WriteHeader(http.StatusUnauthorized)
			return
		}
		var event struct {
			TaskID string `json:"task_id"`
			Status string `json:"status"`
		}
		if err := json.Unmarshal(rawBody, &event); err != nil {
			response.WriteHeader(http.StatusBadRequest)
			return
		}
		if _, known := seen.LoadOrStore(event.TaskID, true); !known {
			fmt.Println(event.TaskID, event.Status)
		}
		// Answer within 10 seconds; do the real work afterwards.
		response.WriteHeader(http.StatusNoContent)
	}
	port := os.Getenv("PORT")
	if port == "" {
		port = "3000"
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		panic(err)
	}
	fmt.Println("listening on", listener.Addr().(*net.TCPAddr).Port)
	panic(http.Serve(listener, http.HandlerFunc(receive)))
}
