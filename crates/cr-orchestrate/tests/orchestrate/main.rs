//! `cr-orchestrate` as a process, with a script as the agent.

mod bins;
mod case;
mod crash;
mod formats;
mod gates;
mod retention;
mod rules;
mod said;
mod steering;
