//! Reads the text of report files back with other programs' libraries than those that wrote them.

use std::io::{Cursor, Read};

use calamine::{Reader, Xlsx};
use quick_xml::events::Event;

/// The text of a report, whatever its format.
pub fn readable(format: &str, bytes: &[u8]) -> String {
    match format {
        "docx" => docx_text(bytes),
        "pdf" => pdf_pages(bytes).concat(),
        "xlsx" => sheets(bytes)
            .into_iter()
            .flat_map(|(_, rows)| rows)
            .flatten()
            .collect::<Vec<_>>()
            .join("\n"),
        "html" => String::from_utf8(bytes.to_vec())
            .unwrap()
            .replace("&#x2f;", "/"),
        _ => String::from_utf8(bytes.to_vec()).unwrap(),
    }
}

/// The text of each page of a PDF.
pub fn pdf_pages(bytes: &[u8]) -> Vec<String> {
    let document = lopdf::Document::load_mem(bytes).unwrap();
    document
        .get_pages()
        .into_keys()
        .map(|number| document.extract_text(&[number]).unwrap())
        .collect()
}

/// A part of an archive.
pub fn part(bytes: &[u8], name: &str) -> String {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut text = String::new();
    archive
        .by_name(name)
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    text
}

/// The names of the parts of an archive.
pub fn parts(bytes: &[u8]) -> Vec<String> {
    zip::ZipArchive::new(Cursor::new(bytes))
        .unwrap()
        .file_names()
        .map(|name| name.unwrap().into_owned())
        .collect()
}

/// The paragraphs of a Word document, one per line. Every part must be well-formed.
pub fn docx_text(bytes: &[u8]) -> String {
    for name in parts(bytes) {
        xml_text(&part(bytes, &name));
    }
    xml_text(&part(bytes, "word/document.xml"))
}

fn xml_text(xml: &str) -> String {
    let mut reader = quick_xml::Reader::from_str(xml);
    let (mut out, mut depth) = (String::new(), 0);
    loop {
        match reader.read_event().unwrap() {
            Event::Start(_) => depth += 1,
            Event::End(end) => {
                depth -= 1;
                if end.name().as_ref() == "w:p" {
                    out.push('\n');
                }
            }
            Event::Empty(empty) if empty.name().as_ref() == "w:br" => out.push('\n'),
            Event::Text(text) => out.push_str(&text),
            Event::GeneralRef(name) => match &*name {
                "amp" => out.push('&'),
                "lt" => out.push('<'),
                "gt" => out.push('>'),
                "quot" => out.push('"'),
                other => panic!("unknown entity {other}"),
            },
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(depth, 0);
    out
}

/// The sheets of a spreadsheet with their rows.
pub fn sheets(bytes: &[u8]) -> Vec<(String, Vec<Vec<String>>)> {
    let mut book: Xlsx<_> = Xlsx::new(Cursor::new(bytes)).unwrap();
    book.worksheets()
        .into_iter()
        .map(|(name, range)| {
            (
                name,
                range
                    .rows()
                    .map(|row| row.iter().map(ToString::to_string).collect())
                    .collect(),
            )
        })
        .collect()
}
