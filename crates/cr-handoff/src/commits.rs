//! Commits that results reported and that git found.

use cr_progress::Commit;
use cr_stream::GitEnd;

/// Commits that are kept.
const MOST: usize = 200;
/// Bytes of a subject, and of an id.
const SUBJECT: usize = 400;
const SHA: usize = 64;

/// The commits so far, the newest last.
#[derive(Debug, Default)]
pub(crate) struct Commits {
    pub(crate) commits: Vec<Commit>,
    pub(crate) dropped: u64,
}

impl Commits {
    /// A result reported a commit.
    pub(crate) fn add(&mut self, sha: &str, subject: &str) {
        if self.commits.iter().any(|known| known.is(sha)) {
            return;
        }
        self.commits.push(Commit {
            sha: crate::quote::cut(sha, SHA),
            subject: crate::quote::cut(subject, SUBJECT),
        });
        if self.commits.len() > MOST {
            self.commits.remove(0);
            self.dropped += 1;
        }
    }

    /// Git found commits. One that was rewritten has another id and the same
    /// subject.
    pub(crate) fn git(&mut self, git: &GitEnd<'_>, subject_of: impl Fn(&str) -> String) {
        let all = git.commits.iter().flatten().rev();
        let found: Vec<_> = all.filter_map(|commit| commit.split_once(' ')).collect();
        let own = git.agent_commits.as_ref();
        for (sha, subject) in &found {
            let is_own = own.is_none_or(|own| own.iter().any(|id| id == sha));
            if !is_own {
                continue;
            }
            let subject = subject_of(subject);
            let is_found = |known: &Commit| found.iter().any(|(sha, _)| known.is(sha));
            let is_old = |known: &&mut Commit| known.subject == subject && !is_found(known);
            let is_known = self.commits.iter().any(|known| known.is(sha));
            match self.commits.iter_mut().find(is_old).filter(|_| !is_known) {
                Some(rewritten) => rewritten.sha = crate::quote::cut(sha, SHA),
                None => self.add(sha, &subject),
            }
        }
        self.dropped = self.dropped.saturating_add(git.commits_more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_adds_quiet_commits_and_knows_the_ids_of_rewritten_ones() {
        let mut commits = Commits::default();
        for (sha, subject) in [("aaaaaaa", "one"), ("bbbbbbb", "two"), ("aaaaaaa", "one")] {
            commits.add(sha, subject);
        }
        let found = [
            "ddddddd three",
            "eeeeeee two",
            "aaaaaaa1 one",
            "fffffff foreign",
        ];
        let own = ["ddddddd", "eeeeeee", "aaaaaaa1"];
        let git = GitEnd {
            commits: Some(found.map(Into::into).to_vec()),
            agent_commits: Some(own.map(Into::into).to_vec()),
            ..GitEnd::default()
        };
        commits.git(&git, str::to_owned);
        let shown = commits
            .commits
            .iter()
            .map(|it| format!("{} {}", it.sha, it.subject));
        let shown: Vec<_> = shown.collect();
        assert_eq!(shown, ["aaaaaaa one", "eeeeeee two", "ddddddd three"]);
    }
}
