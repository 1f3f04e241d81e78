//! A budget as one JSON document.

use serde_json::{Map, Value, json};
use tenure::protocol::budget::{Check, Extent, Figures, Form, Moment};

use super::{FormFigures, Held, Report};

/// The document: what `tenure budget --json` prints.
///
/// The keys on top are those of the round as the group stands, in the form of its own members; `settled` has the same
/// for the round when everybody has what is planned. With `members` every member's bytes are listed in every form.
pub fn write(report: &Report<'_>, members: bool) -> Value {
    let group = report.budget.group();
    let mut document = Map::new();
    let mut put = |key: &str, value: Value| {
        document.insert(key.to_owned(), value);
    };
    if let Some(name) = report.group {
        put("group", json!(name));
    }
    put("assignor", json!(report.strategy.name()));
    put("version", json!(report.own.form.version));
    put("members", json!(group.members()));
    put("topics", json!(group.topology().topics()));
    put("partitions", json!(group.topology().partitions()));
    for (key, value) in figures(&report.own.now) {
        put(&key, value);
    }
    put("limit_bytes", json!(report.limits.record()));
    put("fits", json!(report.fits_now()));
    put("limits", report.now.iter().map(|check| Value::Object(held(check))).collect());
    let mut settled = figures(&report.own.settled);
    settled.insert("fits".into(), json!(report.fits_settled()));
    settled.insert("limits".into(), report.settled.iter().map(breaking).collect());
    put("settled", Value::Object(settled));
    put("formats", report.forms.iter().map(|form| format(report, form)).collect());
    put("remedies", remedies(report));
    let measured = report.measured;
    let nanos = |time: core::time::Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    put("plan_ns", json!(measured.map(|measured| nanos(measured.plan))));
    put("round_ns", json!(measured.map(|measured| nanos(measured.round))));
    put("allocations", json!(measured.and_then(|measured| measured.allocations)));
    if members {
        put("member_bytes", member_bytes(report));
    }
    if !report.assumptions.is_empty() {
        put("assumptions", json!(report.assumptions));
    }
    Value::Object(document)
}

fn extent(extent: Extent) -> Value {
    json!({"max": extent.max, "total": extent.total})
}

fn figures(figures: &Figures) -> Map<String, Value> {
    let mut map = Map::new();
    map.insert("subscription_bytes".into(), extent(figures.subscription));
    map.insert("assignment_bytes".into(), extent(figures.assignment));
    map.insert("join_request_bytes".into(), json!(figures.join_request));
    map.insert("join_response_bytes".into(), json!(figures.join_response));
    map.insert("sync_request_bytes".into(), json!(figures.sync_request));
    map.insert("group_record_bytes".into(), json!(figures.group_record));
    map.insert("group_batch_bytes".into(), json!(figures.group_batch));
    map
}

fn held(check: &Check) -> Map<String, Value> {
    let mut map = Map::new();
    map.insert("subject".into(), json!(check.subject.name()));
    map.insert("setting".into(), json!(check.setting));
    map.insert("size".into(), json!(check.size));
    map.insert("limit".into(), json!(check.limit));
    map.insert("headroom".into(), json!(check.headroom()));
    map.insert("fits".into(), json!(check.fits()));
    map
}

fn breaking(settled: &Held) -> Value {
    let mut map = held(&settled.check);
    map.insert("breaks_at_members".into(), json!(settled.members_beyond));
    map.insert("breaks_at_partitions".into(), json!(settled.partitions_beyond));
    Value::Object(map)
}

fn form_keys(form: Form) -> Map<String, Value> {
    let mut map = Map::new();
    map.insert("format".into(), json!(form.format.protocol_name()));
    map.insert("version".into(), json!(form.version));
    map.insert("user_data_version".into(), json!(form.format.user_data_version()));
    map
}

fn format(report: &Report<'_>, form: &FormFigures) -> Value {
    let mut map = form_keys(form.form);
    let fits = |figures: &Figures| report.limits.check(figures).iter().all(Check::fits);
    map.insert("tells_owned".into(), json!(form.form.tells_owned()));
    map.insert("fits".into(), json!(fits(&form.now) && fits(&form.settled)));
    map.insert("now".into(), Value::Object(figures(&form.now)));
    map.insert("settled".into(), Value::Object(figures(&form.settled)));
    Value::Object(map)
}

fn remedies(report: &Report<'_>) -> Value {
    let remedies = &report.remedies;
    json!({
        "topics": {
            "named": remedies.topics_named,
            "name_bytes": remedies.topic_name_bytes,
            "at_most": remedies.topics_at_most,
        },
        "split": remedies.split.map(|(groups, bytes)| json!({"groups": groups, "group_batch_bytes": bytes})),
        "compact": {
            "group_batch_bytes": remedies.compact,
            "fits": remedies.compact <= report.limits.record(),
            "breaks_at_members": remedies.compact_members_beyond,
        },
        "kip848": {
            "largest_record_bytes": remedies.newer.largest_record,
            "target_batch_bytes": remedies.newer.target_batch,
            "fits": remedies.newer.target_batch <= report.limits.record(),
        },
        "limit_bytes": remedies.limit,
    })
}

fn member_bytes(report: &Report<'_>) -> Value {
    let (budget, own) = (&report.budget, report.own.form.format);
    let group = budget.group();
    let member = |member| {
        let subscriptions = Form::all().map(|form| {
            let mut map = form_keys(form);
            for (key, moment) in [("now", Moment::Now), ("settled", Moment::Settled)] {
                map.insert(key.into(), json!(budget.subscription_len(form, moment, member)));
            }
            Value::Object(map)
        });
        json!({
            "member": group.id(member),
            "assignment": {
                "now": budget.assignment_len(own, Moment::Now, member),
                "settled": budget.assignment_len(own, Moment::Settled, member),
            },
            "subscriptions": subscriptions.collect::<Value>(),
        })
    };
    group.member_indices().map(member).collect()
}
