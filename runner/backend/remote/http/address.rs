//! A target's URL: where calls go, and what of it is secret.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Url;

use crate::backend::BackendError;
use crate::backend::secret::percent_decode;

/// Values of a query that are shorter are words such as `preview`, and no keys.
const SHORTEST_VALUE: usize = 8;

/// A field of a query whose value is public.
const PUBLIC: &str = "api-version";

/// The address of a server.
#[derive(Clone)]
pub(super) struct Address {
    /// The URL as it was configured, with user, password and query.
    url: Url,
    /// The path of the server's root: what comes before `/v1`, or all of it.
    root: String,
    /// Where the API's own routes begin.
    api: String,
    /// The root without user, password and query, for people.
    shown: String,
}

impl Address {
    /// Takes a URL apart. One that ends in `/v1` is the root of the API: native routes begin beside `/v1`. Any other
    /// is a gateway's: `/v1/x` goes to `<url>/x`, and native routes begin at it too.
    ///
    /// # Errors
    /// It is no `http` or `https` address.
    pub(super) fn new(text: &str) -> Result<Self, BackendError> {
        let legal = |url: &Url| matches!(url.scheme(), "http" | "https") && url.has_host();
        let mut url = Url::parse(text).ok().filter(legal).ok_or_else(|| {
            BackendError::Broken("the target's `url` is no `http` or `https` address".to_owned())
        })?;
        url.set_fragment(None);
        let api = url.path().trim_end_matches('/').to_owned();
        let root = api.strip_suffix("/v1").unwrap_or(&api).to_owned();
        let shown = format!("{}{root}", url.origin().ascii_serialization());
        Ok(Address { url, root, api, shown })
    }

    /// The URL of a path below the server's root.
    pub(super) fn join(&self, path: &str) -> Url {
        let (path, query) = path.split_once('?').map_or((path, None), |(p, q)| (p, Some(q)));
        let below =
            path.strip_prefix("/v1").filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let whole = match below {
            Some(rest) => format!("{}{rest}", self.api),
            None => format!("{}{path}", self.root),
        };
        let mut url = self.url.clone();
        url.set_path(&whole);
        if let Some(more) = query {
            let joined = url.query().map_or(more.to_owned(), |own| format!("{own}&{more}"));
            url.set_query(Some(&joined));
        }
        url
    }

    /// The root, for people.
    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    /// Whether TLS is spoken.
    pub(super) fn is_tls(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Whether it is this very machine.
    pub(super) fn is_loopback(&self) -> bool {
        match self.url.host_str() {
            Some("localhost" | "[::1]") => true,
            Some(host) => host.parse().is_ok_and(|ip: std::net::Ipv4Addr| ip.is_loopback()),
            None => false,
        }
    }

    /// Whether it holds a user or a password.
    pub(super) fn has_user(&self) -> bool {
        !self.url.username().is_empty() || self.url.password().is_some()
    }

    /// What must never be shown: user, password, both as basic authentication sends them, and the query's longer
    /// values. A user that is a plain word beside a password is none: `assistant` stands in every reply.
    pub(super) fn secrets(&self) -> Vec<String> {
        let user = percent_decode(self.url.username());
        let password = percent_decode(self.url.password().unwrap_or_default());
        let mut secrets = Vec::new();
        if self.has_user() {
            secrets.push(STANDARD.encode(format!("{user}:{password}")));
        }
        if password.is_empty() || !user.chars().all(|c| c.is_ascii_lowercase()) {
            secrets.extend([self.url.username().to_owned(), user]);
        }
        secrets.extend(self.url.password().map(str::to_owned));
        secrets.push(password);
        let pairs = self.url.query().into_iter().flat_map(|query| query.split('&'));
        let raw = pairs
            .filter_map(|pair| pair.split_once('='))
            .map(|(name, value)| (name.into(), value.into()));
        for (name, value) in raw.chain(self.url.query_pairs()) {
            if value.len() >= SHORTEST_VALUE && name != PUBLIC {
                secrets.push(value.into_owned());
            }
        }
        secrets.retain(|secret| !secret.is_empty());
        secrets
    }
}

/// An address without user, password, query and fragment, as far as it can be told.
pub(super) fn bare(location: &str) -> String {
    let path = location.split(['?', '#']).next().unwrap_or_default();
    match Url::parse(path) {
        Ok(mut url) if url.has_host() => {
            // Both can fail only for addresses without a host.
            let _ = url.set_username("");
            let _ = url.set_password(None);
            url.to_string()
        }
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_go_where_they_should() {
        for (url, path, expected) in [
            ("http://h:1/v1", "/v1/chat/completions", "http://h:1/v1/chat/completions"),
            ("http://h:1/v1", "/tokenize", "http://h:1/tokenize"),
            ("http://h:1/v1/", "/props", "http://h:1/props"),
            ("http://h/a/v1", "/v1/models", "http://h/a/v1/models"),
            ("http://h/a/v1", "/tokenize", "http://h/a/tokenize"),
            ("https://h/api", "/v1/models", "https://h/api/models"),
            ("https://h/api", "/v1", "https://h/api"),
            ("https://h/api", "/v12/x", "https://h/api/v12/x"),
            ("https://h/api", "/tokenize", "https://h/api/tokenize"),
            ("http://h:1", "/v1/models", "http://h:1/models"),
            ("https://h/v1?api-version=2", "/v1/models", "https://h/v1/models?api-version=2"),
            ("https://h/v1?a=2#x", "/props?model=m", "https://h/props?a=2&model=m"),
            ("http://u:p@h/v1", "/props", "http://u:p@h/props"),
        ] {
            assert_eq!(Address::new(url).unwrap().join(path).as_str(), expected, "{url} {path}");
        }
    }

    #[test]
    fn people_see_no_secret() {
        let address = Address::new("https://us%40er:pa%2Fss@h:8/a/v1?key=0123456789&x=y").unwrap();
        assert_eq!(address.shown(), "https://h:8/a");
        let secrets = address.secrets();
        for secret in ["us@er", "pa/ss", "pa%2Fss", "0123456789", &STANDARD.encode("us@er:pa/ss")] {
            assert!(secrets.iter().any(|known| known == secret), "{secret} of {secrets:?}");
        }
        assert!(!secrets.iter().any(|known| known == "y"));
        let secrets = |url| Address::new(url).unwrap().secrets();
        assert!(secrets("http://h/v1").is_empty());
        assert!(secrets("http://h/v1?api-version=2026-10-01-preview").is_empty());
        assert!(!secrets("http://assistant:p4ss@h/v1").contains(&"assistant".to_owned()));
        assert!(secrets("http://assistant@h/v1").contains(&"assistant".to_owned()));
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for url in ["", "h", "ftp://h", "http://", "unix:/x", "file:///x"] {
            assert!(Address::new(url).is_err(), "{url}");
        }
    }

    #[test]
    fn this_machine_is_known() {
        for (url, expected) in [
            ("http://127.0.0.1:8", true),
            ("http://127.9.9.9", true),
            ("http://localhost/v1", true),
            ("http://[::1]:8/v1", true),
            ("http://10.0.0.1", false),
            ("http://localhost.example.org", false),
        ] {
            assert_eq!(Address::new(url).unwrap().is_loopback(), expected, "{url}");
        }
    }

    #[test]
    fn locations_are_bare() {
        for (location, expected) in [
            ("https://u:p@h/x?token=1#y", "https://h/x"),
            ("/login?next=/v1", "/login"),
            ("//h/x?y", "//h/x"),
            ("", ""),
        ] {
            assert_eq!(bare(location), expected);
        }
    }
}
