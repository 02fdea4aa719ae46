//! The options as a command line again, and single options by their name.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

use clap::Parser;

use crate::options::AgentOptions;

/// A command line that grows by one option at a time.
#[derive(Default)]
struct Argv(Vec<OsString>);

impl Argv {
    /// With `=`, so that a value that begins with a dash stays a value.
    fn value(&mut self, flag: &str, value: impl AsRef<OsStr>) {
        let mut argument = OsString::from(format!("--{flag}="));
        argument.push(value);
        self.0.push(argument);
    }

    fn optional(&mut self, flag: &str, value: Option<impl AsRef<OsStr>>) {
        if let Some(value) = value {
            self.value(flag, value);
        }
    }

    fn switch(&mut self, flag: &str, is_on: bool) {
        if is_on {
            self.0.push(format!("--{flag}").into());
        }
    }
}

impl AgentOptions {
    /// The options that nobody has set.
    pub fn defaults() -> Self {
        Self::parse_from(["cr-spawn"])
    }

    /// The arguments of `cr-spawn` that mean these options, without the program's
    /// name. Options that have a default are always there.
    pub fn to_argv(&self) -> Vec<OsString> {
        let mut argv = Argv::default();
        self.session(&mut argv);
        self.behaviour(&mut argv);
        for (name, time) in self.clocks.named() {
            argv.value(name, time.as_secs_f64().to_string());
        }
        for (name, value) in self.session.to_arguments() {
            match value {
                Some(value) => argv.value(name, value),
                None => argv.switch(name, true),
            }
        }
        self.run(&mut argv);
        if !self.rest.is_empty() {
            argv.0.push("--".into());
            argv.0.extend(self.rest.iter().cloned());
        }
        argv.0
    }

    fn session(&self, argv: &mut Argv) {
        argv.optional("prompt", self.prompt.as_ref());
        argv.optional("prompt-file", self.prompt_file.as_ref());
        argv.optional("resume", self.resume.as_ref());
        argv.switch("continue", self.continue_last);
        argv.optional("session-id", self.session_id.as_ref());
        argv.switch("fork-session", self.fork_session);
        argv.switch("no-session-persistence", self.no_session_persistence);
    }

    fn behaviour(&self, argv: &mut Argv) {
        argv.optional("cwd", self.cwd.as_ref());
        argv.optional("model", self.model.as_ref());
        argv.optional("fallback-model", self.fallback_model.as_ref());
        argv.value("max-turns", self.max_turns.to_string());
        argv.value("max-budget", self.max_budget.to_string());
        argv.optional("system-prompt", self.system_prompt.as_ref());
        argv.optional("system-prompt-file", self.system_prompt_file.as_ref());
        for tools in &self.allowed_tools {
            argv.value("allowed-tools", tools);
        }
        for tools in &self.disallowed_tools {
            argv.value("disallowed-tools", tools);
        }
        argv.optional("permission-mode", self.permission_mode.as_ref());
        let skips = self.dangerously_skip_permissions;
        argv.switch("dangerously-skip-permissions", skips);
        argv.optional("json-schema", self.json_schema.as_ref());
        argv.switch("partial-messages", self.partial_messages);
        argv.switch("background", self.background);
        argv.optional("claude", self.claude.as_ref());
    }

    fn run(&self, argv: &mut Argv) {
        argv.switch("keep-children", self.keep_children);
        argv.switch("isolate", self.isolate);
        argv.optional("watch-pid", self.watch_pid.map(|pid| pid.to_string()));
        argv.optional("control-fd", self.control_fd.map(|fd| fd.to_string()));
        argv.optional("resumed-run", self.resumed_run.as_ref());
        argv.optional("run-dir", self.run_dir.as_ref());
        argv.switch("no-record", self.no_record);
        argv.optional("output-file", self.output_file.as_ref());
        argv.optional("name", self.name.as_ref());
        argv.value("max-line", self.max_line.to_string());
        argv.value("max-record", self.max_record.to_string());
    }

    /// Sets the option of the setting `key` (see `cr_config::SETTINGS`) to `value`,
    /// as the configuration has it. A key that is not an option is an error.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let text = || Some(value.to_owned());
        match key {
            "model" => self.model = text(),
            "fallback_model" => self.fallback_model = text(),
            "max_turns" => {
                let wrong = |_| format!("max_turns: `{value}` is not a number");
                self.max_turns = value.parse().map_err(wrong)?;
            }
            "max_budget" => self.max_budget = crate::options::parse_dollars(value)?,
            "allowed_tools" => self.allowed_tools = vec![value.to_owned()],
            "disallowed_tools" => self.disallowed_tools = vec![value.to_owned()],
            "system_prompt_file" => self.system_prompt_file = Some(value.into()),
            "permission_mode" => self.permission_mode = text(),
            "claude" => self.claude = Some(value.into()),
            _ => {
                let clock = self.clocks.clock(key);
                let clock = clock.ok_or_else(|| format!("{key}: not an option of the agent"))?;
                *clock = cr_io::parse_duration(value)?;
            }
        }
        Ok(())
    }

    /// Makes every path absolute, so that the options mean the same in another
    /// directory. A program without a slash stays a name to look up in the PATH.
    pub fn make_absolute(&mut self) {
        let is_name = |path: &Path| !path.as_os_str().as_encoded_bytes().contains(&b'/');
        let named = self.claude.as_deref().is_some_and(is_name);
        let claude = Some(&mut self.claude).filter(|_| !named);
        let paths = [
            &mut self.cwd,
            &mut self.prompt_file,
            &mut self.system_prompt_file,
            &mut self.run_dir,
            &mut self.output_file,
            &mut self.session.ask_policy,
        ];
        for path in paths.into_iter().chain(claude).flatten() {
            if let Ok(absolute) = std::path::absolute(&*path) {
                *path = absolute;
            }
        }
        let schema = self.json_schema.as_ref();
        let file = schema.filter(|text| !text.trim_start().starts_with('{'));
        let absolute = file.and_then(|file| std::path::absolute(file).ok());
        if let Some(text) = absolute.and_then(|path| path.into_os_string().into_string().ok()) {
            self.json_schema = Some(text);
        }
    }
}

impl crate::Clocks {
    /// Every clock with the name of its option.
    pub fn named(&self) -> [(&'static str, Duration); 7] {
        [
            ("timeout", self.timeout),
            ("startup-timeout", self.startup_timeout),
            ("idle-timeout", self.idle_timeout),
            ("tool-timeout", self.tool_timeout),
            ("turn-timeout", self.turn_timeout),
            ("post-result-grace", self.post_result_grace),
            ("grace", self.grace),
        ]
    }

    fn clock(&mut self, key: &str) -> Option<&mut Duration> {
        Some(match key {
            "timeout" => &mut self.timeout,
            "startup_timeout" => &mut self.startup_timeout,
            "idle_timeout" => &mut self.idle_timeout,
            "tool_timeout" => &mut self.tool_timeout,
            "turn_timeout" => &mut self.turn_timeout,
            "post_result_grace" => &mut self.post_result_grace,
            "grace" => &mut self.grace,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use clap::CommandFactory;

    use super::*;

    fn parse(argv: &[OsString]) -> AgentOptions {
        let name = std::iter::once(OsString::from("cr-spawn"));
        AgentOptions::try_parse_from(name.chain(argv.iter().cloned())).expect("valid options")
    }

    /// Values that each option takes, the odd ones among them.
    fn values(flag: &str) -> Vec<OsString> {
        let numbers = ["0", "7", "9007199254740993"];
        let texts: &[&str] = match flag {
            "max-turns" | "max-record" => &numbers,
            "max-line" | "watch-pid" => &["7", "12345"],
            "control-fd" => &["3", "9"],
            "max-budget" => &["0", "0.1", "1e-9", "12345678.9"],
            "input" => &["stream"],
            "turn-timeout-action" => &["interrupt", "end"],
            "wake-timeout" | "ask-timeout" => &["0", "1.5", "2h"],
            name if AgentOptions::defaults()
                .clocks
                .named()
                .iter()
                .any(|(n, _)| *n == name) =>
            {
                &["0", "90", "1.5", "2h30m", "1ms", "0.0000001", "3649d1ms"]
            }
            _ => &["a", "--b", "c d=e\n", "ü", "-"],
        };
        let mut values: Vec<OsString> = texts.iter().map(OsString::from).collect();
        if [
            "cwd",
            "prompt-file",
            "system-prompt-file",
            "run-dir",
            "output-file",
            "ask-policy",
            "claude",
        ]
        .contains(&flag)
        {
            values.push(OsString::from_vec(b"/a\xFFb".to_vec()));
        }
        values
    }

    #[test]
    fn every_option_survives_the_way_to_a_command_line_and_back() {
        let command = AgentOptions::command();
        let mut count = 0;
        for arg in command.get_arguments() {
            let Some(flag) = arg
                .get_long()
                .filter(|flag| !["help", "version"].contains(flag))
            else {
                continue;
            };
            count += 1;
            let given: Vec<Vec<OsString>> = if arg.get_action().takes_values() {
                let one = |value: &OsString| {
                    let mut argv = Argv::default();
                    argv.value(flag, value);
                    argv.0
                };
                values(flag).iter().map(one).collect()
            } else {
                vec![vec![format!("--{flag}").into()]]
            };
            for argv in given {
                let options = parse(&argv);
                assert_ne!(
                    (
                        options == AgentOptions::defaults(),
                        argv[0].as_encoded_bytes().ends_with(b"=0")
                    ),
                    (true, false),
                    "{argv:?} changes nothing"
                );
                assert_eq!(parse(&options.to_argv()), options, "{argv:?}");
            }
        }
        assert!(count > 30, "{count}");
    }

    #[test]
    fn all_options_together_survive() {
        let argv = [
            "--resume=x",
            "--model=opus",
            "--allowed-tools=a",
            "--allowed-tools=b c",
            "--timeout=2h",
            "--max-budget=1.5",
            "--system-prompt=--x",
            "--keep-children",
            "--",
            "--mcp",
            "",
            "--prompt",
        ];
        let options = parse(&argv.map(OsString::from));
        assert_eq!(parse(&options.to_argv()), options);
        assert_eq!(options.rest.len(), 3);
    }

    #[test]
    fn a_number_outside_its_range_is_refused() {
        for flag in [
            "--max-budget=nan",
            "--max-budget=inf",
            "--max-budget=-1",
            "--max-turns=-1",
        ] {
            assert!(
                AgentOptions::try_parse_from(["cr-spawn", flag]).is_err(),
                "{flag}"
            );
        }
    }

    #[test]
    fn every_setting_of_the_agent_is_an_option_and_can_be_set() {
        let command = AgentOptions::command();
        for setting in cr_config::SETTINGS {
            let mut options = AgentOptions::defaults();
            let Some(flag) = setting.flag else {
                assert!(options.set(setting.key, "1").is_err(), "{}", setting.key);
                continue;
            };
            let is_flag = |arg: &clap::Arg| arg.get_long() == Some(flag);
            assert!(command.get_arguments().any(is_flag), "{flag}");
            options.set(setting.key, "7").expect("an option");
            assert_ne!(options, AgentOptions::defaults(), "{flag}");
            assert_eq!(parse(&[format!("--{flag}=7").into()]), options, "{flag}");
        }
    }
}
