//! One connection to one broker: requests out, answers in, in order, with bounds in bytes and time.
//!
//! ```text
//! submit ──► channel ──► [out buffer] ──► socket          one task owns the socket; each of its waits can be
//!   reply ◄── oneshot ◄── queue, in order ◄── [in buffer] ◄┘   dropped half-way without losing a byte
//! ```
//!
//! A connection that is late, that answers out of order or too long is closed, and all that waits is told why.

use core::time::Duration;
use std::collections::VecDeque;
use std::sync::Arc;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use kafka_protocol::messages::RequestHeader;
use kafka_protocol::protocol::{Decodable, Encodable, HeaderVersion, Request, StrBytes};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until};

use crate::error::ClientError;
use crate::shape;
use crate::versions::{Versions, name_of};

/// A stream of bytes, secured or not.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// A connection. Clones share it; the socket closes with the last one.
#[derive(Debug, Clone)]
pub(crate) struct Connection {
    inner: Arc<Inner>,
    versions: Arc<Versions>,
}

#[derive(Debug)]
struct Inner {
    address: Arc<str>,
    client_id: StrBytes,
    outgoing: mpsc::UnboundedSender<Outgoing>,
    task: AbortHandle,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A request that was put into the queue, in order; its answer can be awaited anywhere.
#[derive(Debug)]
pub(crate) struct Reply<R> {
    connection: Connection,
    version: i16,
    answer: oneshot::Receiver<Result<Bytes, ClientError>>,
    request: core::marker::PhantomData<fn() -> R>,
}

#[derive(Debug)]
struct Outgoing {
    /// Length, header and body; the correlation id is filled in when it is written.
    frame: BytesMut,
    name: &'static str,
    timeout: Duration,
    answer: oneshot::Sender<Result<Bytes, ClientError>>,
}

impl Connection {
    /// Starts to serve a stream. Before versions are known only ApiVersions can be asked.
    pub(crate) fn start(
        stream: Box<dyn Stream>,
        address: Arc<str>,
        client_id: &str,
        frame_max: usize,
    ) -> Self {
        let (outgoing, requests) = mpsc::unbounded_channel();
        let io = Io {
            stream,
            address: address.clone(),
            frame_max,
            requests,
            waiting: VecDeque::new(),
            out: BytesMut::new(),
            flushed: true,
            input: BytesMut::new(),
            correlation: 0,
            heard: Instant::now(),
        };
        let task = tokio::spawn(io.run()).abort_handle();
        let client_id = StrBytes::from_string(client_id.to_owned());
        let inner = Inner { address, client_id, outgoing, task };
        Self { inner: Arc::new(inner), versions: Arc::default() }
    }

    /// The same connection with the versions that its broker told.
    pub(crate) fn with_versions(self, versions: Versions) -> Self {
        Self { versions: Arc::new(versions), ..self }
    }

    pub(crate) fn address(&self) -> &Arc<str> {
        &self.inner.address
    }

    /// Whether it still works, as far as is known.
    pub(crate) fn is_open(&self) -> bool {
        !self.inner.outgoing.is_closed()
    }

    /// The version in which a request would be written.
    pub(crate) fn version<R: Request>(&self) -> Result<i16, ClientError> {
        self.versions.pick(R::KEY)
    }

    /// Puts a request into the queue. What is queued first is sent first.
    pub(crate) fn submit<R: Request>(
        &self,
        version: i16,
        request: &R,
        timeout: Duration,
    ) -> Result<Reply<R>, ClientError> {
        let name = name_of(R::KEY);
        let frame = self.frame(version, request).map_err(|error| {
            ClientError::config(name, format!("not to be written in version {version}"), error.to_string())
        })?;
        let (sender, answer) = oneshot::channel();
        let outgoing = Outgoing { frame, name, timeout, answer: sender };
        self.inner.outgoing.send(outgoing).map_err(|_| self.closed())?;
        Ok(Reply { connection: self.clone(), version, answer, request: core::marker::PhantomData })
    }

    /// Sends a request in the newest version in common and waits for its answer.
    pub(crate) async fn call<R: Request>(
        &self,
        request: &R,
        timeout: Duration,
    ) -> Result<R::Response, ClientError> {
        let version = self.version::<R>()?;
        self.submit(version, request, timeout)?.wait().await
    }

    fn frame<R: Request>(
        &self,
        version: i16,
        request: &R,
    ) -> Result<BytesMut, impl core::fmt::Display + use<R>> {
        let header = RequestHeader::default()
            .with_request_api_key(R::KEY)
            .with_request_api_version(version)
            .with_client_id(Some(self.inner.client_id.clone()));
        let mut frame = BytesMut::new();
        frame.put_i32(0);
        let written = header
            .encode(&mut frame, R::header_version(version))
            .and_then(|()| request.encode(&mut frame, version));
        written.map(|()| {
            let length = i32::try_from(frame.len().saturating_sub(4)).unwrap_or(i32::MAX);
            frame[..4].copy_from_slice(&length.to_be_bytes());
            frame
        })
    }

    fn closed(&self) -> ClientError {
        ClientError::Disconnected { address: self.inner.address.clone(), detail: "it is closed".into() }
    }
}

impl<R: Request> Reply<R> {
    /// Waits for the answer and reads it.
    pub(crate) async fn wait(self) -> Result<R::Response, ClientError> {
        let bytes = match self.answer.await {
            Ok(answer) => answer?,
            Err(_) => return Err(self.connection.closed()),
        };
        read_answer::<R>(self.version, bytes).map_err(|detail| ClientError::Malformed {
            address: self.connection.inner.address.clone(),
            request: name_of(R::KEY),
            detail,
        })
    }
}

/// An answer's frame, without its length, as a message. ApiVersions falls back to version 0 by itself: so a broker
/// that does not know the version asked for can still answer.
fn read_answer<R: Request>(version: i16, mut bytes: Bytes) -> Result<R::Response, String> {
    let header = <R::Response as HeaderVersion>::header_version(version);
    let skip = shape::check_header(header, &bytes)?;
    bytes.advance(skip.min(bytes.len()));
    let fallback = R::KEY == API_VERSIONS && bytes.starts_with(&UNSUPPORTED_VERSION);
    let version = if fallback { 0 } else { version };
    shape::check(R::KEY, version, &bytes)?;
    R::Response::decode(&mut bytes, version).map_err(|error| error.to_string())
}

/// Reads any bytes as the answer to the request with this number, as if a broker had sent them: for fuzzing.
#[doc(hidden)]
pub fn read_any_answer(api_key: i16, version: i16, body: &[u8]) -> Result<(), String> {
    use kafka_protocol::messages as m;
    macro_rules! answers {
        ($($request:ty),*) => {
            match api_key {
                $( <$request as Request>::KEY => {
                    shape::check(api_key, version, body)?;
                    <$request as Request>::Response::decode(&mut Bytes::copy_from_slice(body), version)
                        .map(drop)
                        .map_err(|error| error.to_string())
                } )*
                _ => Err(format!("no table for API {api_key}")),
            }
        };
    }
    answers!(
        m::MetadataRequest,
        m::OffsetCommitRequest,
        m::OffsetFetchRequest,
        m::FindCoordinatorRequest,
        m::JoinGroupRequest,
        m::HeartbeatRequest,
        m::LeaveGroupRequest,
        m::SyncGroupRequest,
        m::DescribeGroupsRequest,
        m::ListGroupsRequest,
        m::SaslHandshakeRequest,
        m::ApiVersionsRequest,
        m::CreateTopicsRequest,
        m::DeleteTopicsRequest,
        m::InitProducerIdRequest,
        m::AddOffsetsToTxnRequest,
        m::EndTxnRequest,
        m::TxnOffsetCommitRequest,
        m::SaslAuthenticateRequest,
        m::CreatePartitionsRequest
    )
}

/// So much room there is at least for each read.
const READ_BYTES: usize = 8 * 1024;
const API_VERSIONS: i16 = 18;
const UNSUPPORTED_VERSION: [u8; 2] = 35_i16.to_be_bytes();

/// A request that waits for its answer.
#[derive(Debug)]
struct Waiting {
    correlation: i32,
    name: &'static str,
    sent: Instant,
    timeout: Duration,
    answer: oneshot::Sender<Result<Bytes, ClientError>>,
}

/// The task that owns the socket.
struct Io {
    stream: Box<dyn Stream>,
    address: Arc<str>,
    frame_max: usize,
    requests: mpsc::UnboundedReceiver<Outgoing>,
    waiting: VecDeque<Waiting>,
    out: BytesMut,
    flushed: bool,
    input: BytesMut,
    correlation: i32,
    /// When the last answer came: a broker answers one after the other, so a later one can't be late before.
    heard: Instant,
}

impl Io {
    async fn run(mut self) {
        let error = self.serve().await;
        self.requests.close();
        for one in self.waiting.drain(..) {
            let _ = one.answer.send(Err(error.clone()));
        }
        while let Ok(one) = self.requests.try_recv() {
            let _ = one.answer.send(Err(error.clone()));
        }
        let _ = self.stream.shutdown().await;
    }

    /// Works until something ends it, and tells what.
    async fn serve(&mut self) -> ClientError {
        let (mut reader, mut writer) = tokio::io::split(&mut self.stream);
        let broken = |detail: &dyn core::fmt::Display| ClientError::Disconnected {
            address: self.address.clone(),
            detail: detail.to_string(),
        };
        loop {
            match take_frame(&mut self.input, self.frame_max) {
                Ok(Some(frame)) => {
                    self.heard = Instant::now();
                    let Some(first) = self.waiting.pop_front() else {
                        return broken(&"an answer to nothing");
                    };
                    let told = frame.first_chunk().map(|bytes| i32::from_be_bytes(*bytes));
                    if told != Some(first.correlation) {
                        let detail = format!("correlation id {told:?} in place of {}", first.correlation);
                        let (address, request) = (self.address.clone(), first.name);
                        let error = ClientError::Malformed { address, request, detail };
                        let _ = first.answer.send(Err(error.clone()));
                        return error;
                    }
                    let _ = first.answer.send(Ok(frame));
                    continue;
                }
                Ok(None) => {}
                Err(length) => {
                    let (address, limit) = (self.address.clone(), self.frame_max);
                    return ClientError::FrameTooLarge { address, length, limit };
                }
            }
            self.input.reserve(READ_BYTES);
            let due = self.waiting.front().map(|first| first.sent.max(self.heard) + first.timeout);
            tokio::select! {
                request = self.requests.recv() => match request {
                    Some(request) => {
                        self.correlation = self.correlation.wrapping_add(1) & i32::MAX;
                        let mut frame = request.frame;
                        frame[8..12].copy_from_slice(&self.correlation.to_be_bytes());
                        self.out.unsplit(frame);
                        self.waiting.push_back(Waiting {
                            correlation: self.correlation,
                            name: request.name,
                            sent: Instant::now(),
                            timeout: request.timeout,
                            answer: request.answer,
                        });
                    }
                    None => return broken(&"it is closed"),
                },
                read = reader.read_buf(&mut self.input) => match read {
                    Ok(0) => return broken(&"the broker closed it"),
                    Ok(_) => {}
                    Err(error) => return broken(&error),
                },
                pushed = push(&mut writer, &mut self.out), if !self.out.is_empty() || !self.flushed => match pushed {
                    Ok(flushed) => self.flushed = flushed,
                    Err(error) => return broken(&error),
                },
                () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {
                    let (request, after) =
                        self.waiting.front().map_or(("", Duration::ZERO), |first| (first.name, first.timeout));
                    let after_ms = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
                    return ClientError::TimedOut { address: self.address.clone(), request, after_ms };
                }
            }
        }
    }
}

/// Hands bytes to the socket, or sees them off when it has them all: one wait, which can be dropped without losing any.
/// True if nothing is left.
async fn push(writer: &mut (impl AsyncWrite + Unpin), out: &mut BytesMut) -> std::io::Result<bool> {
    if out.is_empty() {
        return writer.flush().await.map(|()| true);
    }
    match writer.write_buf(out).await? {
        0 => Err(std::io::ErrorKind::WriteZero.into()),
        _ => Ok(false),
    }
}

/// Takes a whole frame out of the buffer, without its length; an error is the length that is not allowed.
///
/// The buffer grows with what has arrived, never by what a length says.
fn take_frame(input: &mut BytesMut, frame_max: usize) -> Result<Option<Bytes>, i32> {
    let Some(&length) = input.first_chunk::<4>() else { return Ok(None) };
    let length = i32::from_be_bytes(length);
    match usize::try_from(length) {
        // A correlation id is the least that an answer has.
        Ok(len) if (4..=frame_max).contains(&len) => {
            if input.len().saturating_sub(4) < len {
                return Ok(None);
            }
            input.advance(4);
            Ok(Some(input.split_to(len).freeze()))
        }
        _ => Err(length),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_taken_whole() {
        let mut input = BytesMut::new();
        let bytes = [0, 0, 0, 5, 1, 2, 3, 4, 5, 0, 0, 0, 4, 9, 9, 9, 9];
        let mut frames = Vec::new();
        for byte in bytes {
            input.put_u8(byte);
            frames.extend(take_frame(&mut input, 100).unwrap());
        }
        assert_eq!(frames, [Bytes::from_static(&[1, 2, 3, 4, 5]), Bytes::from_static(&[9, 9, 9, 9])]);
        assert!(input.is_empty());
    }

    #[test]
    fn lengths_that_are_none_are_refused_at_once() {
        for (length, frame_max) in
            [(-1, 100), (0, 100), (3, 100), (101, 100), (i32::MAX, 1 << 20), (i32::MIN, 100)]
        {
            let mut input = BytesMut::from(&length.to_be_bytes()[..]);
            assert_eq!(take_frame(&mut input, frame_max), Err(length));
            assert!(input.capacity() < 64);
        }
        // What a TLS listener says to a plain client: an alert.
        let mut input = BytesMut::from(&[0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x50][..]);
        assert!(take_frame(&mut input, 100 << 20).is_err());
    }

    #[test]
    fn a_count_beyond_the_bytes_reserves_nothing() {
        // Metadata 4: throttle time, then two thousand million brokers.
        let body = [0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff];
        let error = read_any_answer(3, 4, &body).unwrap_err();
        assert!(error.contains("brokers"), "{error}");
    }
}
