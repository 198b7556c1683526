package main

import (
	"crypto/rand"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/go-resty/resty/v2"
)

func main() {
	client := resty.New().
		SetBaseURL(os.Getenv("API")).
		SetAuthToken(os.Getenv("API_KEY")).
		SetRetryCount(4).
		// Else a longer wait is cut off.
		SetRetryMaxWaitTime(2 * time.Minute).
		AddRetryCondition(func(answer *resty.Response, _ error) bool {
			return answer.StatusCode() == 429 || answer.StatusCode() == 503
		}).
		SetRetryAfter(func(_ *resty.Client, answer *resty.Response) (time.Duration, error) {
			seconds, _ := strconv.Atoi(answer.Header().Get("Retry-After"))
			return time.Duration(max(seconds, 1)) * time.Second, nil
		})

	var me struct{ Organization struct{ Name string } }
	if _, err := client.R().SetResult(&me).Get("/v1/me"); err != nil {
		panic(err)
	}
	fmt.Println(me.Organization.Name)

	register := func(url string) *resty.Response {
		body := map[string]any{"url": url, "events": []string{"*"}}
		answer, err := client.R().SetHeader("Idempotency-Key", rand.Text()).SetBody(body).Post("/v1/webhooks")
		if err != nil {
			panic(err)
		}
		return answer
	}
	fmt.Println(register("https://example.com/webhooks").String())

	// The body has the error, with its message.
	if answer := register("http://example.com/"); answer.IsError() {
		fmt.Println(answer.String())
	}
}
