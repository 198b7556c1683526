// A webhook receiver: verify, record, answer, then work. README.md says how to run it.
package main

import (
	"cmp"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

// Bodies have at most 256 KiB of data, and a little around it.
const maxBody = 1 << 20

func main() {
	secrets := strings.Split(os.Getenv("WEBHOOK_SECRET"), ",")
	if secrets[0] == "" {
		log.Fatal("Set WEBHOOK_SECRET to the secret that POST /v1/webhooks returned.")
	}
	events := recordedEvents(cmp.Or(os.Getenv("EVENTS_FOLDER"), "events"))
	if err := os.MkdirAll(string(events), 0o700); err != nil {
		log.Fatal(err)
	}
	// One slot: it says that there is work, not how much.
	isThereWork := make(chan bool, 1)
	isThereWork <- true // What an earlier run recorded, and did not finish.
	go work(events, isThereWork)
	http.HandleFunc("POST /webhooks", func(response http.ResponseWriter, request *http.Request) {
		response.WriteHeader(receive(request, events, secrets))
		select {
		case isThereWork <- true:
		default:
		}
	})
	log.Fatal(serve())
}

func receive(request *http.Request, events recordedEvents, secrets []string) int {
	// The signature covers the bytes as they arrived: verify before parsing.
	rawBody, err := io.ReadAll(io.LimitReader(request.Body, maxBody))
	if err != nil || !isSigned(request.Header, rawBody, secrets, 5*time.Minute) {
		return http.StatusUnauthorized
	}
	if err := events.record(rawBody); err != nil {
		log.Print(err)
		return http.StatusInternalServerError // The event is sent again later.
	}
	return http.StatusNoContent
}

func work(events recordedEvents, isThereWork <-chan bool) {
	for range isThereWork {
		recorded, err := events.unhandled()
		if err != nil {
			log.Print(err)
		}
		for _, event := range recorded {
			handle(event)
			if err := events.markHandled(event.ID); err != nil {
				log.Print(err)
			}
		}
	}
}

func handle(arrived event) {
	fmt.Println("handled", arrived.ID, arrived.Type, string(arrived.Data))
}

func serve() error {
	listener, err := net.Listen("tcp", net.JoinHostPort(cmp.Or(os.Getenv("HOST"), "127.0.0.1"), cmp.Or(os.Getenv("PORT"), "8080")))
	if err != nil {
		return err
	}
	fmt.Println("listening on port", listener.Addr().(*net.TCPAddr).Port)
	// The sender keeps an idle connection for 30 seconds. Close it later than that, so that no request meets the end.
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: 65 * time.Second}
	if certificate := os.Getenv("TLS_CERT_FILE"); certificate != "" {
		return server.ServeTLS(listener, certificate, os.Getenv("TLS_KEY_FILE"))
	}
	return server.Serve(listener)
}
