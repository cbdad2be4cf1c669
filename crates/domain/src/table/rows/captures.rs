//! Fields of captured requests and of the tokens recognized in them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::oob::{Agent, Mention, Payload};
use crate::query::{ColumnBuilder, Field, Flag, QueryKind};
use crate::table::row::{flags, put, target_name};
use crate::table::{Item, OtherLists, Row, SortOrder};
use scandeck_wire::contract::{Capture, CaptureId, Shared};

impl Row for Capture {
    const KIND: QueryKind = QueryKind::Captures;

    fn search_text(&self, to: &mut String) {
        put(
            to,
            &[
                &self.request_method,
                &self.ip_address,
                &self.url_params,
                &self.user_agent,
            ],
        );
        put(to, &[self.path.as_deref().unwrap_or_default()]);
    }

    fn write_field(&self, field: Field, _: &dyn OtherLists, to: &mut ColumnBuilder) {
        match field {
            Field::Id => to.whole(self.id.0),
            Field::From => to.shared(&self.ip_address),
            Field::Method => to.shared(&self.request_method),
            Field::Query => to.shared(&self.url_params),
            Field::Agent => to.shared(&self.user_agent),
            Field::Os => to.shared(&self.os),
            Field::Header => self.http_headers.iter().for_each(|line| to.shared(line)),
            Field::BodyType => to.shared(&self.request_body_type),
            Field::Body => {
                if let Ok(body) = STANDARD.decode(self.request_body_base64.as_bytes()) {
                    to.text(&String::from_utf8_lossy(&body));
                }
            }
            Field::Time => to.time(self.request_date),
            Field::Path => self.path.iter().for_each(|path| to.shared(path)),
            Field::HttpVersion => self
                .http_version
                .iter()
                .for_each(|version| to.shared(version)),
            Field::Port => self.remote_port.into_iter().for_each(|port| to.whole(port)),
            Field::Is => flags(to, &[(Flag::Body, !self.request_body_base64.is_empty())]),
            _ => {}
        }
    }
}

impl Item for Capture {
    type Id = CaptureId;
    /// Captures have one order, that of the stream.
    const SORTS: &'static [SortOrder<Self>] = &[SortOrder {
        name: "time",
        compare: |a, b| a.id.cmp(&b.id),
    }];
    fn id(&self) -> CaptureId {
        self.id
    }
}

/// A captured request with its recognized tokens.
#[derive(Clone, Copy, Debug)]
pub struct RecognizedCapture<'a> {
    /// The request.
    pub capture: &'a Capture,
    /// Whether it has a body, which `capture` may lack.
    pub has_body: bool,
    /// Label of its logger.
    pub label: &'a Shared,
    /// Tokens in the request.
    pub mentions: &'a [Mention],
}

impl Row for RecognizedCapture<'_> {
    const KIND: QueryKind = QueryKind::Captures;

    fn search_text(&self, to: &mut String) {
        self.capture.search_text(to);
    }

    fn write_field(&self, field: Field, others: &dyn OtherLists, to: &mut ColumnBuilder) {
        let payloads = self
            .mentions
            .iter()
            .filter_map(|mention| others.payload(mention.token));
        match field {
            Field::Logger => to.shared(self.label),
            Field::Payload => self
                .mentions
                .iter()
                .for_each(|mention| to.text(&mention.token.to_string())),
            Field::Planted => payloads.for_each(|payload| payload.write_field(field, others, to)),
            Field::Number => payloads
                .filter_map(|payload| payload.number)
                .for_each(|number| to.whole(number)),
            Field::Batch => payloads.for_each(|payload| to.shared(&payload.batch)),
            Field::Technique => payloads.for_each(|payload| to.shared(&payload.technique)),
            Field::Target => {
                payloads.for_each(|payload| target_name(to, Some(&payload.target)));
                others
                    .targets_of(self.capture)
                    .iter()
                    .for_each(|target| target_name(to, Some(target)));
            }
            Field::Delay => {
                let delay = |payload: &Payload| {
                    payload.delay(self.capture.request_date, others.clock_offset())
                };
                payloads
                    .for_each(|payload| to.maybe(delay(payload).map(|delay| delay.seconds as f64)));
            }
            Field::Is => {
                let known = self.mentions.iter().any(|mention| mention.known);
                let unknown = !known && !self.mentions.is_empty();
                flags(
                    to,
                    &[
                        (Flag::Body, self.has_body),
                        (Flag::Known, known),
                        (Flag::UnknownToken, unknown),
                        (Flag::Bot, Agent::of(&self.capture.user_agent).is_some()),
                        (Flag::Manual, others.is_own(self.capture)),
                    ],
                );
            }
            _ => self.capture.write_field(field, others, to),
        }
    }
}
