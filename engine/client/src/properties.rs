//! Settings from a file of the Java tools (`--command-config`).
//!
//! The format is that of `java.util.Properties`: a key, then `=`, `:` or blanks, then a value; `#` or `!` begins a
//! comment, a backslash at the end goes on with the next line, `\t`, `\n`, `\uXXXX` and the like stand for characters.

use std::collections::BTreeMap;

use crate::config::ClientConfig;
use crate::error::ClientError;
use crate::security::{Mechanism, Sasl, Security, Tls};

/// The keys and values of a properties file, unescaped; the last of equal keys counts.
#[derive(Clone, Default)]
pub struct Properties(BTreeMap<String, String>);

impl core::fmt::Debug for Properties {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        // Values may be passwords.
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Properties {
    /// Reads a file's text.
    ///
    /// # Examples
    ///
    /// ```
    /// use tenure_client::Properties;
    ///
    /// let properties = Properties::parse("# who we are\nclient.id = bill\\\n  ing\nssl.key.password:a\\u0062c\n");
    /// assert_eq!(properties.get("client.id"), Some("billing"));
    /// assert_eq!(properties.get("ssl.key.password"), Some("abc"));
    /// ```
    pub fn parse(text: &str) -> Self {
        let mut properties = BTreeMap::new();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let mut logical = line.trim_start_matches(BLANKS).to_owned();
            if logical.is_empty() || logical.starts_with(['#', '!']) {
                continue;
            }
            while goes_on(&logical) {
                logical.pop();
                let Some(next) = lines.next() else { break };
                logical.push_str(next.trim_start_matches(BLANKS));
            }
            let (key, value) = split(&logical);
            properties.insert(unescape(key), unescape(value));
        }
        Self(properties)
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// Puts the settings into a configuration, and returns the keys that mean nothing to it.
    ///
    /// Files that a setting names are read.
    ///
    /// # Errors
    ///
    /// [`ClientError::Config`], naming the setting, for what can't be or is not supported: keystores that are not PEM,
    /// mechanisms other than PLAIN and SCRAM, keys with a password, certificates whose host is not to be checked.
    pub fn apply(&self, config: &mut ClientConfig) -> Result<Vec<String>, ClientError> {
        if let Some(servers) = self.get("bootstrap.servers")
            && config.bootstrap_servers.is_empty()
        {
            config.bootstrap_servers = servers.split(',').map(|one| one.trim().to_owned()).collect();
        }
        if let Some(client_id) = self.get("client.id") {
            config.client_id = client_id.to_owned();
        }
        for (key, place) in [
            ("request.timeout.ms", &mut config.request_timeout_ms),
            ("socket.connection.setup.timeout.ms", &mut config.connect_timeout_ms),
            ("metadata.max.age.ms", &mut config.metadata_max_age_ms),
            ("retry.backoff.ms", &mut config.retry_backoff_ms),
            ("retry.backoff.max.ms", &mut config.retry_backoff_max_ms),
        ] {
            if let Some(value) = self.get(key) {
                *place = value
                    .trim()
                    .parse()
                    .map_err(|_| ClientError::config(key, format!("{value:?}"), "milliseconds"))?;
            }
        }
        config.security = self.security()?;
        Ok(self.0.keys().filter(|key| !KNOWN.contains(&key.as_str())).cloned().collect())
    }

    /// `security.protocol` with what belongs to it.
    ///
    /// # Errors
    ///
    /// As [`apply`](Self::apply).
    pub fn security(&self) -> Result<Security, ClientError> {
        let protocol = self.get("security.protocol").unwrap_or("PLAINTEXT").trim();
        match protocol.to_ascii_uppercase().as_str() {
            "PLAINTEXT" => Ok(Security::Plaintext),
            "SSL" => Ok(Security::Ssl(self.tls()?)),
            "SASL_PLAINTEXT" => Ok(Security::SaslPlaintext(self.sasl()?)),
            "SASL_SSL" => Ok(Security::SaslSsl(self.sasl()?, self.tls()?)),
            _ => Err(ClientError::config(
                "security.protocol",
                format!("{protocol:?}"),
                "PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL",
            )),
        }
    }

    fn sasl(&self) -> Result<Sasl, ClientError> {
        let name = self.get("sasl.mechanism").unwrap_or("GSSAPI").trim();
        let mechanism = Mechanism::by_name(name).ok_or_else(|| {
            let names = Mechanism::ALL.map(Mechanism::name).join(", ");
            ClientError::config("sasl.mechanism", name, format!("one of {names}: others are not supported"))
        })?;
        let jaas = self.get("sasl.jaas.config").ok_or_else(|| {
            ClientError::config(
                "sasl.jaas.config",
                "missing",
                "…LoginModule required username=\"…\" password=\"…\"; (a JAAS file of the Java VM is not read)",
            )
        })?;
        let option = |key: &str| {
            jaas_option(jaas, key).ok_or_else(|| {
                ClientError::config("sasl.jaas.config", format!("without {key}"), format!("{key}=\"…\""))
            })
        };
        Ok(Sasl::new(mechanism, option("username")?, option("password")?))
    }

    fn tls(&self) -> Result<Tls, ClientError> {
        if self
            .get("ssl.endpoint.identification.algorithm")
            .is_some_and(|name| !name.eq_ignore_ascii_case("https"))
        {
            return Err(ClientError::config(
                "ssl.endpoint.identification.algorithm",
                "empty",
                "https: a broker whose name is not checked may be anybody",
            ));
        }
        let authorities = self.pem("ssl.truststore", "ssl.truststore.certificates")?;
        let chain = self.pem("ssl.keystore", "ssl.keystore.certificate.chain")?;
        let key = match self.get("ssl.keystore.key") {
            Some(key) => Some(key.as_bytes().to_vec()),
            // A PEM file of a keystore holds both.
            None => chain.clone(),
        };
        if self.get("ssl.key.password").is_some_and(|password| !password.is_empty()) {
            return Err(ClientError::config(
                "ssl.key.password",
                "set",
                "a key without a password: others are not supported",
            ));
        }
        let identity = chain.as_deref().zip(key.as_deref());
        match (authorities, identity) {
            (Some(authorities), identity) => Tls::with_pem(&authorities, identity),
            (None, None) => Tls::with_system_roots(),
            (None, Some(_)) => Err(ClientError::config(
                "ssl.truststore.location",
                "missing",
                "to be given where ssl.keystore is, with ssl.truststore.type=PEM",
            )),
        }
    }

    /// PEM out of a file or out of the setting itself.
    fn pem(&self, store: &str, inline: &str) -> Result<Option<Vec<u8>>, ClientError> {
        let (location, kind) = (format!("{store}.location"), format!("{store}.type"));
        if let Some(text) = self.get(inline) {
            return Ok(Some(text.as_bytes().to_vec()));
        }
        let Some(path) = self.get(&location) else { return Ok(None) };
        let given = self.get(&kind).unwrap_or("JKS");
        if !given.eq_ignore_ascii_case("PEM") {
            return Err(ClientError::config(
                kind,
                given,
                format!(
                    "PEM: other keystores are not read; export with keytool -exportcert -rfc -keystore {path} …, and set {store}.type=PEM"
                ),
            ));
        }
        std::fs::read(path).map(Some).map_err(|error| {
            ClientError::config(location, format!("{path}: {error}"), "a PEM file that can be read")
        })
    }
}

/// Every key that is looked at.
const KNOWN: [&str; 20] = [
    "bootstrap.servers",
    "client.id",
    "request.timeout.ms",
    "socket.connection.setup.timeout.ms",
    "metadata.max.age.ms",
    "retry.backoff.ms",
    "retry.backoff.max.ms",
    "security.protocol",
    "sasl.mechanism",
    "sasl.jaas.config",
    "ssl.endpoint.identification.algorithm",
    "ssl.truststore.location",
    "ssl.truststore.type",
    "ssl.truststore.certificates",
    "ssl.keystore.location",
    "ssl.keystore.type",
    "ssl.keystore.certificate.chain",
    "ssl.keystore.key",
    "ssl.key.password",
    // Only JKS needs it.
    "ssl.truststore.password",
];

const BLANKS: [char; 3] = [' ', '\t', '\x0c'];

/// Whether an odd number of backslashes stands at the end.
fn goes_on(line: &str) -> bool {
    line.bytes().rev().take_while(|&byte| byte == b'\\').count() % 2 == 1
}

/// Key and value of a logical line, still escaped.
fn split(line: &str) -> (&str, &str) {
    let mut escaped = false;
    for (at, char) in line.char_indices() {
        if !escaped && (matches!(char, '=' | ':') || BLANKS.contains(&char)) {
            let (key, rest) = line.split_at(at);
            let rest = rest.trim_start_matches(BLANKS);
            let rest = rest.strip_prefix(['=', ':']).unwrap_or(rest);
            return (key, rest.trim_start_matches(BLANKS));
        }
        escaped = !escaped && char == '\\';
    }
    (line, "")
}

fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut units = Vec::new();
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        let unit = (char == '\\' && chars.as_str().starts_with('u'))
            .then(|| chars.as_str().get(1..5).and_then(|digits| u16::from_str_radix(digits, 16).ok()))
            .flatten();
        if let Some(unit) = unit {
            units.push(unit);
            chars.nth(4);
            continue;
        }
        // Characters above the first plane come as two units.
        plain.push_str(&String::from_utf16_lossy(&units));
        units.clear();
        if char != '\\' {
            plain.push(char);
            continue;
        }
        plain.extend(chars.next().map(|next| match next {
            't' => '\t',
            'n' => '\n',
            'r' => '\r',
            'f' => '\x0c',
            other => other,
        }));
    }
    plain.push_str(&String::from_utf16_lossy(&units));
    plain
}

/// An option of a JAAS entry: `Module required key="value" key='value' key=value;`.
fn jaas_option(jaas: &str, wanted: &str) -> Option<String> {
    let mut rest = jaas.trim();
    while !rest.is_empty() {
        let end =
            rest.find(|char: char| char.is_whitespace() || char == '=' || char == ';').unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let after_blanks = after.trim_start();
        let Some(value) = after_blanks.strip_prefix('=') else {
            rest = after_blanks.trim_start_matches(';').trim_start();
            continue;
        };
        let (value, after) = jaas_value(value.trim_start());
        if word == wanted {
            return Some(value);
        }
        rest = after.trim_start();
    }
    None
}

/// A value, quoted or not, and what follows it.
fn jaas_value(text: &str) -> (String, &str) {
    let Some(quote) = text.chars().next().filter(|char| matches!(char, '"' | '\'')) else {
        let end = text.find(|char: char| char.is_whitespace() || char == ';').unwrap_or(text.len());
        let (value, after) = text.split_at(end);
        return (value.to_owned(), after);
    };
    let mut value = String::new();
    let mut chars = text.chars();
    chars.next();
    while let Some(char) = chars.next() {
        match char {
            '\\' => value.extend(chars.next()),
            char if char == quote => return (value, chars.as_str()),
            char => value.push(char),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn java_reads_it_the_same_way() {
        // The examples of java.util.Properties.load, and the corners of its grammar.
        let text = "Truth = Beauty\n Truth2:Beauty\nTruth3                    :Beauty\nfruits   apple, banana, \\\n    pear\n\
                    cheeses\n! no\n# no\na\\=b\\ c=d\\\\\nlast=one\\";
        let properties = Properties::parse(text);
        for (key, value) in [
            ("Truth", "Beauty"),
            ("Truth2", "Beauty"),
            ("Truth3", "Beauty"),
            ("fruits", "apple, banana, pear"),
            ("cheeses", ""),
            ("a=b c", "d\\"),
            ("last", "one"),
        ] {
            assert_eq!(properties.get(key), Some(value), "{key}");
        }
        assert_eq!(properties.0.len(), 7);
        assert_eq!(Properties::parse("k=\\uD83D\\uDE00\\u12").get("k"), Some("\u{1F600}u12"));
    }

    #[test]
    fn users_of_jaas() {
        let jaas = "org.apache.kafka.common.security.scram.ScramLoginModule required username=\"al ice\" \
                    password='a\\'b;c' x=y;";
        assert_eq!(jaas_option(jaas, "username").as_deref(), Some("al ice"));
        assert_eq!(jaas_option(jaas, "password").as_deref(), Some("a'b;c"));
        assert_eq!(jaas_option(jaas, "x").as_deref(), Some("y"));
        assert_eq!(jaas_option(jaas, "z"), None);
        assert_eq!(jaas_option("=\"", "z"), None);
    }

    #[test]
    fn a_secured_file() {
        let text = "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-512\nrequest.timeout.ms=5000\n\
                    sasl.jaas.config=X required username=\"u\" password=\"p\";\ngroup.id=g\n";
        let mut config = ClientConfig::new(["b:1"]);
        let unknown = Properties::parse(text).apply(&mut config).unwrap();
        assert_eq!(unknown, ["group.id"]);
        assert_eq!(config.request_timeout_ms, 5_000);
        assert_eq!(config.security.name(), "SASL_PLAINTEXT");
        assert_eq!(config.bootstrap_servers, ["b:1"]);
    }

    #[test]
    fn what_is_not_supported_is_told_with_its_setting() {
        for (text, setting, remedy) in [
            ("security.protocol=TLS", "security.protocol", "SASL_SSL"),
            ("security.protocol=SASL_PLAINTEXT", "sasl.mechanism", "SCRAM-SHA-256"),
            ("security.protocol=SASL_SSL\nsasl.mechanism=OAUTHBEARER", "sasl.mechanism", "not supported"),
            ("security.protocol=SASL_SSL\nsasl.mechanism=PLAIN", "sasl.jaas.config", "username"),
            (
                "security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.jaas.config=X required username=u;",
                "sasl.jaas.config",
                "password",
            ),
            ("security.protocol=SSL\nssl.truststore.location=/t.jks", "ssl.truststore.type", "keytool"),
            (
                "security.protocol=SSL\nssl.truststore.location=/no/t.pem\nssl.truststore.type=PEM",
                "ssl.truststore.location",
                "PEM file",
            ),
            ("security.protocol=SSL\nssl.endpoint.identification.algorithm=", "ssl.endpoint", "https"),
            ("security.protocol=SSL\nssl.key.password=x", "ssl.key.password", "without a password"),
            ("retry.backoff.ms=soon", "retry.backoff.ms", "milliseconds"),
        ] {
            let error =
                Properties::parse(text).apply(&mut ClientConfig::new(["b:1"])).unwrap_err().to_string();
            assert!(error.contains(setting) && error.contains(remedy), "{text}\n{error}");
        }
    }
}
