//! Recognises the answers of consoles that run code or show data, when they answer without a
//! log-in.
//!
//! Like `recognize_services.rs`: each function returns the proof for a report. The proof says which
//! read was granted and never shows the data. A console that requires a log-in answers the same
//! request with 401, 403, a redirect or its log-in page, which none of these functions accepts.

use super::recognize_services::{json, pattern};
use crate::engine::http::HttpPage;
use scandeck_wire::text::plural;

/// The settings of the editor, which Node-RED refuses to visitors when `adminAuth` is set.
pub fn node_red(page: &HttpPage) -> Option<String> {
    let settings = json(page)?;
    let version = settings["version"]
        .as_str()
        .filter(|_| settings["httpNodeRoot"].is_string())?;
    let is_editor =
        settings["context"]["stores"].is_array() || settings.get("flowEncryptionType").is_some();
    let rights = if is_read_only(page) {
        ", for reading"
    } else {
        ""
    };
    is_editor.then(|| {
        format!(
            "settings of the editor of Node-RED {}{rights}",
            number(version)
        )
    })
}

/// Whether Node-RED lets visitors read its flows but not change them.
pub fn is_read_only(page: &HttpPage) -> bool {
    let permissions = json(page)
        .map(|settings| settings["user"]["permissions"].clone())
        .unwrap_or_default();
    let grants = |one: &str| one == "*" || one.ends_with("write");
    match (permissions.as_str(), permissions.as_array()) {
        (Some(one), _) => !grants(one),
        (_, Some(all)) => !all.iter().filter_map(|one| one.as_str()).any(grants),
        // Without `adminAuth` there is no user.
        _ => false,
    }
}

/// The kernels of Jupyter, which a token or a password protects.
pub fn jupyter(page: &HttpPage) -> Option<String> {
    let answer = json(page)?;
    let kernels = answer["kernelspecs"]
        .as_object()
        .filter(|_| answer["default"].is_string())?;
    let are_kernels = !kernels.is_empty()
        && kernels
            .values()
            .all(|kernel| kernel["spec"]["argv"].is_array());
    are_kernels.then(|| {
        format!(
            "list of {} that can be started",
            plural(kernels.len(), "kernel")
        )
    })
}

/// The script console of Jenkins, which only administrators see.
pub fn jenkins(page: &HttpPage) -> Option<String> {
    let text = page.text();
    let form =
        pattern!(r#"(?is)<form[^>]+action="script"[^>]*>.{0,2000}?<textarea[^>]+name="script""#)?;
    let is_jenkins = !page.header("x-jenkins").is_empty() || text.contains("data-crumb-header=");
    (is_jenkins && form.is_match(&text)).then(|| "form of the script console".to_owned())
}

/// Saved objects of Kibana.
pub fn kibana(page: &HttpPage) -> Option<String> {
    let answer = json(page)?;
    let is_list = answer["saved_objects"].is_array()
        && answer["page"].is_number()
        && answer["per_page"].is_number();
    let count = answer["total"].as_u64().filter(|_| is_list)?;
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    Some(format!("list of {}", plural(count, "index pattern")))
}

/// The organisation of an anonymous user of Grafana, or its dashboards.
pub fn grafana(page: &HttpPage) -> Option<String> {
    let answer = json(page)?;
    let address = &answer["address"];
    if answer["id"].is_number() && answer["name"].is_string() && address["zipCode"].is_string() {
        return Some("organisation of the anonymous user".to_owned());
    }
    let dashboards = answer.as_array().filter(|all| !all.is_empty())?;
    let is_one = dashboards.iter().all(|one| {
        let kind = one["type"].as_str().unwrap_or_default();
        one["uid"].is_string() && one["uri"].is_string() && kind.starts_with("dash-")
    });
    is_one.then(|| "list of dashboards".to_owned())
}

/// A page of phpMyAdmin that only a user with a session sees.
pub fn phpmyadmin(page: &HttpPage) -> Option<String> {
    let text = page.text();
    let settings =
        pattern!(r"(?s)<script[^>]*>\s*(?://\s*<!\[CDATA\[)?[^<]*?ommonParams\.setAll\(\{([^<]*)")?
            .captures(&text)?;
    let is_in = pattern!(r#"\blogged_in"?:(?:true|"1")"#)?.is_match(&settings[1]);
    let has_navigation = pattern!(r#"<[^>]+id="pma_navigation""#)?.is_match(&text);
    (is_in && has_navigation && !text.contains("name=\"pma_password\""))
        .then(|| "navigation of a database user".to_owned())
}

/// The users of WordPress in its REST API.
pub fn wordpress_users(page: &HttpPage) -> Option<String> {
    let answer = json(page)?;
    let users = answer.as_array().filter(|all| !all.is_empty())?;
    let are_users = users.iter().all(|user| {
        let has_author_page = user["link"].is_string() && user["_links"]["self"].is_array();
        user["id"].is_number()
            && user["slug"].is_string()
            && user.get("avatar_urls").is_some()
            && has_author_page
    });
    are_users.then(|| format!("list of {}", plural(users.len(), "user")))
}

/// The first bytes of a heap dump of Java.
pub fn heap_dump(page: &HttpPage) -> Option<String> {
    if page.body.starts_with(b"JAVA PROFILE 1.0.") {
        return Some("heap dump, JAVA PROFILE".to_owned());
    }
    // Spring Boot 1 compresses it.
    let file = page.header("content-disposition").to_ascii_lowercase();
    let is_packed = page.body.starts_with(&[0x1f, 0x8b, 8])
        && (file.contains("hprof") || file.contains("heapdump"));
    is_packed.then(|| "heap dump, compressed".to_owned())
}

/// Whether a page of the debugger of Werkzeug has the console that runs Python.
pub fn is_werkzeug_console(page: &HttpPage) -> bool {
    werkzeug_settings(page).is_some_and(|settings| {
        has_setting(&settings, "CONSOLE_MODE") && has_setting(&settings, "EVALEX")
    })
}

/// Whether a page of the debugger of Werkzeug runs Python without asking for its PIN.
pub fn runs_python(page: &HttpPage) -> bool {
    werkzeug_settings(page).is_some_and(|settings| {
        // Versions before 0.11 have no PIN.
        let is_trusted =
            !settings.contains("EVALEX_TRUSTED") || has_setting(&settings, "EVALEX_TRUSTED");
        has_setting(&settings, "EVALEX") && is_trusted
    })
}

/// The script with the settings of the debugger, after the one that loads it. An article about the
/// debugger shows both as text, without elements.
fn werkzeug_settings(page: &HttpPage) -> Option<String> {
    let text = page.text();
    let script = pattern!(
        r#"<script[^>]+src="\?__debugger__=yes&(?:amp;)?cmd=resource&(?:amp;)?f=debugger\.js"[^>]*></script>\s*<script[^>]*>([^<]*)</script>"#
    )?;
    script.captures(&text).map(|found| found[1].to_owned())
}

fn has_setting(settings: &str, name: &str) -> bool {
    let mut all = settings
        .split([',', ';', '\n'])
        .filter_map(|line| line.trim().trim_start_matches("var ").split_once('='));
    all.any(|(setting, value)| setting.trim() == name && value.trim() == "true")
}

/// A version as digits and dots, so that an answer brings no text of its own into a report.
fn number(version: &str) -> String {
    version
        .chars()
        .take_while(|c| c.is_ascii_digit() || *c == '.')
        .take(20)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::recognize::Recognizer;
    use super::*;

    fn page(body: &str) -> HttpPage {
        HttpPage::for_tests("http://a.test/x", body)
    }

    const SETTINGS: &str = r#"{"httpNodeRoot":"/","version":"4.1.15","context":{"default":"memory","stores":["memory"]}"#;
    const SCRIPT: &str = r#"<form action="script" method="post"><textarea id="script" name="script"></textarea></form>"#;
    const DEBUGGER: &str = r#"<script src="?__debugger__=yes&amp;cmd=resource&amp;f=debugger.js"></script><script>
        var CONSOLE_MODE = true,
            EVALEX = true,
            EVALEX_TRUSTED = true,
            SECRET = "hunter2";
        </script>"#;

    #[test]
    fn granted_reads_are_recognized_without_their_data() {
        let cases: &[(Recognizer, &str)] = &[
            (node_red, &format!("{SETTINGS}}}")),
            (
                jupyter,
                r#"{"default":"python3","kernelspecs":{"hunter2":{"name":"hunter2","spec":{"argv":["python"]}}}}"#,
            ),
            (
                jenkins,
                &format!("<head data-crumb-header=Jenkins-Crumb>{SCRIPT}"),
            ),
            (
                kibana,
                r#"{"page":1,"per_page":1,"total":7,"saved_objects":[{"attributes":{"title":"hunter2"}}]}"#,
            ),
            (
                grafana,
                r#"{"id":1,"name":"hunter2","address":{"address1":"","zipCode":""}}"#,
            ),
            (
                grafana,
                r#"[{"id":1,"uid":"x","title":"hunter2","uri":"db/x","type":"dash-db"}]"#,
            ),
            (
                phpmyadmin,
                "<script data-cfasync=\"false\">\n// <![CDATA[\nwindow.CommonParams.setAll({token:\"hunter2\",logged_in:true});\n// ]]>\n\
                 </script><div id=\"pma_navigation\">",
            ),
            (
                wordpress_users,
                r#"[{"id":1,"name":"hunter2","slug":"hunter2","link":"http://a.test/","avatar_urls":{},"_links":{"self":[]}}]"#,
            ),
            (heap_dump, "JAVA PROFILE 1.0.2\0hunter2"),
        ];
        for (number, (recognizer, body)) in cases.iter().enumerate() {
            let proof = recognizer(&page(body)).unwrap_or_else(|| panic!("{number}: {body}"));
            assert!(!proof.contains("hunter2"), "{proof}");
        }
    }

    #[test]
    fn catch_all_answers_articles_and_log_in_pages_are_no_consoles() {
        let recognizers: &[Recognizer] = &[
            node_red,
            jupyter,
            jenkins,
            kibana,
            grafana,
            phpmyadmin,
            wordpress_users,
            heap_dump,
        ];
        let article = format!(
            "<title>Jenkins script console and JAVA PROFILE 1.0.2</title><pre>{}</pre><p>logged_in:true id=pma_navigation",
            format!("{SCRIPT}{SETTINGS}{DEBUGGER}").replace('<', "&lt;")
        );
        for body in [
            "{}",
            "[]",
            "null",
            r#"{"version":"1","status":"ok"}"#,
            r#"{"id":1,"name":"x"}"#,
            r#"[{"id":1,"name":"x","slug":"x","link":"http://a.test/"}]"#,
            r#"{"kernelspecs":{}}"#,
            r#"[{"id":1,"uid":"x","type":"user"}]"#,
            r#"{"message":"Unauthorized"}"#,
            r#"{"total":0,"saved_objects":[]}"#,
            // The form of another product.
            SCRIPT,
            // The log-in page of phpMyAdmin.
            r#"<script>CommonParams.setAll({logged_in:false});</script><input type=password name="pma_password">"#,
            &article,
        ] {
            for (at, recognizer) in recognizers.iter().enumerate() {
                assert_eq!(recognizer(&page(body)), None, "recognizer {at}: {body}");
            }
            assert!(
                !is_werkzeug_console(&page(body)) && !runs_python(&page(body)),
                "{body}"
            );
        }
    }

    #[test]
    fn rights_of_visitors_of_node_red_are_read_from_its_settings() {
        let is_read_only = |rights: &str| is_read_only(&page(&format!("{SETTINGS}{rights}}}")));
        assert!(is_read_only(
            r#","user":{"anonymous":true,"permissions":"read"}"#
        ));
        assert!(is_read_only(r#","user":{"permissions":["flows.read"]}"#));
        for rights in [
            "",
            r#","user":{"permissions":"*"}"#,
            r#","user":{"permissions":["read","flows.write"]}"#,
        ] {
            assert!(!is_read_only(rights), "{rights}");
        }
    }

    #[test]
    fn debugger_without_pin_differs_from_one_that_asks_for_it() {
        let locked = DEBUGGER.replace("TRUSTED = true", "TRUSTED = false");
        let off = DEBUGGER.replace("EVALEX = true", "EVALEX = false");
        let old = DEBUGGER.replace("EVALEX_TRUSTED = true,", "");
        let traceback = DEBUGGER.replace("CONSOLE_MODE = true", "CONSOLE_MODE = false");
        for (body, is_console, runs) in [
            (DEBUGGER, true, true),
            (&old, true, true),
            (&locked, true, false),
            (&off, false, false),
            (&traceback, false, true),
        ] {
            assert_eq!(
                (is_werkzeug_console(&page(body)), runs_python(&page(body))),
                (is_console, runs),
                "{body}"
            );
        }
    }
}
