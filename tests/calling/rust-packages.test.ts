import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeWith } from '@enterprise-api/testkit/toolchains';
import { describePrograms } from './describe-programs.ts';

const manifest = `[package]
name = "program"
version = "0.1.0"
edition = "2024"
[[bin]]
name = "program"
path = "main.rs"
[dependencies]
async-trait = "0.1"
http = "1"
reqwest = { version = "0.13", features = ["json"] }
reqwest-middleware = { version = "0.5", features = ["json"] }
reqwest-retry = "0.9"
serde_json = "1"
tokio = { version = "1", features = ["macros", "rt-multi-thread", "time"] }
uuid = { version = "1", features = ["v4"] }
`;
describeWith(['rust', 'downloads'], (cargo) => {
  describePrograms('Rust', ['reqwest.rs'], {
    fileName: 'main.rs',
    command: cargo,
    args: ['run', '--quiet'],
    fetchPackages: (_run, folder) => writeFile(join(folder, 'Cargo.toml'), manifest),
  });
});
