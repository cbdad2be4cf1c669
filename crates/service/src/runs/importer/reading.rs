//! Reads a file on a separate thread, so that the next results are read while the last ones are
//! collected.
//!
//! ```text
//!   file ─► scandeck_import ─► batches of results ─► collect
//!           separate thread       one waits       thread of the caller
//! ```

use std::io::Read;
use std::ops::ControlFlow;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use anyhow::{Context, anyhow};

use scandeck_import::{
    ImportEntry, ImportError, ImportFormat, ImportLimits, ImportSink, ImportSummary, read,
};

/// Results of a batch. Three batches are in memory, and a result may have almost a megabyte.
const BATCH: usize = 16;

/// A step of reading a file, or the files of an archive.
pub enum ReadStep {
    /// A recognised file begins.
    File(&'static ImportFormat),
    /// Its next results.
    Results(Vec<ImportEntry>),
}

/// Reads a file to its end, or until `collect` fails.
///
/// # Errors
/// When no file is recognised, a limit is exceeded or no thread starts, and those of `collect`.
pub fn read_steps(
    input: impl Read + Send,
    format: Option<&str>,
    mut collect: impl FnMut(ReadStep) -> anyhow::Result<()>,
) -> anyhow::Result<Vec<ImportSummary>> {
    let (sender, steps) = sync_channel(1);
    thread::scope(|scope| -> anyhow::Result<Vec<ImportSummary>> {
        let read_file = move || {
            let mut sink = StepSender {
                sender,
                results: Vec::new(),
            };
            let summaries = read(input, format, &ImportLimits::default(), &mut sink)?;
            // Without a receiver, the error of `collect` is returned.
            let _ = sink.send_results();
            Ok::<_, ImportError>(summaries)
        };
        let reading = thread::Builder::new()
            .name("import".to_owned())
            .spawn_scoped(scope, read_file)
            .context("no thread started to read the file")?;
        // An error drops the receiver, which ends the thread.
        for step in steps {
            collect(step)?;
        }
        let summaries = reading
            .join()
            .map_err(|_| anyhow!("reading the file failed"))?;
        Ok(summaries?)
    })
}

/// Sends the steps; nobody receives them after an error.
struct StepSender {
    sender: SyncSender<ReadStep>,
    results: Vec<ImportEntry>,
}

impl StepSender {
    fn send_results(&mut self) -> ControlFlow<()> {
        let results = std::mem::take(&mut self.results);
        self.send(ReadStep::Results(results))
    }

    fn send(&self, step: ReadStep) -> ControlFlow<()> {
        match self.sender.send(step) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }
}

impl ImportSink for StepSender {
    fn begin(&mut self, format: &'static ImportFormat, _member: Option<&str>) -> ControlFlow<()> {
        self.send_results()?;
        self.send(ReadStep::File(format))
    }

    fn entry(&mut self, entry: ImportEntry) -> ControlFlow<()> {
        self.results.push(entry);
        match self.results.len() < BATCH {
            true => ControlFlow::Continue(()),
            false => self.send_results(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;

    /// Lines of nuclei, as many as are wanted.
    fn lines(count: usize) -> String {
        let line = |number: usize| {
            format!(
                "{{\"template-id\":\"t{number}\",\"info\":{{\"name\":\"n\"}},\"host\":\"a.test\"}}\n"
            )
        };
        (0..count).map(line).collect()
    }

    #[test]
    fn results_arrive_in_their_order_after_their_file() {
        let file = lines(3 * BATCH + 1);
        let mut steps = Vec::new();
        let collect = |step| {
            match step {
                ReadStep::File(format) => steps.push(format.name.to_owned()),
                ReadStep::Results(results) => {
                    steps.extend(results.into_iter().map(|result| result.vuln_id));
                }
            }
            Ok(())
        };
        let summaries = read_steps(file.as_bytes(), None, collect).unwrap();
        assert_eq!(
            (summaries.len(), summaries[0].entries),
            (1, steps.len() as u64 - 1)
        );
        let results = (0..=3 * BATCH).map(|number| format!("nuclei:t{number}"));
        let expected: Vec<String> = ["nuclei".to_owned()].into_iter().chain(results).collect();
        assert_eq!(steps, expected);
    }

    #[test]
    fn failed_collection_ends_the_reading() {
        let file = lines(100 * BATCH);
        let mut results = 0;
        let collect = |step| {
            if let ReadStep::Results(batch) = step {
                results += batch.len();
            }
            match results {
                0 => Ok(()),
                _ => bail!("full"),
            }
        };
        let error = read_steps(file.as_bytes(), None, collect).unwrap_err();
        assert_eq!((error.to_string().as_str(), results), ("full", BATCH));
        let unknown = read_steps(&b"hello"[..], None, |_| Ok(())).unwrap_err();
        assert!(unknown.to_string().contains("not recognised"), "{unknown}");
    }
}
