//! Raw requests over a blocking socket.

use core::time::Duration;
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use bytes::{Bytes, BytesMut};
use kafka_protocol::messages::{RequestHeader, ResponseHeader};
use kafka_protocol::protocol::{Decodable, Encodable, HeaderVersion, Request, StrBytes};

use crate::requirement::PeerError;

/// The longest answer that is believed.
const FRAME_BYTES_MAX: usize = 64 << 20;

/// How long [`Connection::ask`] waits.
const PATIENCE: Duration = Duration::from_secs(60);

/// Which request an answer belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Correlation(i32);

/// A connection to a broker: requests go out and answers are fetched, at once or later.
///
/// A broker answers the requests of a connection in order, and takes none while an answer waits: a join that
/// waits for others needs a connection of its own.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    client_id: StrBytes,
    next: i32,
    buffer: BytesMut,
    early: BTreeMap<i32, Bytes>,
}

impl Connection {
    /// Connects to `host:port` under a client id.
    ///
    /// # Errors
    ///
    /// [`PeerError::Failed`] if nobody listens there.
    pub fn open(address: &str, client_id: &str) -> Result<Self, PeerError> {
        let refused = |error| PeerError::failed(format!("no connection to {address}: {error}"));
        let stream = TcpStream::connect(address).map_err(refused)?;
        stream.set_nodelay(true).map_err(refused)?;
        let client_id = StrBytes::from_string(client_id.to_owned());
        Ok(Self { stream, client_id, next: 0, buffer: BytesMut::new(), early: BTreeMap::new() })
    }

    /// Sends a request and waits for its answer, up to a minute.
    ///
    /// # Errors
    ///
    /// [`PeerError::Failed`] if the broker hangs up, answers nonsense, or does not answer.
    pub fn ask<R: Request>(&mut self, version: i16, request: &R) -> Result<R::Response, PeerError> {
        let correlation = self.send(version, request)?;
        let answer = self.fetch::<R>(version, correlation, PATIENCE)?;
        answer.ok_or_else(|| PeerError::failed(format!("no answer to request {} within a minute", R::KEY)))
    }

    /// Sends a request.
    ///
    /// # Errors
    ///
    /// [`PeerError::Failed`] if this version of it has no room for what it says, or the broker hung up.
    pub fn send<R: Request>(&mut self, version: i16, request: &R) -> Result<Correlation, PeerError> {
        let correlation = self.next;
        self.next = self.next.wrapping_add(1);
        let header = RequestHeader::default()
            .with_request_api_key(R::KEY)
            .with_request_api_version(version)
            .with_correlation_id(correlation)
            .with_client_id(Some(self.client_id.clone()));
        let mut body = BytesMut::new();
        let encoded = header
            .encode(&mut body, R::header_version(version))
            .and_then(|()| request.encode(&mut body, version));
        encoded.map_err(|error| PeerError::failed(format!("request {} v{version}: {error}", R::KEY)))?;
        let length = u32::try_from(body.len()).map_err(|error| PeerError::failed(error.to_string()))?;
        let mut frame = length.to_be_bytes().to_vec();
        frame.extend_from_slice(&body);
        self.stream.write_all(&frame).map_err(hung_up)?;
        Ok(Correlation(correlation))
    }

    /// The answer to a request, if it comes within `patience`; `None` leaves it to a later call.
    ///
    /// # Errors
    ///
    /// [`PeerError::Failed`] if the broker hangs up or answers nonsense.
    pub fn fetch<R: Request>(
        &mut self,
        version: i16,
        correlation: Correlation,
        patience: Duration,
    ) -> Result<Option<R::Response>, PeerError> {
        self.stream.set_read_timeout(Some(patience)).map_err(hung_up)?;
        loop {
            if let Some(mut answer) = self.early.remove(&correlation.0) {
                let nonsense = |error| PeerError::failed(format!("answer to {} v{version}: {error}", R::KEY));
                ResponseHeader::decode(&mut answer, R::Response::header_version(version))
                    .map_err(nonsense)?;
                return R::Response::decode(&mut answer, version).map(Some).map_err(nonsense);
            }
            if !self.receive()? {
                return Ok(None);
            }
        }
    }

    /// Reads on; false if nothing came in time.
    fn receive(&mut self) -> Result<bool, PeerError> {
        if let Some(frame) = self.frame()? {
            let correlation = frame.get(..4).and_then(|head| head.try_into().ok()).map(i32::from_be_bytes);
            let correlation = correlation.ok_or_else(|| PeerError::failed("an answer without a header"))?;
            self.early.insert(correlation, frame);
            return Ok(true);
        }
        let mut chunk = [0; 16 << 10];
        match self.stream.read(&mut chunk) {
            Ok(0) => Err(PeerError::failed("the broker hung up")),
            Ok(length) => {
                self.buffer.extend_from_slice(chunk.get(..length).unwrap_or_default());
                Ok(true)
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => Ok(false),
            Err(error) => Err(hung_up(error)),
        }
    }

    /// The next whole answer in the buffer.
    fn frame(&mut self) -> Result<Option<Bytes>, PeerError> {
        let Some(head) = self.buffer.get(..4).and_then(|head| head.try_into().ok()) else { return Ok(None) };
        let length = usize::try_from(u32::from_be_bytes(head)).unwrap_or(usize::MAX);
        if length > FRAME_BYTES_MAX {
            return Err(PeerError::failed(format!("an answer of {length} bytes")));
        }
        if self.buffer.len() < length + 4 {
            return Ok(None);
        }
        let frame = self.buffer.split_to(length + 4).freeze();
        Ok(Some(frame.slice(4..)))
    }
}

fn hung_up(error: std::io::Error) -> PeerError {
    PeerError::failed(format!("the broker hung up: {error}"))
}
