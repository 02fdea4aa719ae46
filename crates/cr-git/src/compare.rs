//! Compares the end of a run with its start.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use cr_repository::{GitError, Repo, Status};
use cr_stream::{ChangedFile, GitEnd, OtherRef};

use crate::agent_commits::{AgentCommits, KnownCommits};
use crate::dirty;
use crate::history::{self, Difference, Range, Refs};
use crate::stale;
use crate::start_record::{self, Start};
use crate::text::{self, Name};

/// The end line.
type End = GitEnd<'static>;

/// Most commits of the run that are listed.
const COMMITS: usize = 100;

/// Most commits of the run that are looked up among the agent's.
const ATTRIBUTED: usize = 10_000;

/// Most commits listed for another ref.
const OTHER_COMMITS: usize = 10;

/// Most other refs that are listed.
const OTHER_REFS: usize = 20;

/// Most files that are listed.
const FILES: usize = 50;

/// Where the run began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    Unknown,
    /// Before the first commit.
    Unborn,
    Commit(String),
}

/// The start of a run, as far as it is known.
#[derive(Clone, Debug)]
pub(crate) struct RunStart {
    pub(crate) base: Base,
    /// What `start` wrote; a bare commit has none of it.
    pub(crate) seen: Option<Start>,
}

impl RunStart {
    /// What `start` saw.
    pub(crate) fn seen(start: Start) -> Self {
        let base = match &start.start_sha_full {
            Some(id) if is_id(id) => Base::Commit(id.clone().into_owned()),
            None if start.repository && start.error.is_none() => Base::Unborn,
            _ => Base::Unknown,
        };
        Self {
            base,
            seen: Some(start),
        }
    }

    /// Fails if `repo` is not the repository of the start, for example because
    /// `.git` now points elsewhere.
    pub(crate) fn is_of(&self, repo: &Repo) -> Result<(), GitError> {
        let before = self.seen.as_ref().and_then(|s| s.common_dir.as_ref());
        if before.is_none_or(|dir| *dir == repo.shared.to_string_lossy()) {
            return Ok(());
        }
        Err(GitError::Other(
            "another repository than at the start".into(),
        ))
    }
}

/// Whether `text` can be the id of a commit and nothing else.
fn is_id(text: &str) -> bool {
    text.len() >= 7 && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// The inputs of a comparison.
#[derive(Debug)]
pub(crate) struct Comparison<'a> {
    pub(crate) cwd: &'a Path,
    pub(crate) began: &'a RunStart,
    pub(crate) agent_commits: &'a AgentCommits,
    pub(crate) run_id: Option<&'a str>,
    pub(crate) limit: Duration,
}

/// The content of the end line. Never fails: unknown values are null, and
/// `error` says why.
pub(crate) fn compare(comparison: &Comparison<'_>) -> End {
    let began = comparison.began;
    let mut end = End {
        start: match began.base {
            Base::Unknown => "unknown".into(),
            Base::Unborn => "unborn".into(),
            Base::Commit(_) => "commit".into(),
        },
        rewritten: Some(false),
        rewound: Some(false),
        ..End::default()
    };
    if let Base::Commit(id) = &began.base {
        end.start_sha = Some(text::short(id).into());
        end.start_sha_full = Some(id.clone().into());
    }
    end.start_branch = began.seen.as_ref().and_then(|s| s.branch.clone());
    match look(comparison, &mut end) {
        Ok(()) | Err(GitError::NoRepository) => {}
        Err(error) => record_error(&mut end, &error),
    }
    end
}

/// Keeps the first error.
fn record_error(end: &mut End, error: &GitError) {
    let text = || text::shown(error.to_string().as_bytes()).into();
    end.error.get_or_insert_with(text);
}

/// The value; an error is recorded.
fn keep<T>(end: &mut End, result: Result<T, GitError>) -> Option<T> {
    result.map_err(|error| record_error(end, &error)).ok()
}

/// The repository at the end of a run, and what to compare it with.
struct Found<'a> {
    repo: Repo,
    status: Status,
    refs: Option<(Refs, bool)>,
    began: &'a RunStart,
    agent_commits: Option<KnownCommits<'a>>,
    run_id: Option<&'a str>,
}

/// A ref that moved.
struct Moved<'a> {
    name: &'a str,
    from: Option<&'a str>,
    to: Option<&'a str>,
}

fn look(comparison: &Comparison<'_>, end: &mut End) -> Result<(), GitError> {
    let began = comparison.began;
    let repo = Repo::open(comparison.cwd, comparison.limit)?;
    end.repository = true;
    end.shallow = repo.shallow;
    end.in_progress = repo.operation_in_progress().map(Into::into);
    end.index_lock = stale::index_lock(&repo);
    began.is_of(&repo)?;
    let (status, refs) = history::state(&repo);
    let status = status?;
    let head = status.head.as_deref();
    end.end_sha = head.map(|id| text::short(id).into());
    end.end_sha_full = head.map(|id| id.to_owned().into());
    end.branch = status
        .branch
        .as_deref()
        .map(|name| text::shown(name).into());
    if let Base::Commit(id) = &began.base
        && status.head.as_ref() != Some(id)
    {
        // git has collected the start commit: all of history would look new.
        repo.commit(id)?;
    }
    let refs = keep(end, refs);
    let agent_commits = keep(end, comparison.agent_commits.in_repository(&repo));
    let found = Found {
        repo,
        status,
        refs,
        began,
        agent_commits,
        run_id: comparison.run_id,
    };
    found.commits(end);
    found.moves(end);
    found.other_refs(end);
    found.files(end);
    Ok(())
}

impl Found<'_> {
    /// The commits of HEAD that the start did not have.
    fn commits(&self, end: &mut End) {
        let tips: Vec<&str> = self.status.head.as_deref().into_iter().collect();
        let without: Vec<&str> = match &self.began.base {
            Base::Unknown => return,
            Base::Unborn => Vec::new(),
            Base::Commit(id) => vec![id],
        };
        let range = Range {
            tips: &tips,
            without: &without,
        };
        let Some((commits, more)) = keep(end, range.listed(&self.repo, COMMITS)) else {
            return;
        };
        let by = commits.iter().map(|(id, _)| self.made_by(id));
        end.commits_by = Some(by.collect());
        end.commits = Some(commits.iter().map(|c| history::shown(c).into()).collect());
        end.commits_more = more;
    }

    /// The run that made a commit; only with evidence.
    fn made_by(&self, id: &str) -> Option<Cow<'static, str>> {
        let is_own = self.agent_commits.as_ref()?.has(id);
        self.run_id
            .filter(|_| is_own)
            .map(|run| run.to_owned().into())
    }

    /// Whether the branch of the start was rewound or rewritten.
    fn moves(&self, end: &mut End) {
        let Base::Commit(start) = &self.began.base else {
            return;
        };
        // After a checkout of another branch, the branch of the start is checked.
        let branch = |name: &Cow<'_, str>| self.refs.as_ref()?.0.get(&format!("refs/heads/{name}"));
        let tip = end.start_branch.as_ref().and_then(branch).cloned();
        let Some(tip) = tip.or_else(|| self.status.head.clone()) else {
            return;
        };
        if tip == *start {
            return;
        }
        let is_ancestor = |one: &str, other: &str| self.repo.is_ancestor(one, other);
        if keep(end, is_ancestor(start, &tip)) == Some(false) {
            let is_rewound = keep(end, is_ancestor(&tip, start)) == Some(true);
            end.rewound = Some(is_rewound);
            end.rewritten = Some(!is_rewound);
        }
    }

    /// Refs other than HEAD that moved, and all commits made since the start.
    fn other_refs(&self, end: &mut End) {
        let Some(mut moved) = self.moved(end.branch.as_deref()) else {
            return;
        };
        let seen = self.began.seen.iter().flat_map(|seen| seen.refs.values());
        let mut known: Vec<&str> = seen.map(|id| &**id).collect();
        if let Base::Commit(id) = &self.began.base {
            known.push(id);
        }
        let mut tips: Vec<&str> = self.status.head.as_deref().into_iter().collect();
        let without = [&known[..], &tips].concat();
        // A stash is made of commits that nobody asked for.
        let branches = moved.iter().filter(|m| m.name != "refs/stash");
        tips.extend(branches.filter_map(|m| m.to));
        let range = Range {
            tips: &tips,
            without: &known,
        };
        end.agent_commits = keep(end, self.attributed(&range));
        end.other_refs_more = moved.len().saturating_sub(OTHER_REFS) as u64;
        moved.truncate(OTHER_REFS);
        let listed = moved.iter().map(|moved| self.other_ref(moved, &without));
        end.other_refs = keep(end, listed.collect());
    }

    /// The branches, tags and stashes that moved, other than `current`; `None` if
    /// their positions at the start are unknown.
    fn moved(&self, current: Option<&str>) -> Option<Vec<Moved<'_>>> {
        let seen = self.began.seen.as_ref()?;
        let (now, complete) = self.refs.as_ref()?;
        let current = current.map(|name| format!("refs/heads/{name}"));
        let before = seen.refs.keys().map(|name| &**name);
        let added = now.keys().map(String::as_str);
        let added = added.filter(|name| !seen.refs.contains_key(*name));
        let all = before.chain(added).map(|name| Moved {
            name,
            from: seen.refs.get(name).map(|id| &**id),
            to: now.get(name).map(String::as_str),
        });
        // The list of refs at the start was cut: a ref may only seem new or gone.
        let complete = *complete && seen.refs_complete;
        let sure = |m: &Moved<'_>| complete || (m.from.is_some() && m.to.is_some());
        let others = all.filter(|m| {
            let is_local =
                !m.name.starts_with("refs/remotes/") && current.as_deref() != Some(m.name);
            is_local && m.from != m.to && sure(m)
        });
        Some(others.collect())
    }

    fn other_ref(
        &self,
        moved: &Moved<'_>,
        without: &[&str],
    ) -> Result<OtherRef<'static>, GitError> {
        let tips: Vec<&str> = moved.to.into_iter().collect();
        let tips = &tips;
        let (commits, commits_more) = Range { tips, without }.listed(&self.repo, OTHER_COMMITS)?;
        Ok(OtherRef {
            name: text::shown(moved.name.as_bytes()).into(),
            from: moved.from.map(|id| text::short(id).into()),
            to: moved.to.map(|id| text::short(id).into()),
            commits: commits.iter().map(|c| history::shown(c).into()).collect(),
            commits_more,
        })
    }

    /// The commits of `range` that are the agent's.
    fn attributed(&self, range: &Range<'_>) -> Result<Vec<Cow<'static, str>>, GitError> {
        let made = range.commits(&self.repo, ATTRIBUTED)?;
        let ids = made.iter().map(|(id, _)| id);
        let own = ids.filter(|id| self.agent_commits.as_ref().is_some_and(|c| c.has(id)));
        Ok(own.take(COMMITS).map(|id| text::short(id).into()).collect())
    }

    /// Changed files, committed ones first, and files that were dirty before.
    fn files(&self, end: &mut End) {
        let mut files = self.committed(end);
        let prints = self.began.seen.as_ref().map(start_record::fingerprints);
        let now = keep(end, dirty::fingerprints(&self.repo, &self.status));
        let entries = &self.status.entries;
        end.uncommitted_changes = Some(entries.len() as u64);
        let mut before = 0;
        let mut at: HashMap<Vec<u8>, usize> = HashMap::new();
        for (i, (path, _)) in files.iter().enumerate() {
            at.insert(path.clone(), i);
        }
        for (i, entry) in entries.iter().enumerate() {
            let print = now.as_ref().and_then(|now| now.entries.get(i));
            let known = prints.as_ref().and_then(|p| p.get(&dirty::id(&entry.path)));
            if known.is_some() && known == print {
                before += 1;
            } else if let Some(&i) = at.get(&entry.path) {
                files[i].1.uncommitted = true;
            } else {
                let name = Name::of(&entry.path);
                let file = ChangedFile {
                    path: name.path.into(),
                    path_b64: name.path_b64.map(Into::into),
                    status: entry.letters.clone().into(),
                    uncommitted: true,
                    ..ChangedFile::default()
                };
                files.push((entry.path.clone(), file));
            }
        }
        end.dirty_before = prints.map(|_| before);
        end.files_more = files.len().saturating_sub(FILES) as u64;
        files.truncate(FILES);
        end.files = files.into_iter().map(|(_, file)| file).collect();
    }

    /// What differs between the commits, and in how many lines.
    fn committed(&self, end: &mut End) -> Vec<(Vec<u8>, ChangedFile<'static>)> {
        let empty = self.repo.empty_tree();
        let from = match &self.began.base {
            Base::Unknown => return Vec::new(),
            Base::Unborn => empty,
            Base::Commit(id) => id,
        };
        let to = self.status.head.as_deref().unwrap_or(empty);
        let difference = keep(end, Difference::between(&self.repo, from, to));
        let Some(difference) = difference else {
            return Vec::new();
        };
        end.changed_files = Some(difference.files.len() as u64);
        end.insertions = Some(difference.insertions);
        end.deletions = Some(difference.deletions);
        difference.files
    }
}
