use reqwest::{Client, Method, Request, Response};
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware, Middleware, Next, Result};
use reqwest_retry::{RetryTransientMiddleware, policies::ExponentialBackoff};
use serde_json::{Value, json};
use std::{env, time::Duration};

struct WaitAsAsked;

#[async_trait::async_trait]
impl Middleware for WaitAsAsked {
    async fn handle(&self, request: Request, extensions: &mut http::Extensions, next: Next<'_>) -> Result<Response> {
        let answer = next.run(request, extensions).await?;
        if matches!(answer.status().as_u16(), 429 | 503) {
            let seconds = answer.headers().get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
            tokio::time::sleep(Duration::from_secs(seconds.unwrap_or(1))).await;
        }
        Ok(answer)
    }
}

async fn call(client: &ClientWithMiddleware, method: Method, path: &str, body: Option<Value>) -> Result<Value> {
    let mut request = client
        .request(method, env::var("API").unwrap() + path)
        .bearer_auth(env::var("API_KEY").unwrap())
        .header("Idempotency-Key", uuid::Uuid::new_v4().to_string());
    if let Some(body) = body {
        request = request.json(&body);
    }
    // A 4xx or 5xx is no Err: its body has the error, with its message.
    Ok(request.send().await?.json().await?)
}

#[tokio::main]
async fn main() -> Result<()> {
    let retries = RetryTransientMiddleware::new_with_policy(ExponentialBackoff::builder().build_with_max_retries(4));
    let client = ClientBuilder::new(Client::new()).with(retries).with(WaitAsAsked).build();

    println!("{}", call(&client, Method::GET, "/v1/me", None).await?);
    let good = json!({ "url": "https://example.com/webhooks", "events": ["*"] });
    println!("{}", call(&client, Method::POST, "/v1/webhooks", Some(good)).await?);
    let bad = json!({ "url": "http://example.com/", "events": ["*"] });
    println!("{}", call(&client, Method::POST, "/v1/webhooks", Some(bad)).await?);
    Ok(())
}
