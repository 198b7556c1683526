package main

import (
	"crypto/rand"
	"fmt"
	"io"
	"os"

	"github.com/hashicorp/go-retryablehttp"
)

func main() {
	client := retryablehttp.NewClient()
	client.RetryMax = 4
	client.Logger = nil
	client.ErrorHandler = retryablehttp.PassthroughErrorHandler

	call := func(method, path string, body []byte) {
		request, err := retryablehttp.NewRequest(method, os.Getenv("API")+path, body)
		if err != nil {
			panic(err)
		}
		request.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))
		request.Header.Set("Idempotency-Key", rand.Text())
		if body != nil {
			request.Header.Set("Content-Type", "application/json")
		}
		answer, err := client.Do(request)
		if err != nil {
			panic(err)
		}
		defer answer.Body.Close()
		// The body of a 4xx or 5xx has the error, with its message.
		text, _ := io.ReadAll(answer.Body)
		fmt.Println(answer.StatusCode, string(text))
	}

	call("GET", "/v1/me", nil)
	call("POST", "/v1/webhooks", []byte(`{"url":"https://example.com/webhooks","events":["*"]}`))
	call("POST", "/v1/webhooks", []byte(`{"url":"http://example.com/","events":["*"]}`))
}
