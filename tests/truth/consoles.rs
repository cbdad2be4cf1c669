//! Consoles that run code or show data to everybody, each with its twin that requires a log-in, and
//! neighbours that only look like one.

use super::Answer;
use super::server::{HARDENED, not_found, page, response};

/// A console, and the same product with a log-in.
pub struct ConsolePair {
    /// The kinds of findings with their risk levels, which the twin does not have.
    pub found: &'static [(&'static str, i64)],
    /// The name that website recon reports for both.
    pub product: &'static str,
    pub open: fn(&str) -> Answer,
    pub closed: fn(&str) -> Answer,
}

#[rustfmt::skip]
pub const PAIRS: &[ConsolePair] = &[
    ConsolePair { found: &[("web.console.node_red", 4)], product: "Node-RED", open: node_red, closed: node_red_closed },
    ConsolePair { found: &[("web.console.node_red", 3)], product: "Node-RED", open: node_red_readable, closed: node_red_closed },
    ConsolePair { found: &[("web.console.jupyter", 4)], product: "Jupyter", open: jupyter, closed: jupyter_closed },
    ConsolePair { found: &[("web.exposed.debug", 4), ("web.error_page", 4)], product: "Werkzeug", open: werkzeug, closed: werkzeug_closed },
    ConsolePair { found: &[("web.console.jenkins", 4)], product: "Jenkins", open: jenkins, closed: jenkins_closed },
    ConsolePair { found: &[("web.exposed.heap_dump", 3), ("web.exposed.actuator", 3)], product: "Spring Boot", open: spring, closed: spring_closed },
    ConsolePair { found: &[("web.console.kibana", 3)], product: "Kibana", open: kibana, closed: kibana_closed },
    ConsolePair { found: &[("web.console.grafana", 3)], product: "Grafana", open: grafana, closed: grafana_closed },
    ConsolePair { found: &[("web.console.phpmyadmin", 3)], product: "phpMyAdmin", open: phpmyadmin, closed: phpmyadmin_closed },
];

type ConsoleServer = fn(&str) -> Answer;

/// Sites that mention consoles, or answer every path alike.
pub const NEIGHBOURS: &[(&str, ConsoleServer)] = &[
    ("articles", |path| match path {
        "/" | "/script" | "/console" | "/phpmyadmin/" | "/jenkins/script" => page(ARTICLE),
        _ => not_found(),
    }),
    ("single-page app", |_| {
        page("<title>Dashboard</title><div id=root></div>")
    }),
    ("{} for every path", |_| json("200 OK", "{}")),
    ("[] for every path", |_| json("200 OK", "[]")),
    ("settings for every path", |_| {
        json(
            "200 OK",
            r#"{"httpNodeRoot":"/","version":"4.1.0","context":{"stores":["memory"]},"flowEncryptionType":"x"}"#,
        )
    }),
    ("API of another product", |path| match path {
        "/settings" => json(
            "200 OK",
            r#"{"version":"1.2.0","theme":"dark","user":{"permissions":"*"}}"#,
        ),
        "/api/org" => json("200 OK", r#"{"id":7,"name":"Shop"}"#),
        "/api/kernelspecs" => json("200 OK", r#"{"default":"x","kernelspecs":{}}"#),
        "/api/search?limit=1" => json("200 OK", r#"[{"id":1,"title":"Cup","type":"article"}]"#),
        "/actuator/heapdump" => json("200 OK", r#"{"status":"disabled"}"#),
        "/" => page("<title>Shop</title>"),
        _ => not_found(),
    }),
];

const ARTICLE: &str = "<title>Jenkins script console, Werkzeug Interactive Console and JAVA PROFILE 1.0.2</title>\
    <h1>Script Console</h1><p>Grafana, Kibana, Node-RED and phpMyAdmin: set a password.</p><pre>\
    &lt;form action=\"script\" method=\"post\">&lt;textarea name=\"script\">\n\
    &lt;script src=\"?__debugger__=yes&amp;amp;cmd=resource&amp;amp;f=debugger.js\">\n\
    var CONSOLE_MODE = true, EVALEX = true, EVALEX_TRUSTED = true;\nCommonParams.setAll({logged_in:true});</pre>";

fn json(status: &str, body: &str) -> Answer {
    response(status, HARDENED, "application/json", body.as_bytes())
}

fn refused(kind: &str) -> Answer {
    response("401 Unauthorized", HARDENED, kind, b"Unauthorized")
}

const NODE_RED: &str = "<title>Node-RED</title><div id=\"red-ui-editor\"></div>";

fn node_red_settings(path: &str, user: &str) -> Answer {
    match path {
        "/" => page(NODE_RED),
        "/settings" => json(
            "200 OK",
            &format!(
                "{{\"httpNodeRoot\":\"/\",\"version\":\"4.1.15\",{user}\"context\":{{\"stores\":[\"memory\"]}}}}"
            ),
        ),
        _ => not_found(),
    }
}

fn node_red(path: &str) -> Answer {
    node_red_settings(path, "")
}

fn node_red_readable(path: &str) -> Answer {
    node_red_settings(
        path,
        "\"user\":{\"anonymous\":true,\"permissions\":\"read\"},",
    )
}

fn node_red_closed(path: &str) -> Answer {
    match path {
        "/" => page(NODE_RED),
        "/settings" | "/flows" => refused("text/plain"),
        _ => not_found(),
    }
}

fn jupyter(path: &str) -> Answer {
    match path {
        "/" => page(
            "<title>Home</title><script id=\"jupyter-config-data\" type=\"application/json\">{}</script>",
        ),
        "/api/kernelspecs" => json(
            "200 OK",
            r#"{"default": "python3", "kernelspecs": {"python3": {"name": "python3", "spec": {"argv": ["python"]}}}}"#,
        ),
        _ => not_found(),
    }
}

fn jupyter_closed(path: &str) -> Answer {
    match path {
        "/" => response(
            "302 Found",
            &format!("{HARDENED}location: /login?next=%2Flab\r\n"),
            "text/html",
            b"",
        ),
        "/login?next=%2Flab" => page(
            "<title>Jupyter Server</title><form method=post><input name=_xsrf><input type=password></form>",
        ),
        path if path.starts_with("/api/") => json(
            "403 Forbidden",
            r#"{"message": "Forbidden", "reason": null}"#,
        ),
        _ => not_found(),
    }
}

/// The settings of the debugger.
fn debugger(is_console: bool) -> String {
    format!(
        "<!doctype html><title>x // Werkzeug Debugger</title>\
         <script src=\"?__debugger__=yes&amp;cmd=resource&amp;f=debugger.js\"></script>\n<script>\n\
         var CONSOLE_MODE = {is_console},\n EVALEX = true,\n EVALEX_TRUSTED = true,\n SECRET = \"x\";\n</script>\
         <h1>Interactive Console</h1><pre>Traceback (most recent call last):\n  File \"/srv/shop.py\", line 3, in order</pre>"
    )
}

fn werkzeug_answer(status: &str, body: &str) -> Answer {
    response(
        status,
        &format!("{HARDENED}server: Werkzeug/3.1.9\r\n"),
        "text/html",
        body.as_bytes(),
    )
}

fn werkzeug(path: &str) -> Answer {
    match path {
        "/" => werkzeug_answer(
            "200 OK",
            "<!doctype html><title>Shop</title><a href=/order>order</a>",
        ),
        "/order" => werkzeug_answer("500 Internal Server Error", &debugger(false)),
        "/console" => werkzeug_answer("200 OK", &debugger(true)),
        _ => not_found(),
    }
}

fn werkzeug_closed(path: &str) -> Answer {
    match path {
        "/" => werkzeug_answer(
            "200 OK",
            "<!doctype html><title>Shop</title><a href=/order>order</a>",
        ),
        "/order" => werkzeug_answer(
            "500 Internal Server Error",
            "<title>500</title><h1>Internal Server Error</h1>",
        ),
        _ => not_found(),
    }
}

fn jenkins_answer(status: &str, body: &str) -> Answer {
    response(
        status,
        &format!("{HARDENED}x-jenkins: 2.479.1\r\n"),
        "text/html",
        body.as_bytes(),
    )
}

fn jenkins(path: &str) -> Answer {
    match path {
        "/" => jenkins_answer(
            "200 OK",
            "<!doctype html><title>Dashboard - Jenkins</title>",
        ),
        "/script" => jenkins_answer(
            "200 OK",
            "<!doctype html><head data-crumb-header=\"Jenkins-Crumb\" data-crumb-value=\"x\"><title>Script Console - Jenkins</title>\
             <form action=\"script\" method=\"post\"><div><textarea id=\"script\" name=\"script\" class=\"script\"></textarea></div>\
             <input type=hidden name=csrf_token value=x></form>",
        ),
        _ => not_found(),
    }
}

fn jenkins_closed(path: &str) -> Answer {
    match path {
        "/" => jenkins_answer(
            "200 OK",
            "<!doctype html><title>Dashboard - Jenkins</title>",
        ),
        "/script" => jenkins_answer(
            "403 Forbidden",
            "<html><head><meta http-equiv='refresh' content='1;url=/login?from=%2Fscript'>",
        ),
        _ => not_found(),
    }
}

const WHITELABEL: &str =
    "<html><body><h1>Whitelabel Error Page</h1><p>There was an unexpected error.</p></body></html>";

fn spring(path: &str) -> Answer {
    match path {
        "/" => page(WHITELABEL),
        "/actuator" => json(
            "200 OK",
            r#"{"_links":{"self":{"href":"/actuator"},"heapdump":{"href":"/actuator/heapdump"}}}"#,
        ),
        "/actuator/env" => json(
            "200 OK",
            r#"{"activeProfiles":["prod"],"propertySources":[{"name":"systemProperties","properties":{"db.url":{"value":"jdbc:x"}}}]}"#,
        ),
        "/actuator/heapdump" => {
            let dump = [b"JAVA PROFILE 1.0.2\0".as_slice(), &vec![7; 400_000]].concat();
            response("200 OK", HARDENED, "application/octet-stream", &dump)
        }
        _ => not_found(),
    }
}

/// A health check, which is meant to be public.
fn spring_closed(path: &str) -> Answer {
    match path {
        "/" => page(WHITELABEL),
        "/actuator/health" => json("200 OK", r#"{"status":"UP"}"#),
        path if path.starts_with("/actuator") => refused("application/json"),
        _ => not_found(),
    }
}

fn kibana_answer(status: &str, body: &str) -> Answer {
    response(
        status,
        &format!("{HARDENED}kbn-name: kibana\r\n"),
        "application/json",
        body.as_bytes(),
    )
}

const KIBANA: &str = "<title>Elastic</title><kbn-injected-metadata data=\"{&quot;version&quot;:&quot;8.15.2&quot;}\"></kbn-injected-metadata>";

fn kibana(path: &str) -> Answer {
    match path {
        "/" => page(KIBANA),
        "/api/saved_objects/_find?type=index-pattern&per_page=1" => kibana_answer(
            "200 OK",
            r#"{"page":1,"per_page":1,"total":2,"saved_objects":[{"id":"x","type":"index-pattern"}]}"#,
        ),
        _ => kibana_answer(
            "404 Not Found",
            r#"{"statusCode":404,"error":"Not Found","message":"Not Found"}"#,
        ),
    }
}

/// Its status is public, as with `status.allowAnonymous`.
fn kibana_closed(path: &str) -> Answer {
    match path {
        "/" => page(KIBANA),
        "/api/status" => kibana_answer(
            "200 OK",
            r#"{"name":"kibana","version":{"number":"8.15.2"},"status":{"overall":{}}}"#,
        ),
        _ => kibana_answer(
            "401 Unauthorized",
            r#"{"statusCode":401,"error":"Unauthorized","message":"Unauthorized"}"#,
        ),
    }
}

const GRAFANA: &str = "<title>Grafana</title><script>window.grafanaBootData = {\"settings\":{\"buildInfo\":{\"hideVersion\":false,\"version\":\"11.2.0\"}}};</script>";

fn grafana(path: &str) -> Answer {
    match path {
        "/" => page(GRAFANA),
        "/api/org" => json(
            "200 OK",
            r#"{"id":1,"name":"Main Org.","address":{"address1":"","address2":"","city":"","zipCode":""}}"#,
        ),
        _ => not_found(),
    }
}

fn grafana_closed(path: &str) -> Answer {
    match path {
        "/" => page(GRAFANA),
        "/api/health" => json("200 OK", r#"{"database":"ok","version":"11.2.0"}"#),
        path if path.starts_with("/api/") => {
            json("401 Unauthorized", r#"{"message":"Unauthorized"}"#)
        }
        _ => not_found(),
    }
}

const PHPMYADMIN: &str = "<title>phpMyAdmin</title><link rel=\"stylesheet\" href=\"./themes/pmahomme/css/theme.css?v=5.2.1\">";

fn phpmyadmin(_: &str) -> Answer {
    // The server that is built into PHP answers every unknown name with the start page.
    page(&format!(
        "{PHPMYADMIN}<script>\n// <![CDATA[\nwindow.CommonParams.setAll({{common_query:\"\",server:\"1\",logged_in:true,auth_type:\"config\",user:\"root\"}});\n\
             </script><div id=\"pma_navigation\" class=\"d-print-none\"></div>"
    ))
}

fn phpmyadmin_closed(path: &str) -> Answer {
    match path {
        "/" => page(&format!(
            "{PHPMYADMIN}<script>\n// <![CDATA[\nwindow.CommonParams.setAll({{common_query:\"\",server:\"1\",logged_in:false,auth_type:\"cookie\"}});\n\
             </script><form method=get><input name=\"pma_username\"></form>"
        )),
        _ => not_found(),
    }
}
