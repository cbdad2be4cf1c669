//! What a finding tells: as a scan told it, as a row of the list, and with what was decided.

use std::cmp::max;

use jiff::tz::TimeZone;

use super::{flags, put, shared, tool};
use crate::contract::{Finding, Stamp};
use crate::query::column::Builder;
use crate::query::row::{Others, Row};
use crate::query::{Field, Flag, Kind};
use crate::triage::case::{Again, Source};
use crate::triage::{Case, Presence, Stance};

impl Row for Finding {
    const KIND: Kind = Kind::Findings;

    fn search_text(&self, to: &mut String) {
        put(to, &[&self.name, self.risk_level.as_str(), &self.vuln_id, &self.cwe, &self.service, &self.status]);
        for cve in &self.cve {
            put(to, &[cve]);
        }
        put(to, &[&self.port.to_string()]);
    }

    fn tell(&self, field: Field, others: &dyn Others, to: &mut Builder) {
        let of_target = self.target_id.and_then(|target| others.target_name(target));
        match field {
            Field::Id => to.whole(self.id.0),
            Field::Name => to.shared(&self.name),
            Field::Risk | Field::Severity => to.whole(self.risk_level.level()),
            Field::Target => shared(to, of_target.or(self.target_name.as_ref())),
            Field::TargetId => self.target_id.into_iter().for_each(|id| to.whole(id.0)),
            Field::Workspace => shared(to, self.target_id.and_then(|target| others.workspace_name(target))),
            Field::Scan => self.task_id.into_iter().for_each(|id| to.whole(id.0)),
            Field::Tool => self.task_id.and_then(|scan| others.tool(scan)).into_iter().for_each(|id| tool(to, id)),
            Field::Scanner => to.text(if self.confirmed { "proven" } else { "unproven" }),
            Field::Class | Field::VulnId => to.shared(&self.vuln_id),
            Field::Cve => self.cve.iter().for_each(|cve| to.shared(cve)),
            Field::Cwe => cwes(&self.cwe, to),
            Field::Owasp => {
                let owasp = &self.owasp;
                [&owasp.owasp_2017, &owasp.owasp_2021, &owasp.owasp_2025].into_iter().for_each(|name| to.shared(name));
            }
            Field::Port if self.port > 0 => to.whole(self.port),
            Field::Protocol => to.shared(&self.protocol),
            Field::Service => to.shared(&self.service),
            Field::Epss => to.maybe(self.epss_score),
            Field::Percentile => to.maybe(self.epss_percentile),
            Field::Cvss => to.maybe(self.cvss),
            Field::CvssV3 => to.maybe(self.cvssv3),
            Field::Screenshots => to.maybe(self.screenshots.map(|count| count as f64)),
            Field::Is => flags(
                to,
                &[
                    (Flag::Kev, self.in_cisa_catalog),
                    (Flag::Proven, self.confirmed),
                    (Flag::Verified, self.verified),
                    (Flag::Nothing, self.vuln_id.starts_with("NONVULN-")),
                ],
            ),
            _ => self.tell_text(field, to),
        }
    }
}

impl Finding {
    fn tell_text(&self, field: Field, to: &mut Builder) {
        match field {
            Field::Status => to.shared(&self.status),
            Field::Test => to.shared(&self.test_description),
            Field::Description => to.shared(&self.vuln_description),
            Field::RiskDescription => to.shared(&self.risk_description),
            Field::Evidence => to.text(self.vuln_evidence.as_json()),
            Field::Recommendation => to.shared(&self.recommendation),
            Field::Reference => self.references.iter().for_each(|reference| to.shared(reference)),
            _ => {}
        }
    }
}

/// `CWE-79`, `79`, or several of them.
fn cwes(text: &crate::contract::Shared, to: &mut Builder) {
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !text.contains([',', ';', ' ']) && !plain(text) {
        return to.shared(text);
    }
    for one in text.split([',', ';', ' ']).filter(|one| !one.is_empty()) {
        if plain(one) { to.text(&format!("CWE-{one}")) } else { to.text(one) }
    }
}

impl Row for Case {
    const KIND: Kind = Kind::Findings;

    fn search_text(&self, to: &mut String) {
        self.finding.search_text(to);
    }

    fn tell(&self, field: Field, others: &dyn Others, to: &mut Builder) {
        if field.is_of_decision() {
            return Judged { case: self, stance: &Stance::default() }.tell(field, others, to);
        }
        match field {
            Field::Id => self.finding_ids().for_each(|id| to.whole(id.0)),
            Field::Scan if !self.earlier.is_empty() => {
                self.earlier.iter().filter_map(|one| one.finding.task_id).for_each(|id| to.whole(id.0));
            }
            Field::Target if self.finding.target_id.is_none() => {
                shared(to, self.finding.target_name.as_ref().or(Some(&self.identity.asset)));
            }
            Field::Presence => to.text(self.presence.as_str()),
            Field::First => to.time(self.first_seen),
            Field::Seen => to.time(self.last_seen),
            Field::Class => to.shared(&self.identity.class),
            Field::Asset => to.shared(&self.identity.asset),
            Field::Key => to.text(&self.key().to_string()),
            Field::Is => {
                self.finding.tell(field, others, to);
                let presence = match self.presence {
                    Presence::New => Flag::New,
                    Presence::Unchanged => Flag::Unchanged,
                    Presence::Updated => Flag::Updated,
                    Presence::Reappeared => Flag::Reappeared,
                    Presence::NotRetested => Flag::NotRetested,
                    Presence::Absent => Flag::Absent,
                };
                let own = self.own.is_some();
                flags(to, &[(presence, true), (Flag::Own, own), (Flag::Offered, self.offered.is_some())]);
            }
            _ => self.finding.tell(field, others, to),
        }
    }
}

/// A row with what was decided about it.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Judged<'a> {
    pub case: &'a Case,
    pub stance: &'a Stance,
}

impl Row for Judged<'_> {
    const KIND: Kind = Kind::Findings;

    fn search_text(&self, to: &mut String) {
        self.case.search_text(to);
    }

    fn tell(&self, field: Field, others: &dyn Others, to: &mut Builder) {
        let stance = self.stance;
        match field {
            Field::Severity => to.whole(stance.severity.unwrap_or(self.case.risk_level).level()),
            Field::Verdict => to.text(stance.verdict.as_str()),
            Field::Reason => stance.reason.into_iter().for_each(|reason| to.text(reason.as_str())),
            Field::By => shared(to, stance.who.as_ref()),
            Field::Source => to.text(match stance.source {
                Source::Person => "person",
                Source::Rule(_) => "rule",
                Source::Service => "service",
                Source::Nobody => "nobody",
            }),
            Field::Decided => to.time(stance.at),
            Field::Until => to.time(stance.until.and_then(|day| {
                // It holds to the end of its last day.
                let end = day.at(23, 59, 59, 0).to_zoned(TimeZone::UTC).ok()?;
                Some(Stamp(end.timestamp()))
            })),
            Field::Tag => stance.tags.iter().for_each(|tag| to.shared(tag)),
            Field::Note => others.notes(self.case.key()).into_iter().for_each(|note| to.shared(note)),
            Field::Duplicate => stance.duplicate_of.into_iter().for_each(|key| to.text(&key.to_string())),
            Field::Changed => to.time(self.changed()),
            Field::Decision => self.tell_flags(to),
            _ => self.case.tell(field, others, to),
        }
    }
}

impl Judged<'_> {
    /// When it came, changed or came back, or was decided: what was last.
    fn changed(&self) -> Option<Stamp> {
        let case = self.case;
        let seen = if case.presence == Presence::Unchanged { case.first_seen } else { case.last_seen };
        max(seen, self.stance.at)
    }

    fn tell_flags(&self, to: &mut Builder) {
        let stance = self.stance;
        flags(
            to,
            &[
                (Flag::Undecided, stance.is_undecided()),
                (Flag::Decided, !stance.is_undecided()),
                (Flag::Regression, stance.again == Some(Again::Regression)),
                (Flag::Expired, stance.again == Some(Again::Expired)),
                (Flag::Conflict, stance.again == Some(Again::Conflict)),
                (Flag::Recheck, stance.recheck),
                (Flag::Noted, stance.notes > 0),
                (Flag::Tagged, !stance.tags.is_empty()),
                (Flag::Differs, stance.service.is_some()),
            ],
        );
    }
}
