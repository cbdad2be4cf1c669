//! The tools that the form offers: a row for each, with the fields that it has.

use crate::forms::{FieldId, Form};
use scandeck_wire::contract::{MissingScanner, Tool};

/// A tool of the choice; any other id can be typed.
#[derive(Debug)]
pub(super) struct FormTool {
    pub tool: Tool,
    /// An installed scanner: only a service of scandeck runs it.
    is_guest: bool,
    /// It sends attacks, which the service and the scope must permit.
    is_active: bool,
    /// The fields that not every tool has.
    fields: &'static [FieldId],
}

impl FormTool {
    const fn own(tool: Tool, fields: &'static [FieldId]) -> Self {
        Self {
            tool,
            is_guest: false,
            is_active: false,
            fields,
        }
    }

    const fn guest(tool: Tool, fields: &'static [FieldId]) -> Self {
        Self {
            tool,
            is_guest: true,
            is_active: false,
            fields,
        }
    }

    const fn active(self) -> Self {
        Self {
            is_active: true,
            ..self
        }
    }
}

/// The option after the tools.
pub(super) const OTHER_TOOL: &str = "other tool, by id";

/// The fields of a tool that is not in the table.
const ANY_TOOL: &[FieldId] = &[
    FieldId::ScanType,
    FieldId::RedirectLevel,
    FieldId::OriginalUrl,
];

/// The tools, those of every service first.
pub(super) static TOOLS: [FormTool; 18] = [
    FormTool::own(
        Tool::WEBSITE,
        &[
            FieldId::ScanType,
            FieldId::RedirectLevel,
            FieldId::OriginalUrl,
            FieldId::RequestsPerSecond,
        ],
    ),
    FormTool::own(
        Tool::PORTS,
        &[FieldId::ScanType, FieldId::Ports, FieldId::CheckAlive],
    ),
    FormTool::own(Tool::TLS, &[FieldId::TlsPort, FieldId::StartTls]),
    FormTool::own(
        Tool::NETWORK,
        &[
            FieldId::ScanType,
            FieldId::Ports,
            FieldId::CheckAlive,
            FieldId::Protocol,
        ],
    ),
    FormTool::own(
        Tool::UDP_PORTS,
        &[FieldId::ScanType, FieldId::Ports, FieldId::CheckAlive],
    ),
    FormTool::own(
        Tool::RECON,
        &[
            FieldId::RedirectLevel,
            FieldId::OriginalUrl,
            FieldId::RequestsPerSecond,
        ],
    ),
    FormTool::own(
        Tool::FUZZER,
        &[
            FieldId::RedirectLevel,
            FieldId::OriginalUrl,
            FieldId::RequestsPerSecond,
            FieldId::ScanWords,
            FieldId::Extensions,
            FieldId::RecursionDepth,
        ],
    ),
    FormTool::own(
        Tool::VIRTUAL_HOSTS,
        &[
            FieldId::RedirectLevel,
            FieldId::OriginalUrl,
            FieldId::RequestsPerSecond,
            FieldId::ScanWords,
            FieldId::Domain,
        ],
    ),
    FormTool::own(Tool::SUBDOMAINS, &[FieldId::ScanWords]),
    FormTool::own(
        Tool::FIREWALL,
        &[
            FieldId::RedirectLevel,
            FieldId::OriginalUrl,
            FieldId::RequestsPerSecond,
        ],
    ),
    FormTool::own(Tool::PING, &[FieldId::PingPort, FieldId::PingCount]),
    FormTool::guest(Tool::TESTSSL, &[FieldId::TlsPort, FieldId::StartTls]),
    FormTool::guest(Tool::NUCLEI, &[FieldId::RequestsPerSecond, FieldId::Tags]),
    FormTool::guest(Tool::HTTPX, &[FieldId::RequestsPerSecond]),
    FormTool::guest(Tool::SUBFINDER, &[]),
    FormTool::guest(Tool::WAPITI, &[FieldId::RequestsPerSecond]).active(),
    FormTool::guest(Tool::NIKTO, &[FieldId::RequestsPerSecond]).active(),
    FormTool::guest(
        Tool::FFUF,
        &[
            FieldId::RequestsPerSecond,
            FieldId::ScanWords,
            FieldId::Extensions,
        ],
    )
    .active(),
];

fn row_of(tool: Tool) -> Option<&'static FormTool> {
    TOOLS.iter().find(|row| row.tool == tool)
}

/// The tools of the choice, in its order.
fn offered(form: &Form) -> impl Iterator<Item = &'static FormTool> {
    let has_guests = form.subject.has_extensions;
    TOOLS.iter().filter(move |row| has_guests || !row.is_guest)
}

/// The chosen tool; none while a typed id is no number.
pub(super) fn tool(form: &Form) -> Option<Tool> {
    match offered(form).nth(form.choice(FieldId::Tool)) {
        Some(row) => Some(row.tool),
        None => form.text(FieldId::ToolId).parse().ok().map(Tool),
    }
}

/// Whether the id of the tool is typed.
pub(super) fn is_typed(form: &Form) -> bool {
    form.choice(FieldId::Tool) >= offered(form).count()
}

/// Whether the chosen tool has a field that not every tool has.
pub(super) fn has_field(form: &Form, field: FieldId) -> bool {
    let row = tool(form).and_then(row_of);
    row.map_or(ANY_TOOL, |row| row.fields).contains(&field)
}

/// The name of a tool with its id.
pub(super) fn label(tool: Tool) -> String {
    match row_of(tool).is_some_and(|row| row.is_active) {
        true => format!("{}, active ({})", tool.full_name(), tool.0),
        false => tool.name_with_id(),
    }
}

/// Offers the tools, and marks those that the service cannot run.
pub(super) fn offer(form: &mut Form, missing: &[MissingScanner]) {
    let option = |row: &FormTool| match lacking(row.tool, missing) {
        Some(program) => format!("{}, needs {program}", label(row.tool)),
        None => label(row.tool),
    };
    let mut options: Vec<String> = offered(form).map(option).collect();
    options.push(OTHER_TOOL.to_owned());
    if let Some(field) = form.field_mut(FieldId::Tool) {
        field.offer(options);
    }
}

/// The scanner or the right that the service lacks for a tool.
pub(super) fn lacking(tool: Tool, missing: &[MissingScanner]) -> Option<&str> {
    let found = missing.iter().find(|one| one.tool == tool);
    found.map(|one| &*one.program)
}
