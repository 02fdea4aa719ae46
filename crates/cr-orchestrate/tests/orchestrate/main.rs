//! `cr-orchestrate` as a process, with a script as the agent.

mod budget;
mod case;
mod crash;
mod dry_run;
mod formats;
mod gates;
mod isolation;
mod milestone;
mod models;
mod output;
mod proof;
mod retention;
mod rules;
mod said;
mod sandbox;
mod steering;
