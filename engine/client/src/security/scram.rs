//! SCRAM (RFC 5802, RFC 7677) as Kafka speaks it: no channel binding, names and passwords as plain UTF-8.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::rand::SecureRandom;
use ring::{digest, hmac, pbkdf2};

/// The hash that a SCRAM mechanism is built on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hash {
    Sha256,
    Sha512,
}

impl Hash {
    fn hmac(self) -> hmac::Algorithm {
        match self {
            Self::Sha256 => hmac::HMAC_SHA256,
            Self::Sha512 => hmac::HMAC_SHA512,
        }
    }

    fn digest(self) -> &'static digest::Algorithm {
        self.hmac().digest_algorithm()
    }

    fn pbkdf2(self) -> pbkdf2::Algorithm {
        match self {
            Self::Sha256 => pbkdf2::PBKDF2_HMAC_SHA256,
            Self::Sha512 => pbkdf2::PBKDF2_HMAC_SHA512,
        }
    }
}

/// A broker may ask for that many rounds of hashing at most: a second or two of one core.
const ITERATIONS_MAX: u32 = 1_000_000;
/// RFC 7677's least; fewer would let a false broker guess the password from one proof.
const ITERATIONS_MIN: u32 = 4_096;

/// The client's side of one exchange.
#[derive(Debug)]
pub(super) struct Scram {
    hash: Hash,
    password: String,
    nonce: String,
    /// The first message without its header.
    bare: String,
}

/// What a broker that knows the password must answer.
#[derive(Debug)]
pub(super) struct Expected {
    key: hmac::Key,
    message: Vec<u8>,
}

impl Scram {
    pub(super) fn new(hash: Hash, username: &str, password: &str) -> Result<Self, String> {
        let mut random = [0; 24];
        ring::rand::SystemRandom::new()
            .fill(&mut random)
            .map_err(|_| "the system gives no random bytes".to_owned())?;
        Ok(Self::with_nonce(hash, username, password, STANDARD.encode(random)))
    }

    fn with_nonce(hash: Hash, username: &str, password: &str, nonce: String) -> Self {
        let name = username.replace('=', "=3D").replace(',', "=2C");
        Self { hash, password: password.to_owned(), bare: format!("n={name},r={nonce}"), nonce }
    }

    /// The client's first message.
    pub(super) fn first(&self) -> Vec<u8> {
        format!("n,,{}", self.bare).into_bytes()
    }

    /// The client's proof, and what the broker must answer to it.
    pub(super) fn prove(&self, server_first: &[u8]) -> Result<(Vec<u8>, Expected), String> {
        let text = core::str::from_utf8(server_first).map_err(|_| "the challenge is no text".to_owned())?;
        let nonce = attribute(text, 'r').ok_or("the challenge has no nonce")?;
        if !nonce.starts_with(&self.nonce) || nonce.len() == self.nonce.len() {
            return Err("the challenge's nonce does not go on from ours".into());
        }
        let salt = attribute(text, 's')
            .and_then(|salt| STANDARD.decode(salt).ok())
            .filter(|salt| !salt.is_empty())
            .ok_or("the challenge has no salt")?;
        let iterations: u32 = attribute(text, 'i')
            .and_then(|count| count.parse().ok())
            .filter(|count| (ITERATIONS_MIN..=ITERATIONS_MAX).contains(count))
            .ok_or_else(|| {
                format!("the challenge's iterations are not {ITERATIONS_MIN} to {ITERATIONS_MAX}")
            })?;
        let rounds = core::num::NonZeroU32::new(iterations).ok_or("the challenge has no iterations")?;

        let mut salted = vec![0; self.hash.digest().output_len()];
        pbkdf2::derive(self.hash.pbkdf2(), rounds, &salt, self.password.as_bytes(), &mut salted);
        let salted = hmac::Key::new(self.hash.hmac(), &salted);
        let client_key = hmac::sign(&salted, b"Client Key");
        let stored_key = digest::digest(self.hash.digest(), client_key.as_ref());
        let without_proof = format!("c=biws,r={nonce}");
        let message = format!("{},{text},{without_proof}", self.bare).into_bytes();
        let signature = hmac::sign(&hmac::Key::new(self.hash.hmac(), stored_key.as_ref()), &message);
        let proof: Vec<u8> =
            client_key.as_ref().iter().zip(signature.as_ref()).map(|(key, sign)| key ^ sign).collect();
        let last = format!("{without_proof},p={}", STANDARD.encode(proof)).into_bytes();
        let server_key = hmac::sign(&salted, b"Server Key");
        Ok((last, Expected { key: hmac::Key::new(self.hash.hmac(), server_key.as_ref()), message }))
    }
}

impl Expected {
    /// Whether the broker knows the password too.
    pub(super) fn check(&self, server_final: &[u8]) -> Result<(), String> {
        let text =
            core::str::from_utf8(server_final).map_err(|_| "the broker's proof is no text".to_owned())?;
        if let Some(error) = attribute(text, 'e') {
            return Err(format!("the broker says {error}"));
        }
        let signature = attribute(text, 'v')
            .and_then(|text| STANDARD.decode(text).ok())
            .ok_or("the broker gave no proof")?;
        hmac::verify(&self.key, &self.message, &signature)
            .map_err(|_| "the broker's proof is wrong: it does not know the password".to_owned())
    }
}

/// The value of `name=value` among values parted by commas.
fn attribute(text: &str, name: char) -> Option<&str> {
    text.split(',').find_map(|one| one.strip_prefix(name)?.strip_prefix('='))
}

/// Reads any bytes as a broker's two messages: for fuzzing.
pub(crate) fn read_any(first: &[u8], last: &[u8]) {
    let scram = Scram::with_nonce(Hash::Sha256, "user", "pencil", "r".into());
    // Hashing is not what is looked for: leave out what would take long.
    let slow = core::str::from_utf8(first)
        .ok()
        .and_then(|text| attribute(text, 'i')?.parse::<u32>().ok())
        .is_some_and(|count| count > ITERATIONS_MIN);
    if !slow && let Ok((_, expected)) = scram.prove(first) {
        let _ = expected.check(last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The exchange of RFC 7677, section 3.
    const FIRST: &[u8] =
        b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
    const LAST: &[u8] = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=";

    fn scram() -> Scram {
        Scram::with_nonce(Hash::Sha256, "user", "pencil", "rOprNGfwEbeRWgbNEkqO".into())
    }

    #[test]
    fn the_exchange_of_rfc_7677() {
        assert_eq!(scram().first(), b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
        let (proof, expected) = scram().prove(FIRST).unwrap();
        assert_eq!(
            String::from_utf8(proof).unwrap(),
            "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
        );
        expected.check(LAST).unwrap();
    }

    #[test]
    fn a_broker_that_does_not_know_the_password_is_found_out() {
        let (_, expected) = scram().prove(FIRST).unwrap();
        for bad in [
            &b"v=AAAA"[..],
            b"e=invalid-proof",
            b"",
            b"v=",
            b"v=7rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
        ] {
            assert!(expected.check(bad).is_err(), "{}", String::from_utf8_lossy(bad));
        }
    }

    #[test]
    fn challenges_that_are_none() {
        for bad in [
            "",
            "r=other,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
            "r=rOprNGfwEbeRWgbNEkqO,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
            "r=rOprNGfwEbeRWgbNEkqOx,s=,i=4096",
            "r=rOprNGfwEbeRWgbNEkqOx,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=1",
            "r=rOprNGfwEbeRWgbNEkqOx,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4294967295",
            "r=rOprNGfwEbeRWgbNEkqOx,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=x",
        ] {
            assert!(scram().prove(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn names_are_escaped() {
        let scram = Scram::with_nonce(Hash::Sha512, "a=b,c", "", "n".into());
        assert_eq!(scram.first(), b"n,,n=a=3Db=2Cc,r=n");
    }
}
