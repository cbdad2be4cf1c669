//! Risks of results whose severity a tool or a converter left out, or wrote in another form.

use scandeck_wire::contract::Risk;

use crate::import;

#[track_caller]
fn assert_risks(file: &str, expected: &[Risk]) {
    let read = import(file.as_bytes());
    assert_eq!(read.summary.damage, None, "{file}");
    let risks: Vec<Risk> = read.entries.iter().map(|entry| entry.risk).collect();
    assert_eq!(risks, expected, "{file}");
}

#[test]
fn nuclei_result_without_severity_has_the_risk_of_its_score() {
    let line = |severity: &str| {
        format!(
            r#"{{"template-id":"a","info":{{"name":"n",{severity}"classification":{{"cvss-score":9.8}}}},"host":"https://shop.test","matched-at":"https://shop.test/a"}}"#
        )
    };
    for (severity, risk) in [
        ("", Risk::Critical),
        (r#""severity":"","#, Risk::Critical),
        (r#""severity":"unknown","#, Risk::Critical),
        (r#""severity":"info","#, Risk::Info),
        (r#""severity":"low","#, Risk::Low),
    ] {
        assert_risks(&line(severity), &[risk]);
    }
}

#[test]
fn nessus_result_without_severity_has_the_risk_of_its_plugin() {
    let item = |severity: &str, below: &str| {
        format!(
            "<NessusClientData_v2><Report><ReportHost name='a.test'><ReportItem port='1' {severity} pluginID='5' pluginName='n'>{below}</ReportItem></ReportHost></Report></NessusClientData_v2>"
        )
    };
    let score = "<cvss3_base_score>9.8</cvss3_base_score>";
    let factor = format!("<risk_factor>High</risk_factor>{score}");
    for (severity, below, risk) in [
        ("severity=''", factor.as_str(), Risk::High),
        ("", factor.as_str(), Risk::High),
        ("severity=''", score, Risk::Critical),
        ("severity='0'", factor.as_str(), Risk::Info),
        ("severity='1'", factor.as_str(), Risk::Low),
    ] {
        assert_risks(&item(severity, below), &[risk]);
    }
    assert_risks(
        "Plugin ID,CVE,CVSS v3.0 Base Score,Risk,Host,Protocol,Port,Name,Plugin Output\n\
         1,,9.3,,a.test,tcp,443,n,o\n2,,9.3,None,a.test,tcp,443,n,o\n",
        &[Risk::Critical, Risk::Info],
    );
}

#[test]
fn burp_severity_has_a_risk_in_upper_and_lower_case() {
    let issue = |severity: &str| {
        format!(
            "<issues burpVersion='2'><issue><serialNumber>1</serialNumber><type>1</type><name>n</name><host>https://a.test</host><path>/x</path><severity>{severity}</severity></issue></issues>"
        )
    };
    for (severity, risk) in [
        ("high", Risk::High),
        ("MEDIUM", Risk::Medium),
        ("Low", Risk::Low),
        ("Information", Risk::Info),
        ("False positive", Risk::Info),
    ] {
        assert_risks(&issue(severity), &[risk]);
    }
}

#[test]
fn zap_alert_without_code_has_the_risk_of_its_words() {
    let site = |fields: &str| {
        format!(
            r#"{{"@version":"2.15","site":[{{"@name":"http://a.test","@host":"a.test","@port":"80","@ssl":"false","alerts":[{{"pluginid":"1","alert":"A",{fields}"instances":[{{"uri":"http://a.test/a","method":"GET"}}]}}]}}]}}"#
        )
    };
    for (fields, risk) in [
        (r#""riskdesc":"High (Medium)","#, Risk::High),
        (r#""riskcode":"","riskdesc":"Low (High)","#, Risk::Low),
        (r#""riskcode":"0","riskdesc":"High (Low)","#, Risk::Info),
        ("", Risk::Info),
    ] {
        assert_risks(&site(fields), &[risk]);
    }
}

#[test]
fn openvas_result_without_severity_has_the_risk_of_its_test() {
    let result = |below: &str| {
        format!(
            "<report id='1' format_id='a'><report id='2'><results><result id='3'><name>n</name><host>192.0.2.9</host><port>80/tcp</port><nvt oid='1.3'><name>n</name><cvss_base>9.8</cvss_base></nvt>{below}</result></results></report></report>"
        )
    };
    for (below, risk) in [
        ("<severity></severity>", Risk::Critical),
        ("<threat>High</threat>", Risk::High),
        ("<threat></threat><severity>7.5</severity>", Risk::High),
        ("<threat>Log</threat><severity>0.0</severity>", Risk::Info),
    ] {
        assert_risks(&result(below), &[risk]);
    }
}
