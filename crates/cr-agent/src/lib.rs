//! The agent: the options a user gives it, their validation, its program and
//! version, and the arguments and environment it is started with.

mod argv;
mod command_line;
mod options;
mod program;
mod schema;
mod session_log;
mod session_options;
mod settings;
pub mod uuid;
mod versions;

pub use argv::{AgentCommand, check, working_directory};
pub use options::{AgentOptions, Clocks};
pub use program::{Missing, Version, find_program, program_version};
pub use session_log::find_session_log;
pub use session_options::{InputMode, SessionOptions, TurnTimeoutAction};
pub use settings::{OsText, Settings, os_path};

/// The variable with the PATH of cr-spawn and its agent, where it is not that of
/// the other stages: those need `git` and `cat`, whatever a task says.
pub const AGENT_PATH: &str = "CR_AGENT_PATH";
