import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Framework } from './framework.ts';

const manifest = `[package]
name = "program"
version = "0.1.0"
edition = "2024"
[dependencies]
axum = "=0.8.9"
tokio = { version = "1", features = ["net", "rt", "macros"] }
base64 = "0.22"
hex = "0.4"
hmac = "0.12"
sha2 = "0.10"
`;

export const axum = (cargo: string): Framework => ({
  name: 'axum',
  file: 'main.rs',
  slash: { tooMany: 404, tooFew: 404 },
  complete: (snippet) => `
use axum::{Router, body::Bytes, http::{HeaderMap, StatusCode}, routing::post};
use base64::{Engine, engine::general_purpose::STANDARD};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use std::{env, time::{SystemTime, UNIX_EPOCH}};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let app = Router::new().route("/webhooks", post(receive)).route("/slash/", post(receive));
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{}", env::var("PORT").unwrap())).await.unwrap();
    axum::serve(listener, app).await.unwrap();
}

${snippet}    if is_signed(&headers, &raw_body).unwrap_or(false) { StatusCode::NO_CONTENT } else { StatusCode::UNAUTHORIZED }
}

fn is_signed(headers: &HeaderMap, raw_body: &[u8]) -> Option<bool> {
    let secret = env::var("WEBHOOK_SECRET").unwrap();
    let given = |name: &str| headers.get(name)?.to_str().ok();
    let (id, time) = (given("webhook-id")?, given("webhook-timestamp")?);
    let age = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs().abs_diff(time.parse().ok()?);
    let key = STANDARD.decode(secret.strip_prefix("whsec_")?).ok()?;
    let signed = [id.as_bytes(), b".", time.as_bytes(), b".", raw_body].concat();
    let is_standard = given("webhook-signature")?.split(' ').any(|entry| {
        let signature = entry.strip_prefix("v1,").and_then(|text| STANDARD.decode(text).ok());
        signature.is_some_and(|signature| matches(&key, &signed, &signature))
    });
    let of_body = hex::decode(given("x-service-signature")?).ok()?;
    Some(is_standard && age <= 300 && matches(secret.as_bytes(), raw_body, &of_body))
}

// In constant time.
fn matches(key: &[u8], message: &[u8], signature: &[u8]) -> bool {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(message);
    mac.verify_slice(signature).is_ok()
}
`,
  prepare: async (folder, run) => {
    await mkdir(join(folder, 'src'));
    await rename(join(folder, 'main.rs'), join(folder, 'src/main.rs'));
    await writeFile(join(folder, 'Cargo.toml'), manifest);
    await run(cargo, ['build', '--quiet']);
    return { command: join(folder, 'target/debug/program'), args: [] };
  },
});
