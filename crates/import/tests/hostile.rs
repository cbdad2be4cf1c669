//! Files that are empty, damaged, too large or malicious.

use std::io::Write;
use std::ops::ControlFlow;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use scandeck_import::{ImportEntry, ImportError, ImportLimits, ImportSummary};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::{import, import_sample, sample, samples};

fn count(bytes: &[u8], limits: &ImportLimits) -> Result<Vec<ImportSummary>, ImportError> {
    scandeck_import::read(bytes, None, limits, &mut |_: ImportEntry| {
        ControlFlow::Continue(())
    })
}

fn named(bytes: &[u8], format: &str) -> Vec<ImportSummary> {
    let mut sink = |_: ImportEntry| ControlFlow::Continue(());
    scandeck_import::read(bytes, Some(format), &ImportLimits::default(), &mut sink).unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in files {
        archive
            .start_file(*name, SimpleFileOptions::default())
            .unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

#[test]
fn every_sample_has_one_odd_entry_and_is_not_damaged() {
    for path in samples() {
        let read = import(&std::fs::read(&path).unwrap());
        assert!(read.summary.entries > 0, "{path:?}");
        assert!(read.summary.skipped_count() > 0, "{path:?}");
        assert_eq!(read.summary.damage, None, "{path:?}");
    }
}

#[test]
fn every_format_has_a_sample() {
    let mut missing: Vec<&str> = scandeck_import::FORMATS
        .iter()
        .map(|format| format.name)
        .collect();
    for path in samples() {
        let read = import(&std::fs::read(&path).unwrap());
        let name = read.summary.format.unwrap().name;
        missing.retain(|format| *format != name);
    }
    assert_eq!(missing, Vec::<&str>::new());
}

#[test]
fn empty_file_is_an_error_unless_its_format_is_named() {
    let limits = ImportLimits::default();
    for empty in [&b""[..], b"\n \n", b"\xef\xbb\xbf"] {
        assert!(matches!(count(empty, &limits), Err(ImportError::Empty)));
        for format in scandeck_import::FORMATS {
            let summaries = named(empty, format.name);
            assert_eq!(
                (summaries.len(), summaries[0].entries),
                (1, 0),
                "{}",
                format.name
            );
        }
    }
    for other in [
        &b"hello"[..],
        b"{}",
        b"[]",
        b"<html/>",
        b"\x00\x01\x02",
        b"a,b,c\n",
    ] {
        assert!(
            matches!(count(other, &limits), Err(ImportError::Unknown)),
            "{other:?}"
        );
    }
    let mut sink = |_: ImportEntry| ControlFlow::Continue(());
    let error = scandeck_import::read(&b""[..], Some("nothing"), &limits, &mut sink);
    assert!(error.unwrap_err().to_string().contains("nuclei"));
}

#[test]
fn file_of_another_format_than_the_named_one_is_no_report_without_results() {
    let zap = sample("zap.xml");
    for (file, format, remedy) in [
        (&zap[..], "nmap", "name the format zap, or none"),
        (
            &b"<html><p>ZAP report</p></html>"[..],
            "zap",
            "check the file",
        ),
        (&b"hello"[..], "nmap", "check the file"),
    ] {
        let damage = named(file, format).remove(0).damage.unwrap();
        let expected = format!("nothing in the file is in the format {format}; {remedy}");
        assert!(damage.starts_with(&expected), "{damage}");
    }
    for (file, format) in [
        (&b"[]"[..], "nuclei"),
        (&br#"{"findings":[]}"#[..], "generic"),
        (&br#"<nmaprun scanner="nmap"/>"#[..], "nmap"),
        (&b"Plugin ID,Host,Name\n"[..], "nessus-csv"),
    ] {
        assert_eq!(named(file, format)[0].damage, None, "{format}");
    }
    // The other files of an archive are read.
    let archive = zip(&[("zap.xml", &zap), ("nmap.xml", &sample("nmap.xml"))]);
    let summaries = named(&archive, "nmap");
    assert!(summaries[0].damage.is_some() && summaries[1].damage.is_none());
    assert!(summaries[1].entries > 0);
}

#[test]
fn cut_file_keeps_the_entries_before_the_cut() {
    for path in samples() {
        let whole = std::fs::read(&path).unwrap();
        let all = import(&whole).summary.entries;
        for percent in (1..20).map(|part| part * 5) {
            let cut = &whole[..whole.len() * percent / 100];
            match count(cut, &ImportLimits::default()) {
                Ok(summaries) => assert!(summaries[0].entries <= all, "{path:?} {percent}"),
                Err(error) => assert!(matches!(error, ImportError::Unknown), "{path:?} {error}"),
            }
        }
    }
    let burp = sample("burp.xml");
    let read = import(&burp[..burp.len() - 20]);
    assert!(read.summary.damage.is_some() && read.summary.entries == 3);
    let nmap = sample("nmap.xml");
    let read = import(&nmap[..nmap.len() - 20]);
    assert!(read.summary.coverage.is_empty());
}

#[test]
fn other_encodings_are_decoded() {
    for path in samples() {
        let whole = std::fs::read(&path).unwrap();
        let all = import(&whole).summary.entries;
        let text = String::from_utf8(whole.clone()).unwrap();
        let marked = [b"\xef\xbb\xbf", whole.as_slice()].concat();
        assert_eq!(import(&marked).summary.entries, all, "{path:?}");
        let mut wide = vec![0xff, 0xfe];
        wide.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
        assert_eq!(import(&wide).summary.entries, all, "{path:?}");
        let windows = text.replace('\n', "\r\n");
        assert_eq!(import(windows.as_bytes()).summary.entries, all, "{path:?}");
    }
    let latin = b"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><issues burpVersion=\"1\"><issue><type>1</type><name>caf\xe9</name><host>http://a.test</host></issue></issues>";
    assert_eq!(import(latin).entries[0].title, "caf\u{e9}");
    let wrong = b"{\"template-id\":\"x\",\"info\":{\"name\":\"caf\xe9\"},\"host\":\"a.test\"}\n";
    assert_eq!(import(wrong).entries[0].title, "caf\u{fffd}");
}

#[test]
fn entities_are_neither_expanded_nor_fetched() {
    let bomb = r#"<?xml version="1.0"?><!DOCTYPE issues [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY x SYSTEM "file:///etc/passwd">]>
<issues burpVersion="1"><issue><type>1</type><name>&b;&x;&#65;&lt;</name><host>http://a.test</host></issue></issues>"#;
    assert_eq!(import(bomb.as_bytes()).entries[0].title, "&b;&x;A<");
}

#[test]
fn deep_nesting_ends_or_skips_and_never_overflows() {
    let deep = format!(
        "{{\"template-id\":\"x\",\"info\":{{\"name\":\"n\",\"reference\":{}{}}},\"host\":\"a.test\"}}\n",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let read = import(deep.as_bytes());
    assert_eq!(read.summary.entries + read.summary.skipped_count(), 1);
    let deep = format!(
        "{{\"@programName\":\"ZAP\",\"site\":[{{\"@name\":\"http://a.test\",\"alerts\":{}{}}}]}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert_eq!(import(deep.as_bytes()).summary.entries, 0);
    let deep = format!("<issues burpVersion=\"1\">{}", "<a>".repeat(100_000));
    let damage = import(deep.as_bytes()).summary.damage.unwrap();
    assert!(damage.contains("nested deeper"), "{damage}");
}

#[test]
fn huge_numbers_are_no_ports_and_no_scores() {
    let line = format!(
        "{{\"template-id\":\"x\",\"info\":{{\"name\":\"n\",\"classification\":{{\"cvss-score\":1e400,\"epss-score\":{}}}}},\"matched-at\":\"a.test:99999999999\"}}\n",
        "9".repeat(400)
    );
    let read = import(line.as_bytes());
    assert_eq!(read.summary.entries + read.summary.skipped_count(), 1);
    let nessus = "<NessusClientData_v2><Report><ReportHost name='a.test'><ReportItem port='99999999999' severity='9' pluginID='1' pluginName='n'><cvss3_base_score>1e99</cvss3_base_score></ReportItem></ReportHost></Report></NessusClientData_v2>";
    let read = import(nessus.as_bytes());
    assert_eq!((read.entries[0].port, &read.entries[0].cvss), (None, &None));
}

#[test]
fn packed_files_are_read_within_limits() {
    let plain = sample("nuclei.jsonl");
    let read = import(&gzip(&plain));
    assert_eq!(read.summary.entries, 3);
    let archive = zip(&[
        ("a/nuclei.jsonl", &plain),
        ("notes.txt", b"hello"),
        ("zap.xml", &sample("zap.xml")),
    ]);
    let summaries = count(&archive, &ImportLimits::default()).unwrap();
    let formats: Vec<_> = summaries
        .iter()
        .map(|one| one.format.map(|format| format.name))
        .collect();
    assert_eq!(formats, [Some("nuclei"), None, Some("zap")]);
    assert_eq!(summaries[0].member.as_deref(), Some("a/nuclei.jsonl"));
    // The same line many times: packed a thousand times smaller.
    let bomb = plain.repeat(20_000);
    let limits = ImportLimits {
        ratio: 50,
        ..ImportLimits::default()
    };
    for packed in [gzip(&bomb), zip(&[("bomb.jsonl", &bomb)])] {
        let summaries = count(&packed, &limits).unwrap();
        let damage = summaries[0].damage.clone().unwrap();
        assert!(damage.contains("50 times the packed size"), "{damage}");
    }
    let cut = gzip(&plain);
    let summaries = count(&cut[..cut.len() - 9], &ImportLimits::default()).unwrap();
    assert!(summaries[0].damage.is_some());
    assert!(matches!(
        count(b"PK\x03\x04damaged", &ImportLimits::default()),
        Err(ImportError::Archive(_))
    ));
}

#[test]
fn gzip_members_are_one_file_and_bytes_after_them_are_reported() {
    let plain = sample("nuclei.jsonl");
    let all = import(&plain);
    let (first, second) = plain.split_at(plain.len() / 2);
    // A member may be empty.
    let members = [gzip(first), gzip(b""), gzip(second)].concat();
    let read = import(&members);
    assert_eq!(read.entries, all.entries);
    assert_eq!(read.skipped(), all.skipped());
    for rest in [&b"\0\0\0\0"[..], b"-----BEGIN SIGNATURE-----"] {
        let read = import(&[members.as_slice(), rest].concat());
        assert_eq!((&read.entries, &read.summary.damage), (&all.entries, &None));
        let mut expected = all.skipped();
        expected.push(("bytes after the end of the gzip data are not read", 1));
        assert_eq!(read.skipped(), expected);
    }
    // The member behind the first one is damaged, not other bytes.
    let mut damaged = gzip(second);
    let at = damaged.len() - 6;
    damaged[at] ^= 1;
    let read = import(&[gzip(first), damaged].concat());
    assert!(read.summary.damage.is_some());
}

#[test]
fn cut_archive_is_refused_although_the_archive_in_it_is_complete() {
    let plain = sample("nuclei.jsonl");
    let inner = zip(&[("inner.jsonl", &plain)]);
    // Not compressed, so that its directory can be found in the other archive.
    let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let mut outer = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    outer.start_file("inner.zip", stored).unwrap();
    outer.write_all(&inner).unwrap();
    let archive = outer.finish().unwrap().into_inner();
    let cut = &archive[..archive.len() - 10];
    let read = count(cut, &ImportLimits::default());
    assert!(matches!(read, Err(ImportError::Archive(_))), "{read:?}");
}

#[test]
fn archive_without_files_is_an_error() {
    for archive in [
        zip(&[]),
        zip(&[("__MACOSX/._a.json", b"x"), (".DS_Store", b"x")]),
    ] {
        let read = count(&archive, &ImportLimits::default());
        assert!(matches!(read, Err(ImportError::NoFiles)), "{read:?}");
    }
}

#[test]
fn archive_with_two_files_of_one_name_is_refused() {
    let plain = sample("nuclei.jsonl");
    let mut archive = zip(&[("a.jsonl", &plain), ("b.jsonl", &plain)]);
    // The writer refuses such a name, other tools do not.
    for at in 0..archive.len() {
        if archive[at..].starts_with(b"b.jsonl") {
            archive[at] = b'a';
        }
    }
    let read = count(&archive, &ImportLimits::default());
    let error = read.unwrap_err().to_string();
    assert!(
        error.contains("several of its files have the same name"),
        "{error}"
    );
}

/// A tar archive with one file in the ustar format.
fn tar(name: &[u8], content: &[u8]) -> Vec<u8> {
    let mut head = vec![0; 512];
    head[..name.len()].copy_from_slice(name);
    head[257..263].copy_from_slice(b"ustar\0");
    let padding = vec![0; content.len().next_multiple_of(512) - content.len()];
    [head.as_slice(), content, &padding].concat()
}

#[test]
fn archive_in_a_file_is_not_read_as_one_file() {
    let (nmap, nuclei) = (sample("nmap.xml"), sample("nuclei.jsonl"));
    let limits = ImportLimits::default();
    for name in [&b"nmap.xml"[..], "gr\u{fc}n.xml".as_bytes(), b"gr\xfcn.xml"] {
        let files = [tar(name, &nmap), tar(b"nuclei.jsonl", &nuclei)].concat();
        for archive in [files.clone(), gzip(&files)] {
            let read = count(&archive, &limits);
            assert!(
                matches!(read, Err(ImportError::ArchiveInside("tar"))),
                "{read:?}"
            );
        }
    }
    let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let mut inner = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    inner.start_file("nmap.xml", stored).unwrap();
    inner.write_all(&nmap).unwrap();
    let inner = inner.finish().unwrap().into_inner();
    // The other files of the outer archive are read.
    let outer = zip(&[("inner.zip", &inner), ("nuclei.jsonl", &nuclei)]);
    let summaries = count(&outer, &limits).unwrap();
    assert_eq!(summaries[0].format, None);
    assert_eq!(summaries[1].entries, 3);
}

#[test]
fn messages_before_and_between_json_lines_are_skipped() {
    let plain = String::from_utf8(sample("nuclei.jsonl")).unwrap();
    let noisy = format!(
        "\n                     __     _\n[INF] Templates loaded: 12\n\x1b[33mWRN\x1b[0m slow\n{plain}[INF] Done\n"
    );
    let (quiet, read) = (import(plain.as_bytes()), import(noisy.as_bytes()));
    assert_eq!(read.summary.entries, quiet.summary.entries);
    assert_eq!(
        read.summary.skipped_count(),
        quiet.summary.skipped_count() + 4
    );
    let table = "name,severity,text,x\n\"a\n{}\",high,b,c\n";
    assert!(count(table.as_bytes(), &ImportLimits::default()).is_err());
}

#[test]
fn limits_end_a_file_and_say_so() {
    let plain = sample("nuclei.jsonl");
    let limit = |limits: ImportLimits| count(&plain.repeat(100), &limits).unwrap().remove(0);
    let default = ImportLimits::default();
    let few = limit(ImportLimits {
        entries: 10,
        ..default
    });
    assert_eq!(
        (few.entries, few.damage.as_deref()),
        (10, Some("the file has too many entries"))
    );
    let long = limit(ImportLimits {
        entry_bytes: 600,
        ..default
    });
    assert!(
        long.skipped
            .iter()
            .any(|one| one.reason == "entry is too long" && one.count == 100)
    );
    assert_eq!(long.entries, 200);
    let xml = sample("burp.xml");
    let long = count(
        &xml,
        &ImportLimits {
            entry_bytes: 800,
            ..default
        },
    )
    .unwrap()
    .remove(0);
    assert!(
        long.damage
            .is_some_and(|damage| damage.contains("an entry has more"))
    );
    let small = count(
        &vec![b' '; 3 << 20],
        &ImportLimits {
            bytes: 1 << 20,
            ..default
        },
    );
    assert!(matches!(
        small,
        Err(ImportError::Limit(_) | ImportError::Empty)
    ));
}

#[test]
fn limit_of_an_entry_counts_each_object_of_a_list() {
    let limits = ImportLimits {
        entry_bytes: 1_000,
        ..ImportLimits::default()
    };
    let row = |text: &str| {
        format!(
            r#"{{"id":"a","ip":"shop.test/192.0.2.1","port":"443","severity":"LOW","finding":"{text}"}}"#
        )
    };
    let damage = |list: &[String]| {
        let text = format!("[{}]", list.join(","));
        count(text.as_bytes(), &limits).unwrap().remove(0).damage
    };
    assert_eq!(damage(&vec![row("x"); 300]), None);
    let long = damage(&[row("x"), row(&"x".repeat(20_000))]).unwrap();
    assert!(long.contains("an entry has more"), "{long}");
}

#[test]
fn sink_that_breaks_ends_the_import() {
    let mut seen = 0;
    let mut sink = |_: ImportEntry| {
        seen += 1;
        ControlFlow::Break(())
    };
    let archive = zip(&[
        ("a", &sample("nuclei.jsonl")),
        ("b", &sample("nuclei.jsonl")),
    ]);
    let summaries =
        scandeck_import::read(&archive[..], None, &ImportLimits::default(), &mut sink).unwrap();
    assert_eq!(
        (seen, summaries.len(), summaries[0].is_stopped),
        (1, 1, true)
    );
}

#[test]
fn long_texts_are_cut_and_lists_are_short() {
    let long = "x".repeat(1 << 20);
    let tags: Vec<String> = (0..1_000).map(|at| format!("\"t{at}\"")).collect();
    let line = format!(
        "{{\"template-id\":\"x\",\"info\":{{\"name\":\"{long}\",\"description\":\"{long}\",\"tags\":[{}]}},\"matched-at\":\"http://a.test/\",\"request\":\"{long}\",\"response\":\"{long}\"}}\n",
        tags.join(",")
    );
    let read = import(line.as_bytes());
    let entry = &read.entries[0];
    assert!(
        entry.title.len() <= 500 && entry.description.len() <= 64 * 1024 && entry.tags.len() == 200
    );
    assert!(entry.clone().into_finding().vuln_evidence.as_json().len() < 200_000);
}

#[test]
fn names_of_targets_are_canonical() {
    for (text, name) in [
        ("HTTPS://User:pw@Shop.Test:443/a?b#c", "https://shop.test"),
        ("http://shop.test:8080", "http://shop.test:8080"),
        ("http://[2001:DB8::1]/", "http://[2001:db8::1]"),
        ("Shop.Test.", "shop.test"),
        ("shop.test:8443", "shop.test"),
        ("[::1]:443", "::1"),
        ("2001:DB8::1", "2001:db8::1"),
    ] {
        let line = format!("{{\"template-id\":\"x\",\"info\":{{}},\"matched-at\":\"{text}\"}}\n");
        let read = import(line.as_bytes());
        assert_eq!(
            read.entries[0].target.as_ref().unwrap().name,
            name,
            "{text}"
        );
    }
    assert!(import_sample("code.sarif").entries[0].target.is_some());
}

proptest! {
    #[test]
    fn damaged_samples_never_panic(which in 0_usize..200, at in 0.0..1.0_f64, junk in proptest::collection::vec(any::<u8>(), 0..12), length in 0_usize..40) {
        let all = samples();
        let mut bytes = std::fs::read(&all[which % all.len()]).unwrap();
        let start = (bytes.len() as f64 * at) as usize;
        let end = (start + length).min(bytes.len());
        bytes.splice(start..end, junk);
        let _ = count(&bytes, &ImportLimits::default());
    }

    #[test]
    fn any_text_is_read_without_panic_in_every_format(text in "([\\[\\]{}\",:<>/=&;a-z0-9 \\n]{0,6}|\\PC){0,30}", which in 0_usize..100) {
        let formats = scandeck_import::FORMATS;
        named(text.as_bytes(), formats[which % formats.len()].name);
    }
}
