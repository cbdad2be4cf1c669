//! Texts as scanners write them, and their lines on a page.

use super::*;

/// Texts of scanners whose lines flow, and the lines that remain.
const FLOWING: [(&str, &[&str]); 21] = [
    (
        // Nessus: a synopsis, and a description of 70 columns.
        "The remote web server is affected by a vulnerability.\n\n\
         The version of Apache httpd installed on the remote host is prior to\n\
         2.4.52. It is, therefore, affected by a flaw related to mod_lua when\n\
         handling multipart content. An attacker can exploit this with a\n\
         crafted request.",
        &[
            "The remote web server is affected by a vulnerability.",
            "",
            "The version of Apache httpd installed on the remote host is prior to 2.4.52. It \
             is, therefore, affected by a flaw related to mod_lua when handling multipart \
             content. An attacker can exploit this with a crafted request.",
        ],
    ),
    (
        // Nessus: items below a paragraph.
        "The remote host is affected by multiple vulnerabilities, as referenced in\n\
         the advisory:\n\
         \n\
         \x20 - A flaw exists in the handling of sessions that allows attackers to\n\
         \x20   read files. (CVE-2021-1)\n\
         \x20 - A second flaw.\n",
        &[
            "The remote host is affected by multiple vulnerabilities, as referenced in the \
             advisory:",
            "",
            "  - A flaw exists in the handling of sessions that allows attackers to read \
             files. (CVE-2021-1)",
            "  - A second flaw.",
        ],
    ),
    (
        // OpenVAS indents the lines of a text.
        "The flaw is due to an improper validation of user-supplied input passed\n\
         \x20 via the id parameter to the index page, which allows attackers to run\n\
         \x20 queries.",
        &[
            "The flaw is due to an improper validation of user-supplied input passed via the \
             id parameter to the index page, which allows attackers to run queries.",
        ],
    ),
    (
        // Words that were broken at a hyphen, and a word that ends with one.
        "An attacker on the network path can read the traffic in a man-in-the-\n\
         middle attack, and can change the messages of the server-side and client-\n\
         and proxy-side components of the application.",
        &[
            "An attacker on the network path can read the traffic in a man-in-the-middle \
             attack, and can change the messages of the server-side and client- and \
             proxy-side components of the application.",
        ],
    ),
    (
        // Sentences that end at the end of a line, in a text that was broken.
        "The server accepts connections with old versions of the TLS protocol.\n\
         Attackers on the network path can read what these connections carry,\n\
         such as passwords.  Newer versions have no such flaw.",
        &[
            "The server accepts connections with old versions of the TLS protocol. Attackers \
             on the network path can read what these connections carry, such as passwords.  \
             Newer versions have no such flaw.",
        ],
    ),
    (
        // A line that begins as a value, and goes on.
        "Note: the scanner has not tested for the flaw but has relied only on the\n\
         version that the application reports.",
        &[
            "Note: the scanner has not tested for the flaw but has relied only on the version \
             that the application reports.",
        ],
    ),
    (
        // nuclei: Markdown.
        "# Impact\n\
         An attacker is able to read the configuration of the service, which has\n\
         the passwords of all users.\n\
         1. Request the page that lists the configuration, without any session of\n\
         \x20  the application.\n\
         2. Read it.",
        &[
            "# Impact",
            "An attacker is able to read the configuration of the service, which has the \
             passwords of all users.",
            "1. Request the page that lists the configuration, without any session of the \
             application.",
            "2. Read it.",
        ],
    ),
    (
        // A single word on the last line.
        "The certificate of the service is not trusted by any of the usual clients\n\
         worldwide",
        &[
            "The certificate of the service is not trusted by any of the usual clients \
             worldwide",
        ],
    ),
    (
        // OpenVAS: the first line is behind the name of the field in the file of the scanner.
        "Successful exploitation allows an attacker\n\
         \x20 to elevate privileges, execute arbitrary commands, disclose information,\n\
         \x20 bypass security restrictions, and conduct attacks.",
        &[
            "Successful exploitation allows an attacker to elevate privileges, execute \
             arbitrary commands, disclose information, bypass security restrictions, and \
             conduct attacks.",
        ],
    ),
    (
        // XML that was indented, with items.
        "According to its banner, the version of PHP installed on the host is older than\n\
         \x20                   5.3.2. Such versions have several security issues :\n\
         \n\
         \x20                   - Paths not ending with '/' may not be validated inside\n\
         \x20                   the configuration.",
        &[
            "According to its banner, the version of PHP installed on the host is older than \
             5.3.2. Such versions have several security issues :",
            "",
            "- Paths not ending with '/' may not be validated inside the configuration.",
        ],
    ),
    (
        // Lines that a person broke.
        "If an adversary supplies a malicious expression, it can cause a denial of service\n\
         against the application, which will no\n\
         longer\n\
         be responsive to the requests of other users of the site.",
        &[
            "If an adversary supplies a malicious expression, it can cause a denial of service \
             against the application, which will no longer be responsive to the requests of \
             other users of the site.",
        ],
    ),
    (
        "Die Verbindung ist nicht verschlüsselt, so dass Angreifer im Netz sie lesen\n\
         können. Schützen Sie die Verbindung.",
        &[
            "Die Verbindung ist nicht verschlüsselt, so dass Angreifer im Netz sie lesen \
             können. Schützen Sie die Verbindung.",
        ],
    ),
    (
        // A name at the beginning of the last line.
        "It was possible to detect the usage of the deprecated\n\
         TLSv1.0 and/or TLSv1.1 protocol on this system.",
        &[
            "It was possible to detect the usage of the deprecated TLSv1.0 and/or TLSv1.1 protocol \
             on this system.",
        ],
    ),
    (
        // OpenVAS: a list of values in a sentence.
        "CVE-2012-1171, CVE-2012-0831, CVE-2012-0789, CVE-2012-0788, CVE-2012-0781,\n\
         CVE-2011-4885, CVE-2011-4566, CVE-2011-3379, CVE-2011-1398, CVE-2010-1130,\n\
         CVE-2010-1128",
        &[
            "CVE-2012-1171, CVE-2012-0831, CVE-2012-0789, CVE-2012-0788, CVE-2012-0781, \
             CVE-2011-4885, CVE-2011-4566, CVE-2011-3379, CVE-2011-1398, CVE-2010-1130, \
             CVE-2010-1128",
        ],
    ),
    (
        // An item with a name on its last line.
        "- The function 'header()' does not detect headers of several lines. (Bug #60227 /\n\
         \x20 CVE-2011-1398)",
        &[
            "- The function 'header()' does not detect headers of several lines. (Bug #60227 / \
             CVE-2011-1398)",
        ],
    ),
    (
        // A point that ends no sentence.
        "The server accepts requests with methods that change its files, such as PUT etc.\n\
         without any authentication, so that attackers can store pages and scripts, which\n\
         the server runs.",
        &[
            "The server accepts requests with methods that change its files, such as PUT etc. \
             without any authentication, so that attackers can store pages and scripts, which the \
             server runs.",
        ],
    ),
    (
        // A sentence with a colon, and options in quotes.
        "Note: to disable the time stamps of TCP, add them to the configuration file of\n\
         the kernel, and run 'sysctl -p' to apply the settings.",
        &[
            "Note: to disable the time stamps of TCP, add them to the configuration file of the \
             kernel, and run 'sysctl -p' to apply the settings.",
        ],
    ),
    (
        // OpenVAS: a summary and the affected systems, each behind the name of its field.
        "This host is missing an important security\n\
         \x20 update according to Microsoft KB5062557\n\
         \n\
         - Microsoft Windows 10 Version 1809 for 32-bit Systems\n\
         \n\
         \x20 - Microsoft Windows 10 Version 1809 for x64-based Systems\n\
         \n\
         \x20 - Microsoft Windows Server 2019",
        &[
            "This host is missing an important security update according to Microsoft KB5062557",
            "",
            "- Microsoft Windows 10 Version 1809 for 32-bit Systems",
            "",
            "- Microsoft Windows 10 Version 1809 for x64-based Systems",
            "",
            "- Microsoft Windows Server 2019",
        ],
    ),
    (
        // OpenVAS: a name at the beginning of the second line, and a second paragraph.
        "It is recommended to disable the deprecated\n\
         \x20 TLSv1.0 and/or TLSv1.1 protocols in favor of the TLSv1.2+ protocols. Please see the\n\
         \x20 references for more information.\n\
         \n\
         \x20 Newer versions have no such flaw.\n\
         \n\
         All services providing an encrypted communication\n\
         \x20 using the TLSv1.0 and/or TLSv1.1 protocols.",
        &[
            "It is recommended to disable the deprecated TLSv1.0 and/or TLSv1.1 protocols in favor \
             of the TLSv1.2+ protocols. Please see the references for more information.",
            "",
            "Newer versions have no such flaw.",
            "",
            "All services providing an encrypted communication using the TLSv1.0 and/or TLSv1.1 \
             protocols.",
        ],
    ),
    (
        // XML that was indented, below a synopsis of one line.
        "The remote web server has a vulnerability.\n\
         \n\
         According to its banner, the version of PHP installed on the host is older than\n\
         \x20                   5.3.2. Such versions have several security issues.\n\
         \n\
         \x20                   Attackers can use them to run code.",
        &[
            "The remote web server has a vulnerability.",
            "",
            "According to its banner, the version of PHP installed on the host is older than \
             5.3.2. Such versions have several security issues.",
            "",
            "Attackers can use them to run code.",
        ],
    ),
    (
        // Acunetix: spaces before paragraphs.
        "An attacker can use a page of another site.\n\
         \n\
         \x20 The browser sends the cookies of the victim.",
        &[
            "An attacker can use a page of another site.",
            "",
            "The browser sends the cookies of the victim.",
        ],
    ),
];

#[test]
fn lines_that_end_at_the_width_of_a_scanner_flow() {
    for (given, expected) in FLOWING {
        assert_eq!(reflowed(given), expected.join("\n"), "{given}");
    }
}

#[test]
fn lines_that_end_on_purpose_stay() {
    let paragraph = "Words of a text that a page breaks ".repeat(8);
    let paragraphs = format!("{paragraph}twice\n{paragraph}again\nThe end.");
    let texts = [
        // Addresses and short lines.
        "",
        "One line.",
        "Nordlicht Handels GmbH\nHafenstraße 12\n20457 Hamburg",
        // Burp and ZAP: each paragraph of the HTML is one line.
        paragraphs.as_str(),
        // Values, and items without marks.
        "Path: /usr/share/applications/server/lib/component-with-a-name-2.3.4.jar\n\
         Installed version: 2.3.4\nFixed version: 2.3.9",
        "  Path              : /opt/app\n  Installed version : 2.3.4\n  Fixed version     : 2.4",
        "Disable version 1.0 of the protocol in the configuration of the server.\n\
         Enable the header that makes browsers use encrypted connections only.\n\
         Restart the server.",
        "Apache Tomcat 9.0.0 to 9.0.30 with the default configuration of AJP\n\
         Apache Tomcat 8.5.0 to 8.5.50 with the default configuration of AJP",
        // Lists after a colon, of addresses, and of paths.
        "The following versions of the component have the vulnerability, as listed:\n1.0\n2.0",
        "More information is on the pages of the vendor, and in these two articles\n\
         https://vendor.example.org/security/advisories/2026/11/advisory-2026-1234\n\
         https://vendor.example.org/security/advisories/2026/11/advisory-2026-5678",
        "/var/www/application/releases/2026-11-20/vendor/composer/installed.json\n\
         /var/www/application/releases/2026-11-20/vendor/composer/autoload.php",
        // Code, tables and headings.
        "The file of the configuration has this statement\n\
         \x20   location on every server of the site\n\nRemove it.",
        "    location ~ ^/admin/(users|roles)/[0-9]+/edit and its children of any name\n\
         \x20   more of the same statement",
        "```\ncurl --request POST --header 'Content-Type: application/json' --data @file\n\
         https://shop.test/\n\nand a second line of this code with many words and options\nend\n```",
        "if (request.getParameter(\"redirect\") != null && !isAllowed(redirect)) {\n\
         response.sendRedirect(redirect);\n}",
        "| Name of the parameter | Value that was sent to the server by the scan |\n\
         |-----|-----|\n| id | 1 |",
        "Vulnerabilities of the application that were found in the last release\n\
         ======================================================================\nNone.",
    ];
    for text in texts {
        assert_eq!(reflowed(text), text);
    }
}

#[test]
fn messages_keys_and_code_in_texts_keep_their_lines() {
    let texts = [
        // ZAP: a request with headers in lower case.
        "POST https://shop.test/api/account/login?rehydrate=true HTTP/1.1\n\
         host: shop.test\n\
         user-agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)\n\
         cache-control: no-cache\naccept: */*\n\nuser=a&password=b",
        "HTTP/1.1 200 OK\nserver: nginx\n\
         content-security-policy: default-src 'self'; script-src 'self' 'unsafe-inline'\n\
         x-frame-options: DENY\nset-cookie: id=1; path=/; secure",
        "The server answers without the headers that others send, but with this one\n\
         x-powered-by: PHP",
        // PEM below a sentence.
        "The server sent this certificate, which it has signed itself with an old hash\n\
         -----BEGIN CERTIFICATE-----\n\
         MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ\n\
         VQQDExlCYWx0aW1vcmUgQ3liZXJUcnVzdCBSb290MB4XDTAwMDUxMjE4NDYwMFoX\n\
         -----END CERTIFICATE-----",
        // Commands below a colon, and commands with options.
        "Run these commands on the host to update the packages that are affected:\n\
         apt-get update\n\
         apt-get install --only-upgrade openssl libssl1.1 libssl-dev ca-certificates\n\
         systemctl restart nginx",
        "curl -s -k https://shop.test/users?id=1 -H 'Authorization: Bearer x' -o users\n\
         grep admin users",
        // Statements of a configuration and of a program.
        "server_tokens off;\n\
         add_header Strict-Transport-Security \"max-age=31536000; includeSubDomains\" always;\n\
         ssl_protocols TLSv1.2 TLSv1.3;",
        "response = libsession.create(request=request, response=response, username=name)\n\
         return response",
        "libuser.password_set(g.session['username'], new_password)\nreturn redirect('/')",
        "\"description\": \"The name of the component that has the vulnerability\",\n\
         \"id\": 7",
        "java.lang.NullPointerException: Cannot invoke \"String.length()\" because it is null\n\
         \tat com.acme.shop.Cart.total(Cart.java:42)",
        // Stack traces without indentation.
        "java.lang.NullPointerException: Cannot invoke the method length of a null\n\
         at com.acme.shop.Cart.total(Cart.java:42)\ncaused by: java.io.IOException: closed",
        "TypeError: Cannot read the property length of an undefined value of a request\n\
         at Layer.handle [as handle_request] (/srv/app/node_modules/layer.js:95:5)",
        "Traceback (most recent call last):\n\
         File \"/usr/lib/python3/dist-packages/flask/app.py\", line 1498, in __call__\n\
         return self.wsgi_app(environ, start_response)\n\
         File \"/srv/app/views.py\", line 12, in index\nreturn int(request.args['id'])",
        // A policy, messages between systems, and code below another mark.
        "default-src 'self'\nscript-src 'self' 'unsafe-inline' https://cdn.example.test\n\
         style-src 'self'\nimg-src *",
        "user -> proxy : login\nproxy -> app : the request with the header of the user\n\
         app -> db : select",
        "Run the command below\n~~~\n\
         remove all the files of the directory of the application at once\necho done\n~~~",
    ];
    for text in texts {
        assert_eq!(reflowed(text), text);
    }
}

#[test]
fn lists_without_marks_keep_their_lines() {
    let texts = [
        "Use strong passwords for all accounts of the application and of the system\n\
         Limit the number of log-in attempts\nLog failed attempts",
        "1 Open the page of the log-in form with an intercepting proxy in between\n\
         2 Change the value of the parameter role from user to admin and send it\n\
         3 Open the page of the administration",
        "a) open the page of the log-in form with an intercepting proxy in between\n\
         b) change the value of the parameter role from user to admin and send it",
        "CVE-2021-44228 The look-ups of Apache Log4j2 do not protect against attackers\n\
         CVE-2021-45046 The repair was incomplete in certain unusual configurations\n\
         CVE-2021-45105 Recursion is not limited",
        "22/tcp open ssh OpenSSH 7.4 (protocol 2.0), patched by the vendor of the system\n\
         80/tcp open http Apache httpd 2.4.6 ((CentOS) PHP/5.4.16 OpenSSL/1.0.2k-fips)",
        "https://shop.test/ (443/tcp) uses a certificate that expires within one week\n\
         https://mail.test/ (443/tcp) uses a certificate that expires within two weeks",
        "The file of the accounts was read by the request, and has these lines at its end\n\
         daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\nbin:x:2:2:bin:/bin:/usr/sbin/nologin",
        "Name of the package\tVersion\tName of the file that has the vulnerability\n\
         openssl\t1.1.1\tlibssl.so",
        // Items in lower case below a sentence, and below a line without an end.
        "The response of the server contains these names of users and their roles.\n\
         admin administrator of the shop\nanna editor of pages",
        "The following parameters of the request are not checked by the server.\n\
         name is used in a query of the database without escaping\n\
         page is used in the name of a file",
        "The application has these end points without authentication of the user.\n\
         /api/users returns all users\n/api/orders returns all orders of the shop",
        "lodash 4.17.15 has a prototype pollution in the function zipObjectDeep\n\
         minimist 1.2.0 has a prototype pollution\n\
         node-fetch 2.6.0 does not honor the size option",
        "Se recomienda a los administradores aplicar estas medidas en cada servidor\n\
         actualizar el sistema\ncambiar las contraseñas",
        // Versions, keys of a registry, and addresses below a line without an end.
        "Affected are all the following releases of the product of the vendor\n\
         9.0.0 to 9.0.30\n8.5.0 to 8.5.50",
        "Set the following values of the registry on each of the affected machines.\n\
         HKLM\\SYSTEM\\CurrentControlSet\\Control\\SecurityProviders\\SCHANNEL\\Protocols\n\
         enabled 0\ndisabledbydefault 1",
        "Reported by the team of the penetration test of Acme Corporation\n\
         anna@acme.test\n+49 40 123456",
        // A space is wrong between words of Japanese.
        "このサーバーの Apache Tomcat のバージョンには複数の脆弱性が存在していることが確認されました、\n\
         そのため攻撃者は Apache Tomcat の設定を読み取ることができます。",
    ];
    for text in texts {
        assert_eq!(reflowed(text), text);
    }
}
