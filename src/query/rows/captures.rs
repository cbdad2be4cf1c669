//! What a captured request tells.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::{flags, put};
use crate::contract::Capture;
use crate::query::column::Builder;
use crate::query::row::{Others, Row};
use crate::query::{Field, Flag, Kind};

impl Row for Capture {
    const KIND: Kind = Kind::Captures;

    fn search_text(&self, to: &mut String) {
        put(to, &[&self.request_method, &self.ip_address, &self.url_params, &self.user_agent]);
        put(to, &[self.path.as_deref().unwrap_or_default()]);
    }

    fn tell(&self, field: Field, _: &dyn Others, to: &mut Builder) {
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
            Field::HttpVersion => self.http_version.iter().for_each(|version| to.shared(version)),
            Field::Port => self.remote_port.into_iter().for_each(|port| to.whole(port)),
            Field::Is => flags(to, &[(Flag::Body, !self.request_body_base64.is_empty())]),
            _ => {}
        }
    }
}
