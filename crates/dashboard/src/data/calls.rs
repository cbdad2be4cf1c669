//! The recorded calls of the API, and the limits under which they are made.

use std::sync::Arc;

use scandeck_client::calls::ApiCall;
use scandeck_domain::table::Table;

use crate::base::PollBudget;

/// The recorded calls, and the limits under which they are made.
#[derive(Clone, Debug)]
pub struct RecordedCalls {
    pub table: Arc<Table<ApiCall>>,
    /// The rate budget of reads, if the service announces it.
    pub budget: Option<PollBudget>,
    /// Memory of this process in bytes, where the system reports it.
    pub memory: Option<u64>,
}
