//! The order of tasks: dependencies, then waves, then as they were written.

use std::collections::{HashMap, HashSet};

use crate::task::Task;

/// Puts `tasks` in the order in which they start. Adds the mistakes in
/// it to `errors`.
pub(crate) fn ordered(tasks: Vec<Task>, plan: &str, errors: &mut Vec<String>) -> Vec<Task> {
    let mut waves = HashMap::new();
    for task in &tasks {
        if !task.id.is_empty() && waves.insert(task.id.clone(), task.wave).is_some() {
            errors.push(format!("{plan}: `{}`: two tasks have this id", task.id));
        }
    }
    for task in &tasks {
        for other in &task.depends_on {
            let problem = match waves.get(other) {
                None => "which does not exist",
                Some(_) if *other == task.id => "itself",
                Some(&wave) if wave > task.wave => "which is in a later wave",
                Some(_) => continue,
            };
            let other = cr_io::sanitized(other);
            let id = &task.id;
            errors.push(format!("{plan}: `{id}`: depends on `{other}`, {problem}"));
        }
    }
    sort(tasks, &waves, plan, errors)
}

fn sort(
    tasks: Vec<Task>,
    known: &HashMap<String, u64>,
    plan: &str,
    errors: &mut Vec<String>,
) -> Vec<Task> {
    let mut left: Vec<Task> = tasks;
    // Stable, so that the order of the file decides within a wave.
    left.sort_by_key(|task| task.wave);
    let mut done = HashSet::new();
    let mut sorted = Vec::new();
    while !left.is_empty() {
        let is_free = |task: &Task| {
            let mut others = task.depends_on.iter();
            // An unknown task is an error already.
            others.all(|other| {
                done.contains(other) || !known.contains_key(other) || *other == task.id
            })
        };
        let Some(at) = left.iter().position(is_free) else {
            let ids: Vec<String> = left.iter().map(|task| format!("`{}`", task.id)).collect();
            errors.push(format!(
                "{plan}: {} depend on each other in a cycle",
                ids.join(", ")
            ));
            return sorted;
        };
        let task = left.remove(at);
        done.insert(task.id.clone());
        sorted.push(task);
    }
    sorted
}
