//! Cost of decoding a response with 100,000 findings, off the UI thread. The goal is 100 MB/s.
//! `benches/core.rs` measures the update with the decoded data.
//!
//! `cargo bench --bench data`

#![allow(clippy::unwrap_used)]

#[allow(dead_code)]
#[path = "../tests/view/fixtures.rs"]
mod fixtures;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use scandeck::contract::envelope::decode;
use scandeck::contract::{DataEnvelope, Finding};

fn decoding(c: &mut Criterion) {
    let few = fixtures::findings();
    let all: Vec<Finding> = (1..=100_000)
        .map(|id| Finding {
            id: id.into(),
            ..few[id as usize % few.len()].clone()
        })
        .collect();
    let response = serde_json::to_vec(&DataEnvelope { data: all }).unwrap();
    let mut group = c.benchmark_group("decode");
    group
        .sample_size(10)
        .throughput(Throughput::Bytes(response.len() as u64));
    group.bench_function("a response with 100,000 findings", |b| {
        b.iter(|| decode::<Vec<Finding>>(&response).unwrap().len());
    });
    group.finish();
}

criterion_group!(benches, decoding);
criterion_main!(benches);
