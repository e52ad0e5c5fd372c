//! The rounds: every subject is measured in each of them, in turn, so that all see the same machine.

use anyhow::Result;
use sandgate_core::Backend;

use super::cells::Created;
use super::engines::{self, BenchEngine};
use super::peers::{Bubblewrap, Ipykernel, Wait};
use super::samples::Samples;
use super::venv::PeerVenv;
use super::{cells, memory};
use crate::ground::Ground;
use crate::say::say;

/// The engine is this much more often measured than its peers, which take a second each.
const OURS_PER_ROUND: usize = 4;
const WARM_CELLS: usize = 3;

#[derive(Clone, Copy, Debug)]
enum Subject {
    IpykernelUsual,
    IpykernelLeast,
    Bubblewrap,
    OnDemand,
    NothingReady,
    Pool,
}

const SUBJECTS: [Subject; 6] = [
    Subject::IpykernelUsual,
    Subject::Pool,
    Subject::Bubblewrap,
    Subject::OnDemand,
    Subject::IpykernelLeast,
    Subject::NothingReady,
];

struct Bench<'a> {
    ipykernel: Ipykernel,
    bubblewrap: Bubblewrap<'a>,
    on_demand: BenchEngine,
    nothing_ready: BenchEngine,
    pool: BenchEngine,
}

pub(super) async fn measure(
    ground: &Ground,
    venv: &PeerVenv,
    rounds: usize,
    samples: &mut Samples,
) -> Result<()> {
    let mut bench = Bench {
        ipykernel: Ipykernel::start(venv)?,
        bubblewrap: Bubblewrap::find(venv)?,
        on_demand: engines::on_demand(ground).await?,
        nothing_ready: engines::nothing_ready(ground).await?,
        pool: engines::pooled(ground).await?,
    };
    // Once for the caches, not counted.
    bench.round(0, &mut Samples::default()).await?;
    for round in 0..rounds {
        bench.round(round, samples).await?;
        if (round + 1) % 10 == 0 || round + 1 == rounds {
            say(&format!("round {} of {rounds}", round + 1));
        }
    }
    for engine in [bench.on_demand, bench.nothing_ready, bench.pool] {
        engine.end().await;
    }
    Ok(())
}

impl Bench<'_> {
    async fn round(&mut self, round: usize, samples: &mut Samples) -> Result<()> {
        // Another one begins each time, so that none always follows the same other.
        for at in 0..SUBJECTS.len() {
            self.subject(SUBJECTS[(round + at) % SUBJECTS.len()], samples).await?;
        }
        Ok(())
    }

    async fn subject(&mut self, subject: Subject, samples: &mut Samples) -> Result<()> {
        match subject {
            Subject::IpykernelUsual => self.ipykernel(Wait::Usual, "ipykernel", samples),
            Subject::IpykernelLeast => self.ipykernel(Wait::Least, "ipykernel_least", samples),
            Subject::Bubblewrap => {
                let took = tokio::task::block_in_place(|| self.bubblewrap.run())?;
                samples.add("bwrap_first_ms", took);
                Ok(())
            }
            Subject::OnDemand => ours(&self.on_demand, "on_demand", samples).await,
            Subject::NothingReady => ours(&self.nothing_ready, "nothing_ready", samples).await,
            Subject::Pool => ours(&self.pool, "pool", samples).await,
        }
    }

    fn ipykernel(&mut self, wait: Wait, name: &str, samples: &mut Samples) -> Result<()> {
        let measured = tokio::task::block_in_place(|| self.ipykernel.measure(wait, WARM_CELLS))?;
        samples.add(&format!("{name}_first_ms"), measured.first);
        samples.add_all(&format!("{name}_warm_ms"), &measured.again);
        samples.add(&format!("{name}_private_mib"), memory::mib(measured.private));
        Ok(())
    }
}

async fn ours(bench: &BenchEngine, name: &str, samples: &mut Samples) -> Result<()> {
    let engine = bench.engine.as_ref();
    for _ in 0..OURS_PER_ROUND {
        bench.settled().await;
        let Created { sandbox, create_ms, first_ms } = cells::create(engine).await?;
        samples.add(&format!("{name}_create_ms"), create_ms);
        samples.add(&format!("{name}_first_ms"), first_ms);
        for _ in 0..WARM_CELLS {
            samples.add("sandbox_warm_ms", cells::warm_cell(sandbox.as_ref()).await?);
        }
        engine.delete(sandbox.id()).await?;
    }
    Ok(())
}
