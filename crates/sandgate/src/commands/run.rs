//! `sandgate run`: one piece of code in a sandbox of its own.

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use sandgate_core::{Ending, Outcome};
use sandgate_engine::runtime::languages::Language;
use serde::Serialize;

use crate::cli::RunArgs;
use crate::code;
use crate::keep::{Keeper, Kept};
use crate::leaving::left;
use crate::printer::Printer;
use crate::session::{Plan, Session, runtime};
use crate::show::{Show, Shown};
use crate::source_file;

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) fn run(args: RunArgs) -> Result<ExitCode> {
    let mut plan = Plan::new(&args.sandbox, DEFAULT_TIMEOUT)?;
    let mut code = code::read(args.code, args.source.as_deref(), plan.limits.code_bytes)?;
    if let Some(source) = args.source.as_deref()
        && plan.language.is_none()
    {
        let language = source_file::language(source);
        if language == Some(Language::Java) {
            code = source_file::java_program(code);
        }
        plan.language = language.map(|language| language.name().to_owned());
    }
    let mut keeper = Keeper::new(args.sandbox.out.clone(), args.sandbox.out, plan.limits.disk_bytes)?;
    runtime()?.block_on(async {
        let session = Session::open(plan).await?;
        let ran = if args.json {
            as_json(&session, code, &mut keeper).await
        } else {
            as_text(&session, code, &mut keeper).await
        };
        session.close().await;
        ran
    })
}

async fn as_text(session: &Session, code: String, keeper: &mut Keeper) -> Result<ExitCode> {
    let mut printer = Printer::standard();
    let (execution, _watch) = session.execute(code).await?;
    let files = session.files();
    let shown = Show { printer: &mut printer, keeper, files: &*files }.all(execution).await?;
    if let Some(missed) = keeper.missed() {
        printer.say(&missed);
    }
    Ok(match shown {
        Shown::Ended(ending) => ExitCode::from(ending.exit_code()),
        Shown::Left(code) => ExitCode::from(code),
        Shown::NobodyReads => ExitCode::SUCCESS,
    })
}

/// As the execute door answers, with what was saved where.
#[derive(Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    outcome: &'a Outcome,
    saved: Vec<String>,
    /// Sentences on files that were to be saved and are not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_saved: Vec<String>,
}

async fn as_json(session: &Session, code: String, keeper: &mut Keeper) -> Result<ExitCode> {
    let (execution, _watch) = session.execute(code).await?;
    let outcome = Outcome::collect(execution).await?;
    for result in &outcome.results {
        keeper.picture(&result.data)?;
    }
    let kept = keeper.files(&*session.files(), &outcome.files).await?;
    let not_saved = kept.into_iter().filter_map(|kept| match kept {
        Kept::Saved(_) => None,
        Kept::Not(why) => Some(why),
    });
    let not_saved = not_saved.collect();
    let saved = keeper.saved.iter().map(|path| path.display().to_string()).collect();
    let report = serde_json::to_string(&Report { outcome: &outcome, saved, not_saved })?;
    match writeln!(std::io::stdout().lock(), "{report}") {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => {
            let has_left = outcome.error.as_ref().filter(|_| outcome.ending == Ending::Raised).and_then(left);
            Ok(ExitCode::from(has_left.map_or_else(|| outcome.ending.exit_code(), |left| left.code)))
        }
    }
}
