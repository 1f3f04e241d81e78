//! The transaction coordinator: state × event, and who gets which id and epoch.

use std::collections::BTreeMap;

use tenure::fence::transaction::{
    MarkerTarget, Producer, TransactionAction, TransactionConfig, TransactionCoordinator, TransactionKey,
    TransactionLogRecord, TransactionPhase, TransactionRecord,
};
use tenure::protocol::error::ErrorCode;
use tenure::protocol::message::*;

/// A coordinator whose log is kept and whose markers stay on their way.
struct Desk {
    coordinator: TransactionCoordinator,
    log: Vec<TransactionLogRecord>,
    markers: Vec<(MarkerTarget, TxnMarkerRequest)>,
    answers: BTreeMap<Caller, Response>,
    now_ms: u64,
    next_caller: u64,
}

impl Desk {
    fn new() -> Self {
        Self::with(TransactionConfig::default())
    }

    fn with(config: TransactionConfig) -> Self {
        Self {
            coordinator: TransactionCoordinator::new_empty(config),
            log: Vec::new(),
            markers: Vec::new(),
            answers: BTreeMap::new(),
            now_ms: 0,
            next_caller: 0,
        }
    }

    fn settle(&mut self) {
        let mut answered = false;
        while let Some(action) = self.coordinator.poll_action() {
            match action {
                TransactionAction::Append(record) => {
                    assert!(!answered, "what an answer rests on is written before it");
                    self.log.push(record);
                }
                TransactionAction::Answer { to, response } => {
                    answered = true;
                    self.answers.insert(to, response);
                }
                TransactionAction::SendMarker { target, marker } => self.markers.push((target, marker)),
                _ => unreachable!(),
            }
        }
    }

    fn ask(&mut self, request: impl Into<Request>) -> Response {
        let caller = Caller(self.next_caller);
        self.next_caller += 1;
        self.coordinator.handle_request(request.into(), caller, self.now_ms);
        self.settle();
        self.answers.remove(&caller).expect("an answer at once")
    }

    fn init(&mut self, request: InitProducerIdRequest) -> Result<Producer, ErrorCode> {
        let Response::InitProducerId(response) = self.ask(request) else { panic!() };
        response.error.ok()?;
        Ok(Producer { id: response.producer_id, epoch: response.producer_epoch })
    }

    fn acknowledge(&mut self, error: ErrorCode) {
        for (target, marker) in core::mem::take(&mut self.markers) {
            self.coordinator.handle_marker_answer(&target, &marker, error, self.now_ms);
        }
        self.settle();
    }

    fn pass(&mut self, span_ms: u64) {
        self.now_ms += span_ms;
        self.coordinator.handle_timeout(self.now_ms);
        self.settle();
    }

    fn record(&self) -> &TransactionRecord {
        self.coordinator.transaction(&TransactionKey::Id("t".into())).expect("the producer")
    }
}

fn by_id() -> InitProducerIdRequest {
    InitProducerIdRequest { transactional_id: Some("t".into()), ..InitProducerIdRequest::default() }
}

fn again(producer: Producer) -> InitProducerIdRequest {
    InitProducerIdRequest { producer_id: producer.id, producer_epoch: producer.epoch, ..by_id() }
}

fn by_group(generation: i32, transactional_id: Option<&str>) -> InitProducerIdRequest {
    InitProducerIdRequest {
        transactional_id: transactional_id.map(str::to_owned),
        transactional_group_id: Some("g".into()),
        generation_id: Some(generation),
        ..InitProducerIdRequest::default()
    }
}

fn add_offsets(Producer { id, epoch }: Producer) -> AddOffsetsToTxnRequest {
    AddOffsetsToTxnRequest {
        transactional_id: "t".into(),
        producer_id: id,
        producer_epoch: epoch,
        group_id: "g".into(),
    }
}

fn add_partition(Producer { id, epoch }: Producer) -> AddPartitionsToTxnRequest {
    AddPartitionsToTxnRequest {
        transactional_id: "t".into(),
        producer_id: id,
        producer_epoch: epoch,
        partitions: vec![TopicPartition::new("out", 0)],
    }
}

fn end(Producer { id, epoch }: Producer, committed: bool) -> EndTxnRequest {
    EndTxnRequest { transactional_id: "t".into(), producer_id: id, producer_epoch: epoch, committed }
}

macro_rules! events {
    ($($event:ident)*) => {
        /// Every kind of request, by who sends it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        enum Event { $($event),* }

        impl Event {
            const ALL: &'static [Self] = &[$(Self::$event),*];
        }
    };
}

events! {
    InitNew InitSame InitLast InitOlder
    AddPartitions AddPartitionsLast AddPartitionsOlder AddPartitionsStranger
    AddOffsets AddOffsetsLast AddOffsetsOlder AddOffsetsStranger
    Commit CommitLast CommitOlder CommitStranger
    Abort AbortLast AbortOlder AbortStranger
    MarkersWritten MarkersFailed Timeout
}

/// A producer in a phase, and the identities that may speak: its present one, the one before, an older one.
fn cast(phase: TransactionPhase) -> (Desk, [Producer; 3]) {
    let mut desk = Desk::new();
    let older = desk.init(by_id()).unwrap();
    let mut last = desk.init(by_id()).unwrap();
    let mut producer = desk.init(again(last)).unwrap();
    let committed = matches!(phase, TransactionPhase::PrepareCommit | TransactionPhase::CompleteCommit);
    if phase != TransactionPhase::Empty {
        desk.ask(add_offsets(producer)).error().ok().unwrap();
        if phase != TransactionPhase::Ongoing {
            let Response::EndTxn(response) = desk.ask(end(producer, committed)) else { panic!() };
            assert_eq!(response.error, ErrorCode::None);
            last = producer;
            producer = Producer { id: response.producer_id, epoch: response.producer_epoch };
        }
    }
    if matches!(phase, TransactionPhase::CompleteCommit | TransactionPhase::CompleteAbort) {
        desk.acknowledge(ErrorCode::None);
    }
    assert_eq!(desk.record().phase, phase);
    (desk, [producer, last, older])
}

fn outcome(event: Event, phase: TransactionPhase) -> String {
    use Event as E;
    let (mut desk, [now, last, older]) = cast(phase);
    let stranger = Producer { id: 99, epoch: 0 };
    let request: Option<Request> = match event {
        E::InitNew => Some(by_id().into()),
        E::InitSame => Some(again(now).into()),
        E::InitLast => Some(again(last).into()),
        E::InitOlder => Some(again(older).into()),
        E::AddPartitions => Some(add_partition(now).into()),
        E::AddPartitionsLast => Some(add_partition(last).into()),
        E::AddPartitionsOlder => Some(add_partition(older).into()),
        E::AddPartitionsStranger => Some(add_partition(stranger).into()),
        E::AddOffsets => Some(add_offsets(now).into()),
        E::AddOffsetsLast => Some(add_offsets(last).into()),
        E::AddOffsetsOlder => Some(add_offsets(older).into()),
        E::AddOffsetsStranger => Some(add_offsets(stranger).into()),
        E::Commit => Some(end(now, true).into()),
        E::CommitLast => Some(end(last, true).into()),
        E::CommitOlder => Some(end(older, true).into()),
        E::CommitStranger => Some(end(stranger, true).into()),
        E::Abort => Some(end(now, false).into()),
        E::AbortLast => Some(end(last, false).into()),
        E::AbortOlder => Some(end(older, false).into()),
        E::AbortStranger => Some(end(stranger, false).into()),
        E::MarkersWritten | E::MarkersFailed | E::Timeout => None,
    };
    let answer = match request {
        Some(request) => desk.ask(request).error().name(),
        None => {
            match event {
                E::MarkersWritten => desk.acknowledge(ErrorCode::None),
                E::MarkersFailed => desk.acknowledge(ErrorCode::CoordinatorLoadInProgress),
                _ => desk.pass(60_000),
            }
            "-"
        }
    };
    match desk.record().phase {
        after if after == phase => answer.to_owned(),
        after => format!("{answer}>{}", after.name()),
    }
}

#[test]
fn every_event_has_its_outcome_in_every_phase() {
    let table = include_str!("transaction_table.txt");
    let mut rows = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(|line| {
        let mut cells = line.split_whitespace();
        (cells.next().unwrap(), cells.collect::<Vec<_>>())
    });
    let (_, phases) = rows.next().unwrap();
    assert_eq!(phases, TransactionPhase::ALL.map(TransactionPhase::name));
    let mut wrong = Vec::new();
    for &event in Event::ALL {
        let (name, expected) = rows.next().expect("a row for each event");
        assert_eq!(name, format!("{event:?}"), "the rows follow the events");
        assert_eq!(expected.len(), TransactionPhase::ALL.len(), "{name}");
        for (phase, expected) in TransactionPhase::ALL.into_iter().zip(expected) {
            let seen = outcome(event, phase);
            if seen != expected {
                wrong.push(format!("{name} in {}: expected {expected}, saw {seen}", phase.name()));
            }
        }
    }
    assert_eq!(rows.next(), None, "no row without an event");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn elsewhere_and_loading_have_one_answer_each() {
    let producer = Producer { id: 0, epoch: 0 };
    let requests: [Request; 4] = [
        by_id().into(),
        add_partition(producer).into(),
        add_offsets(producer).into(),
        end(producer, true).into(),
    ];
    for request in requests {
        let mut desk = Desk::new();
        desk.coordinator.handle_resigned();
        assert_eq!(desk.ask(request.clone()).error(), ErrorCode::NotCoordinator);
        desk.coordinator.handle_elected(1);
        assert_eq!(desk.ask(request).error(), ErrorCode::CoordinatorLoadInProgress);
    }
    let mut desk = Desk::new();
    let strangers: [Request; 4] = [
        JoinGroupRequest::default().into(),
        HeartbeatRequest::default().into(),
        OffsetFetchRequest::default().into(),
        FindCoordinatorRequest::default().into(),
    ];
    for request in strangers {
        assert_eq!(desk.ask(request).error(), ErrorCode::InvalidRequest);
    }
}

#[test]
fn each_transaction_has_an_epoch_of_its_own_and_its_marker_the_next() {
    let mut desk = Desk::new();
    let mut producer = desk.init(by_id()).unwrap();
    for epoch in 1..4 {
        desk.ask(add_offsets(producer));
        let Response::EndTxn(response) = desk.ask(end(producer, true)) else { panic!() };
        assert_eq!((response.producer_epoch, desk.markers[0].1.producer_epoch), (epoch, epoch));
        desk.acknowledge(ErrorCode::None);
        // Its answer lost, the end is asked for again and answered alike.
        let Response::EndTxn(repeated) = desk.ask(end(producer, true)) else { panic!() };
        assert_eq!(repeated, response);
        producer.epoch = response.producer_epoch;
    }
}

#[test]
fn version_one_keeps_the_epoch() {
    let mut desk = Desk::with(TransactionConfig { transaction_version: 1, ..TransactionConfig::default() });
    let producer = desk.init(by_id()).unwrap();
    desk.ask(add_offsets(producer));
    let Response::EndTxn(response) = desk.ask(end(producer, true)) else { panic!() };
    assert_eq!((response.producer_epoch, desk.markers[0].1.producer_epoch), (0, 0));
    assert_eq!(desk.ask(end(producer, true)).error(), ErrorCode::ConcurrentTransactions);
    desk.acknowledge(ErrorCode::None);
    assert_eq!(desk.ask(end(producer, true)).error(), ErrorCode::None);
    assert_eq!(desk.ask(end(producer, false)).error(), ErrorCode::InvalidTxnState);
}

#[test]
fn when_the_epochs_are_used_up_a_fresh_id_is_given() {
    let mut desk = Desk::new();
    let first = desk.init(by_id()).unwrap();
    let mut record = desk.record().clone();
    record.producer.epoch = i16::MAX - 1;
    desk.log.push(TransactionLogRecord::Transaction(record));
    desk.coordinator.handle_elected(1);
    desk.coordinator.handle_records(desk.log.clone());
    desk.coordinator.handle_loaded(0);
    let producer = Producer { epoch: i16::MAX - 1, ..first };
    assert_eq!(desk.ask(add_offsets(producer)).error(), ErrorCode::None);
    let Response::EndTxn(response) = desk.ask(end(producer, true)) else { panic!() };
    assert_ne!(response.producer_id, first.id);
    assert_eq!(response.producer_epoch, 0);
    // The marker has the old id and its last epoch, so nothing of it can follow.
    let marker = &desk.markers[0].1;
    assert_eq!((marker.producer_id, marker.producer_epoch), (first.id, i16::MAX));
    desk.acknowledge(ErrorCode::None);
    assert_eq!(desk.ask(end(producer, true)).error(), ErrorCode::None, "the retry is still understood");
    let next = Producer { id: response.producer_id, epoch: 0 };
    assert_eq!(desk.ask(add_offsets(next)).error(), ErrorCode::None);
    assert_eq!(desk.ask(add_offsets(producer)).error(), ErrorCode::InvalidProducerIdMapping);
}

#[test]
fn markers_are_sent_until_they_are_written_and_no_longer() {
    let mut desk = Desk::new();
    let producer = desk.init(by_id()).unwrap();
    desk.ask(add_offsets(producer));
    desk.ask(add_partition(producer));
    desk.ask(end(producer, true));
    assert_eq!(desk.markers.len(), 2);
    let (target, marker) = desk.markers.pop().unwrap();
    desk.coordinator.handle_marker_answer(&target, &marker, ErrorCode::None, 0);
    desk.acknowledge(ErrorCode::NotCoordinator);
    assert_eq!(desk.coordinator.poll_timeout(), Some(100));
    for _ in 0..5 {
        desk.pass(100);
        assert_eq!(desk.markers.len(), 1, "only the one that is missing");
        desk.markers.clear();
    }
    desk.pass(100);
    desk.acknowledge(ErrorCode::None);
    assert_eq!(desk.record().phase, TransactionPhase::CompleteCommit);
    assert_eq!(desk.coordinator.poll_timeout(), None);
    // An answer that comes late, to a marker of this or an older transaction, is no news.
    desk.coordinator.handle_marker_answer(&target, &marker, ErrorCode::None, 0);
    assert_eq!(desk.coordinator.poll_action(), None);
    // A coordinator that was replaced does not go on.
    desk.ask(add_offsets(desk.record().producer));
    desk.ask(end(desk.record().producer, false));
    desk.acknowledge(ErrorCode::TransactionCoordinatorFenced);
    assert_eq!(desk.coordinator.poll_timeout(), None);
}

#[test]
fn timeouts_outside_the_limits_and_empty_names_are_refused() {
    let mut desk = Desk::new();
    for transaction_timeout_ms in [0, -1, 900_001] {
        let refused = desk.init(InitProducerIdRequest { transaction_timeout_ms, ..by_id() });
        assert_eq!(refused, Err(ErrorCode::InvalidTransactionTimeout));
    }
    let nameless = InitProducerIdRequest { transactional_id: Some(String::new()), ..by_id() };
    assert_eq!(desk.init(nameless), Err(ErrorCode::InvalidRequest));
    // Without any name it is an idempotent producer, of which nothing is kept.
    let idempotent = desk.init(InitProducerIdRequest::default()).unwrap();
    assert_ne!(desk.init(InitProducerIdRequest::default()).unwrap().id, idempotent.id);
    assert!(desk.log.is_empty());
}

#[test]
fn a_group_alone_gets_a_new_producer_id_each_time_and_an_id_inside_it_keeps_its_own() {
    let mut desk = Desk::new();
    let first = desk.init(by_group(3, None)).unwrap();
    let second = desk.init(by_group(3, None)).unwrap();
    assert_ne!(first.id, second.id);
    assert_eq!((first.epoch, second.epoch), (0, 0));
    // Both may have a transaction; requests name no transactional id.
    for producer in [first, second] {
        let request = AddOffsetsToTxnRequest { transactional_id: String::new(), ..add_offsets(producer) };
        assert_eq!(desk.ask(request).error(), ErrorCode::None);
    }

    // The member id, or group.instance.id, as transactional id: the producer id stays, the epoch rises.
    let member = desk.init(by_group(3, Some("member-1"))).unwrap();
    let member_again = desk.init(by_group(4, Some("member-1"))).unwrap();
    assert_eq!(member_again, Producer { epoch: 1, ..member });
    // The same word outside of the group is another producer.
    let outside = InitProducerIdRequest { transactional_id: Some("member-1".into()), ..by_id() };
    assert_ne!(desk.init(outside).unwrap().id, member.id);
}

#[test]
fn an_earlier_generation_is_refused_once_a_later_one_was_seen() {
    let mut desk = Desk::new();
    let old = desk.init(by_group(3, Some("a"))).unwrap();
    let request = |producer| AddOffsetsToTxnRequest { transactional_id: "a".into(), ..add_offsets(producer) };
    let finish =
        |producer, committed| EndTxnRequest { transactional_id: "a".into(), ..end(producer, committed) };
    assert_eq!(desk.ask(request(old)).error(), ErrorCode::None);
    desk.init(by_group(4, Some("b"))).unwrap();
    assert_eq!(desk.init(by_group(3, Some("c"))), Err(ErrorCode::IllegalGeneration));
    // Requests of a producer of the previous generation are refused, but for the abort.
    assert_eq!(desk.ask(request(old)).error(), ErrorCode::IllegalGeneration);
    assert_eq!(desk.ask(finish(old, true)).error(), ErrorCode::IllegalGeneration);
    assert_eq!(desk.ask(finish(old, false)).error(), ErrorCode::None);
    desk.acknowledge(ErrorCode::None);
    // "The only thing other group members can do is call InitProducerId themselves."
    let new = desk.init(by_group(4, Some("a"))).unwrap();
    assert_eq!(desk.ask(request(new)).error(), ErrorCode::None);
    // A new coordinator has not forgotten.
    desk.coordinator.handle_elected(1);
    desk.coordinator.handle_records(desk.log.clone());
    desk.coordinator.handle_loaded(0);
    assert_eq!(desk.init(by_group(3, Some("c"))), Err(ErrorCode::IllegalGeneration));
    // Without a generation (the later text of the draft has no such field) the group's coordinator fences.
    let silent = InitProducerIdRequest { generation_id: None, ..by_group(0, Some("d")) };
    assert!(desk.init(silent).is_ok());
}

#[test]
fn idle_producers_are_forgotten_and_busy_ones_are_not() {
    let mut desk = Desk::with(TransactionConfig { idle_max_ms: 1_000, ..TransactionConfig::default() });
    let producer = desk.init(by_id()).unwrap();
    desk.init(by_group(1, None)).unwrap();
    desk.now_ms = 1_500;
    desk.ask(add_offsets(producer));
    desk.coordinator.handle_cleanup(2_499);
    desk.settle();
    assert_eq!(desk.coordinator.transactions().count(), 1);
    desk.coordinator.handle_cleanup(50_000);
    assert_eq!(desk.coordinator.transactions().count(), 1, "its transaction is open");
    desk.ask(end(producer, false));
    desk.acknowledge(ErrorCode::None);
    desk.coordinator.handle_cleanup(50_000);
    desk.settle();
    assert_eq!(desk.ask(add_offsets(desk_last(producer))).error(), ErrorCode::InvalidProducerIdMapping);
    // Their records are gone with them.
    desk.coordinator.handle_elected(1);
    desk.coordinator.handle_records(desk.log.clone());
    desk.coordinator.handle_loaded(0);
    assert_eq!(desk.coordinator.transactions().count(), 0);
}

fn desk_last(producer: Producer) -> Producer {
    Producer { epoch: producer.epoch + 1, ..producer }
}
