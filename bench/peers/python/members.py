"""Consumers in one process, driven by lines: see java/members/MemberHost.java for the lines and what is printed.

The argument says which client: librdkafka (confluent-kafka) or kafka-python.
"""

import json
import sys
import threading
import time

PRINTING = threading.Lock()


def tell(name, event, **rest):
    line = json.dumps({"at": time.monotonic_ns(), "member": name, "event": event, **rest})
    with PRINTING:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def listed(partitions):
    return [f"{one.topic}-{one.partition}" for one in partitions]


class Librdkafka(threading.Thread):
    def __init__(self, settings):
        super().__init__(daemon=True)
        self.settings = settings
        self.name = settings["name"]
        self.ends = False
        self.consumed = {}

    def run(self):
        from confluent_kafka import Consumer, TopicPartition

        self.partition = TopicPartition
        config = {
            "bootstrap.servers": self.settings["bootstrap"],
            "group.id": self.settings["group"],
            "client.id": self.name,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "session.timeout.ms": int(self.settings["session_ms"]),
            "heartbeat.interval.ms": 200,
            "max.poll.interval.ms": 30000,
            "topic.metadata.refresh.interval.ms": 1000,
            "fetch.wait.max.ms": 50,
            "partition.assignment.strategy": self.settings["strategies"],
        }
        if "instance" in self.settings:
            config["group.instance.id"] = self.settings["instance"]
        consumer = Consumer(config)
        consumer.subscribe(
            self.settings["topics"].split(","),
            on_assign=lambda _, partitions: tell(self.name, "assigned", partitions=listed(partitions)),
            on_revoke=self.revoked,
            on_lost=lambda _, partitions: tell(self.name, "lost", partitions=listed(partitions)),
        )
        while not self.ends:
            records = consumer.consume(num_messages=100, timeout=0.05)
            spans = {}
            for record in records:
                if record.error():
                    tell(self.name, "error", text=str(record.error()))
                    continue
                key = (record.topic(), record.partition())
                low, high = spans.get(key, (record.offset(), record.offset() + 1))
                spans[key] = (min(low, record.offset()), max(high, record.offset() + 1))
            for (topic, partition), (low, high) in spans.items():
                where = listed([TopicPartition(topic, partition)])
                self.consumed[(topic, partition)] = high
                tell(self.name, "records", partitions=where, **{"from": low, "to": high})
            if spans:
                self.commit(consumer)
        consumer.close()
        tell(self.name, "closed", partitions=[])

    def commit(self, consumer):
        offsets = [self.partition(topic, partition, high) for (topic, partition), high in self.consumed.items()]
        if not offsets:
            return
        try:
            consumer.commit(offsets=offsets, asynchronous=False)
            self.consumed.clear()
        except Exception as refused:
            tell(self.name, "refused", text=str(refused))

    def revoked(self, consumer, partitions):
        self.commit(consumer)
        tell(self.name, "revoked", partitions=listed(partitions))


class KafkaPython(threading.Thread):
    def __init__(self, settings):
        super().__init__(daemon=True)
        self.settings = settings
        self.name = settings["name"]
        self.ends = False
        self.consumed = {}

    def run(self):
        from kafka import KafkaConsumer
        from kafka.consumer.subscription_state import ConsumerRebalanceListener
        from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
        from kafka.coordinator.assignors.range import RangePartitionAssignor
        from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
        from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

        member = self

        class Listener(ConsumerRebalanceListener):
            def on_partitions_assigned(self, assigned):
                tell(member.name, "assigned", partitions=listed(assigned))

            def on_partitions_revoked(self, revoked):
                member.commit(consumer)
                tell(member.name, "revoked", partitions=listed(revoked))

            def on_partitions_lost(self, lost):
                tell(member.name, "lost", partitions=listed(lost))

        assignors = {
            "range": RangePartitionAssignor,
            "roundrobin": RoundRobinPartitionAssignor,
            "sticky": StickyPartitionAssignor,
            "cooperative-sticky": CooperativeStickyAssignor,
        }
        consumer = KafkaConsumer(
            bootstrap_servers=self.settings["bootstrap"],
            group_id=self.settings["group"],
            client_id=self.name,
            group_instance_id=self.settings.get("instance"),
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            session_timeout_ms=int(self.settings["session_ms"]),
            heartbeat_interval_ms=200,
            max_poll_interval_ms=30000,
            metadata_max_age_ms=1000,
            fetch_max_wait_ms=50,
            partition_assignment_strategy=[assignors[one] for one in self.settings["strategies"].split(",")],
        )
        consumer.subscribe(self.settings["topics"].split(","), listener=Listener())
        while not self.ends:
            polled = consumer.poll(timeout_ms=50)
            for partition, records in polled.items():
                low, high = records[0].offset, records[-1].offset + 1
                self.consumed[partition] = high
                tell(self.name, "records", partitions=listed([partition]), **{"from": low, "to": high})
            if polled:
                self.commit(consumer)
        consumer.close()
        tell(self.name, "closed", partitions=[])

    def commit(self, consumer):
        from kafka.structs import OffsetAndMetadata

        if not self.consumed:
            return
        try:
            consumer.commit({one: OffsetAndMetadata(high, "", -1) for one, high in self.consumed.items()})
            self.consumed.clear()
        except Exception as refused:
            tell(self.name, "refused", text=repr(refused))


def guarded(kind):
    class Guarded(kind):
        def run(self):
            try:
                super().run()
            except BaseException as failed:
                tell(self.name, "error", text=repr(failed))
                tell(self.name, "closed", partitions=[])

    return Guarded


def main():
    kind = guarded({"librdkafka": Librdkafka, "kafka-python": KafkaPython}[sys.argv[1]])
    members = {}
    for line in sys.stdin:
        words = line.split()
        if words[0] == "start":
            settings = dict(word.split("=", 1) for word in words[1:])
            members[settings["name"]] = kind(settings)
            members[settings["name"]].start()
        elif words[0] == "close":
            members[words[1]].ends = True
    for member in members.values():
        member.ends = True
    for member in members.values():
        member.join(10)


main()
