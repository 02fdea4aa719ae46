//! Who may ask: the name by which the server is called, the page that asks, and
//! the token. A request is checked before its path is looked at any further.

use axum::http::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, Uri};

use crate::token::Token;

/// What a browser says about where a request comes from.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The paths of the page, which need no token: they hold no data.
const PAGE: [&str; 4] = ["/", "/app.js", "/style.css", "/icon.svg"];

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The name is not one of this server's.
    Host,
    /// Another page asks.
    Origin,
    /// There is no token.
    NoToken,
    /// The token is wrong.
    WrongToken,
}

impl Refusal {
    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::Host => StatusCode::MISDIRECTED_REQUEST,
            Self::Origin => StatusCode::FORBIDDEN,
            Self::NoToken | Self::WrongToken => StatusCode::UNAUTHORIZED,
        }
    }

    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Host => {
                "this name is not the server's: use 127.0.0.1 or localhost, or start cr-serve \
                 with --public-url URL\n"
            }
            Self::Origin => "another page may not ask; a POST needs the Origin of the page\n",
            Self::NoToken => {
                "the token is missing: open the address that cr-serve printed, or send \
                 `Authorization: Bearer TOKEN`\n"
            }
            Self::WrongToken => "the token is wrong: cr-serve printed another one\n",
        }
    }
}

/// What the server is called, and its token.
#[derive(Debug)]
pub(crate) struct Guard {
    pub(crate) token: Token,
    pub(crate) public: Option<PublicUrl>,
}

/// The address at which a proxy offers the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PublicUrl {
    /// `https://dev.example.com`, as a browser names it in `Origin`.
    origin: String,
    /// `dev.example.com`, as a browser names it in `Host`.
    authority: String,
}

impl PublicUrl {
    /// Reads an address without a path.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let lower = text.to_ascii_lowercase();
        let origin = lower.strip_suffix('/').unwrap_or(&lower);
        let (default, authority) = match origin.split_once("://") {
            Some(("http", rest)) => (":80", rest),
            Some(("https", rest)) => (":443", rest),
            _ => return Err("expected http://NAME or https://NAME".to_owned()),
        };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
        if authority.is_empty() || !authority.chars().all(is_plain) {
            return Err("expected a name and perhaps a port, without a path".to_owned());
        }
        // A browser leaves the usual port out.
        let authority = authority.strip_suffix(default).unwrap_or(authority);
        let origin = origin.strip_suffix(default).unwrap_or(origin);
        Ok(Self {
            origin: origin.to_owned(),
            authority: authority.to_owned(),
        })
    }

    /// The address to open.
    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    fn is_https(&self) -> bool {
        self.origin.starts_with("https:")
    }
}

impl Guard {
    /// Checks a request by all that it says about itself, in this order: name,
    /// origin, token.
    pub(crate) fn check(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Result<(), Refusal> {
        let (_, origin) = self.called(uri, headers).ok_or(Refusal::Host)?;
        check_origin(method, headers, &origin)?;
        let is_read = matches!(*method, Method::GET | Method::HEAD);
        if is_read && PAGE.contains(&uri.path()) {
            return Ok(());
        }
        self.check_token(headers)
    }

    /// The name that the request calls the server by, and the origin of a page
    /// that was loaded by that name.
    fn called(&self, uri: &Uri, headers: &HeaderMap) -> Option<(String, String)> {
        let host = only(headers, &HOST)?.to_ascii_lowercase();
        let other = uri
            .authority()
            .map(|name| name.as_str().to_ascii_lowercase());
        if other.is_some_and(|other| other != host) {
            return None;
        }
        if let Some(public) = self.public.as_ref().filter(|it| it.authority == host) {
            return Some((host, public.origin.clone()));
        }
        let origin = is_loopback(&host).then(|| format!("http://{host}"))?;
        Some((host, origin))
    }

    fn check_token(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let given = bearer(headers).or_else(|| Self::cookie(headers));
        let given = given.ok_or(Refusal::NoToken)?;
        if self.token.is(given) {
            Ok(())
        } else {
            Err(Refusal::WrongToken)
        }
    }

    fn cookie(headers: &HeaderMap) -> Option<&str> {
        let name = cookie_name(only(headers, &HOST)?);
        let cookies = headers.get_all(COOKIE).iter();
        let mut pairs = cookies
            .filter_map(|line| line.to_str().ok())
            .flat_map(|line| line.split(';'))
            .filter_map(|pair| pair.trim().split_once('='));
        pairs.find_map(|(key, value)| (key == name).then_some(value))
    }

    /// The cookie that lets the page ask for data from now on. Its name has the
    /// port, because a browser keeps one set of cookies for all ports of a name.
    pub(crate) fn set_cookie(&self, headers: &HeaderMap) -> String {
        let host = only(headers, &HOST).unwrap_or_default();
        let name = cookie_name(host);
        let is_public = |it: &&PublicUrl| it.authority.eq_ignore_ascii_case(host);
        let public = self.public.as_ref().filter(is_public);
        let secure = if public.is_some_and(PublicUrl::is_https) {
            "; Secure"
        } else {
            ""
        };
        let token = self.token.as_str();
        format!("{name}={token}; Path=/; HttpOnly; SameSite=Strict{secure}")
    }
}

/// The token of the header that programs use.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = only(headers, &AUTHORIZATION)?.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then_some(token.trim())
}

/// A page of another origin may not ask. A request that changes something has to
/// say that it comes from the page.
fn check_origin(method: &Method, headers: &HeaderMap, own: &str) -> Result<(), Refusal> {
    let is_read = matches!(*method, Method::GET | Method::HEAD);
    let same = if headers.contains_key(&ORIGIN) {
        only(headers, &ORIGIN).is_some_and(|it| it.eq_ignore_ascii_case(own))
    } else {
        is_read
    };
    let is_known = matches!(only(headers, &FETCH_SITE), Some("same-origin" | "none"));
    let site = is_known || !headers.contains_key(&FETCH_SITE);
    if same && site {
        Ok(())
    } else {
        Err(Refusal::Origin)
    }
}

/// The value of a header that is there exactly once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// Whether `host` is this machine, with any port: a forwarded port is another
/// one. A name that somebody's DNS resolves to 127.0.0.1 is not.
fn is_loopback(host: &str) -> bool {
    let names = ["127.0.0.1", "localhost", "[::1]"];
    names.iter().any(|name| match host.strip_prefix(name) {
        Some("") => true,
        Some(rest) => rest.strip_prefix(':').is_some_and(is_port),
        None => false,
    })
}

fn is_port(text: &str) -> bool {
    let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_digits && text.parse::<u16>().is_ok_and(|port| port > 0)
}

/// The name of the cookie for a page that calls the server `host`.
fn cookie_name(host: &str) -> String {
    let port = host.rsplit_once(':').map(|(_, port)| port);
    let port = port.filter(|port| is_port(port)).unwrap_or("80");
    format!("cr_serve_{port}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_right_with_any_port_and_nothing_else_is() {
        for host in ["127.0.0.1", "localhost:1", "[::1]:65535", "127.0.0.1:8080"] {
            assert!(is_loopback(host), "{host}");
        }
        #[rustfmt::skip]
        let wrong = [
            "", "127.0.0.2", "localhost.", "localhost.evil.example", "evil.example",
            "127.0.0.1.nip.io", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:+80", "127.0.0.1:65536",
            "localhost@evil.example", "::1", "[::1", "0.0.0.0", "127.1", "2130706433",
        ];
        for host in wrong {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn a_public_url_is_an_origin() {
        let url = PublicUrl::parse("HTTPS://Dev.example.com:443/").expect("read");
        assert_eq!(url.origin(), "https://dev.example.com");
        assert_eq!(url.authority, "dev.example.com");
        for wrong in [
            "dev.example.com",
            "ftp://x",
            "https://",
            "http://x/y",
            "http://a b",
        ] {
            assert!(PublicUrl::parse(wrong).is_err(), "{wrong}");
        }
    }
}
