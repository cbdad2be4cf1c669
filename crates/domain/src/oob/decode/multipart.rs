//! Multipart bodies (RFC 2046), split into parts.

use memchr::memmem;

use super::DecodedPart;

/// Maximum number of parts.
const MOST: usize = 100;

/// The boundary parameter of a content type.
pub fn boundary(content_type: &str) -> Option<String> {
    let named = |parameter: &str| {
        let (name, value) = parameter.split_once('=')?;
        name.trim()
            .eq_ignore_ascii_case("boundary")
            .then(|| value.trim().trim_matches('"').to_owned())
    };
    content_type
        .split(';')
        .find_map(named)
        .filter(|boundary| !boundary.is_empty())
}

/// The parts with their headers, named after their headers.
pub fn parts(bytes: &[u8], boundary: &str) -> Option<Vec<DecodedPart>> {
    let line = format!("--{boundary}");
    let mut starts = memmem::find_iter(bytes, line.as_bytes())
        .take(MOST + 1)
        .peekable();
    let mut parts = Vec::new();
    while let Some(at) = starts.next() {
        let from = at + line.len();
        if bytes[from..].starts_with(b"--") {
            break;
        }
        let part = &bytes[from..starts.peek().copied().unwrap_or(bytes.len())];
        let part = without_break(
            part.strip_prefix(b"\r\n")
                .or_else(|| part.strip_prefix(b"\n"))
                .unwrap_or(part),
        );
        parts.push(DecodedPart {
            name: name(part, parts.len() + 1),
            value: part.to_vec(),
            steps: Vec::new(),
        });
    }
    (!parts.is_empty()).then_some(parts)
}

/// The content of a part.
pub fn content(part: &[u8]) -> &[u8] {
    split(part).1
}

/// The content type of a part, or an empty string.
pub fn content_type(part: &[u8]) -> String {
    header(part, "content-type").unwrap_or_default()
}

fn name(part: &[u8], number: usize) -> String {
    let disposition = header(part, "content-disposition").unwrap_or_default();
    let parameter = |sought: &str| {
        let named = |one: &str| {
            let (name, value) = one.split_once('=')?;
            name.trim()
                .eq_ignore_ascii_case(sought)
                .then(|| value.trim().trim_matches('"').to_owned())
        };
        disposition.split(';').find_map(named)
    };
    let mut words = vec![parameter("name").unwrap_or_else(|| format!("part {number}"))];
    words.extend(parameter("filename").map(|file| format!("file {file}")));
    words.extend(Some(content_type(part)).filter(|kind| !kind.is_empty()));
    words.join(", ")
}

fn header(part: &[u8], sought: &str) -> Option<String> {
    let head = String::from_utf8_lossy(split(part).0).into_owned();
    head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.trim()
            .eq_ignore_ascii_case(sought)
            .then(|| value.trim().to_owned())
    })
}

/// Headers and content, separated by the first empty line.
fn split(part: &[u8]) -> (&[u8], &[u8]) {
    if let Some(rest) = part
        .strip_prefix(b"\r\n")
        .or_else(|| part.strip_prefix(b"\n"))
    {
        return (&[], rest);
    }
    let ends = [&b"\r\n\r\n"[..], b"\n\n"];
    let found = ends
        .iter()
        .filter_map(|end| Some((memmem::find(part, end)?, end.len())))
        .min();
    found.map_or((part, &[]), |(at, length)| {
        (&part[..at], &part[at + length..])
    })
}

/// The line break before a boundary belongs to the boundary.
fn without_break(part: &[u8]) -> &[u8] {
    part.strip_suffix(b"\r\n")
        .or_else(|| part.strip_suffix(b"\n"))
        .unwrap_or(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multipart_parts_have_names_types_and_content() {
        let body = b"preamble\r\n--XX\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\none\r\n--XX\r\n\
            content-disposition: form-data; name=\"f\"; filename=\"x.json\"\r\nContent-Type: application/json\r\n\r\n\
            {\"b\":1}\r\n--XX\n\nbare\n--XX--\r\nepilogue";
        let boundary = boundary("multipart/form-data; charset=x; Boundary=\"XX\"").unwrap();
        let parts = parts(body, &boundary).unwrap();
        let names: Vec<_> = parts.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(names, ["a", "f, file x.json, application/json", "part 3"]);
        let contents: Vec<_> = parts.iter().map(|part| content(&part.value)).collect();
        assert_eq!(contents, [&b"one"[..], b"{\"b\":1}", b"bare"]);
        assert_eq!(content_type(&parts[1].value), "application/json");
        assert_eq!(super::parts(b"no such line", "XX"), None);
    }
}
