//! Prints the tokens of each model in the logs below directories, each message
//! once: what `scripts/bench --only import` compares.

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::env;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::PathBuf;

use cr_session_log::{Fact, FileToScan, Report, Tokens, find_logs, scan_files};

fn main() -> anyhow::Result<()> {
    let dirs: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    let files: Vec<FileToScan> = find_logs(&dirs)?.into_iter().map(Into::into).collect();
    let mut models: Vec<String> = Vec::new();
    let mut messages: HashMap<u64, (usize, Tokens)> = HashMap::new();
    let mut failed = Vec::new();
    let Ok(()) = scan_files(&files, 2, |index, report| {
        match report {
            Report::Facts(batch) => {
                for fact in batch.facts() {
                    let Fact::Message(message) = fact else {
                        continue;
                    };
                    let known = models.iter().position(|model| model == message.model);
                    let model = known.unwrap_or_else(|| {
                        models.push(message.model.to_owned());
                        models.len() - 1
                    });
                    let mut key = DefaultHasher::new();
                    (message.message_id, message.request_id).hash(&mut key);
                    let sum = messages
                        .entry(key.finish())
                        .or_insert((model, message.usage));
                    sum.1 = sum.1.max(message.usage);
                }
            }
            Report::Scanned(_) => {}
            Report::Failed(err) => {
                failed.push(format!("{}: {err:#}", files[index].log.path.display()));
            }
        }
        Ok::<(), Infallible>(())
    });
    let mut sums: BTreeMap<&str, [u64; 4]> = BTreeMap::new();
    for (model, usage) in messages.values() {
        let sum = sums.entry(models[*model].as_str()).or_default();
        let counts = [
            usage.input,
            usage.output,
            usage.cache_read,
            usage.cache_creation,
        ];
        for (sum, count) in sum.iter_mut().zip(counts) {
            *sum += count;
        }
    }
    let mut out = io::stdout().lock();
    for (model, [input, output, read, creation]) in sums {
        writeln!(out, "{model}\t{input}\t{output}\t{read}\t{creation}")?;
    }
    for failure in failed {
        writeln!(io::stderr(), "{failure}")?;
    }
    Ok(())
}
