//! The facts of session logs, by table, by fixture and against a strict reader.

mod facts;
mod files;
mod fuzz;
mod hostile;
mod increments;
mod reference;
mod support;
