//! Every trigger, callback, timer and error of the member; the complete table is in `member_table`.

mod callbacks;
mod commits;
mod faults;
mod leading;
mod leaving;
mod triggers;

use tenure::protocol::error::ErrorCode;
use tenure::protocol::message::HeartbeatResponse;

const COOP: &str = "cooperative-sticky";

fn heartbeat(error: ErrorCode) -> HeartbeatResponse {
    HeartbeatResponse { error, protocol_to_use: None }
}
