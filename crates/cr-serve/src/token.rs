//! The secret that opens the data: 256 bits from the kernel.

use anyhow::{Context, anyhow};
use cr_io::Exit;
use cr_rundir::{RunDir, StateDir};

/// Characters of a token.
const LENGTH: usize = 64;

/// In the state directory: the tokens of ports that were chosen.
const DIRECTORY: &str = "serve";

/// A token, as 64 hexadecimal digits.
pub(crate) struct Token(String);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}

impl Token {
    /// A new one.
    pub(crate) fn new() -> anyhow::Result<Self> {
        let mut bytes = [0_u8; LENGTH / 2];
        let mut filled = 0;
        while filled < bytes.len() {
            let flags = rustix::rand::GetRandomFlags::empty();
            filled += rustix::rand::getrandom(&mut bytes[filled..], flags)?;
        }
        let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self(digits.concat()))
    }

    /// That of a port which the user chose: it is kept, so that a page goes on after
    /// the server was started again.
    pub(crate) fn of_port(state: &StateDir, port: u16) -> anyhow::Result<Self> {
        drop(state.open().context(Exit::Config)?);
        let dir = RunDir::at(&state.path().join(DIRECTORY)).context(Exit::Config)?;
        let name = format!("token-{port}");
        // Of two servers that start at once one writes it; both read that one.
        dir.write_once(&name, Self::new()?.0.as_bytes())?;
        let kept = dir.read(&name, LENGTH as u64 + 1)?.unwrap_or_default();
        let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if kept.len() != LENGTH || !kept.iter().all(is_digit) {
            let path = dir.path().join(name);
            let text = format!("{}: not a token; remove it", path.display());
            return Err(anyhow!(text).context(Exit::Config));
        }
        Ok(Self(String::from_utf8_lossy(&kept).into_owned()))
    }

    /// Whether `given` is the token. The time that this takes does not tell how much
    /// of it is right.
    pub(crate) fn is(&self, given: &str) -> bool {
        let (own, given) = (self.0.as_bytes(), given.as_bytes());
        let wrong = own.iter().enumerate().fold(0, |wrong, (at, byte)| {
            wrong | (byte ^ given.get(at).copied().unwrap_or_default())
        });
        std::hint::black_box(wrong) == 0 && own.len() == given.len()
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_all_of_the_token_is_right() {
        let token = Token::new().expect("a token");
        let text = token.as_str().to_owned();
        assert_eq!(text.len(), LENGTH);
        assert!(token.is(&text));
        for wrong in [
            "",
            &text[1..],
            &text[..63],
            &format!("{text}0"),
            &"0".repeat(64),
        ] {
            assert!(!token.is(wrong));
        }
        assert_ne!(text, Token::new().expect("a token").as_str());
    }
}
