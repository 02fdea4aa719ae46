//! A git repository: calls of git that run no code of the repository, its
//! directories and commits, the status of its work tree, and its lock.

mod git;
mod lock;
mod repo;
mod settings;
mod status;

pub use git::{Answer, Git, GitError, both};
pub use lock::take as take_lock;
pub use repo::Repo;
pub use status::{Entry, Status, Untracked};
