//! What a file states about its tests, as scans carry it.

use scandeck_import::{ImportCoverage, TestedPorts};
use scandeck_wire::contract::Shared;
use scandeck_wire::contract::import::TestedClasses;

/// The tests without their targets.
pub fn tested_classes(coverage: &ImportCoverage) -> TestedClasses {
    let shared = |texts: &[&'static str]| texts.iter().map(|text| Shared::from(*text)).collect();
    let checks = coverage.checks.iter();
    TestedClasses {
        ports: coverage.ports.iter().map(port_span).collect(),
        checks: checks.map(|check| Shared::from(check.as_str())).collect(),
        prefixes: shared(&coverage.prefixes),
        without: shared(&coverage.without_tags),
    }
}

fn port_span(ports: &TestedPorts) -> Shared {
    let TestedPorts {
        protocol,
        first,
        last,
    } = ports;
    match first == last {
        true => format!("{protocol}/{first}").into(),
        false => format!("{protocol}/{first}-{last}").into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coverage_names_ports_and_classes() {
        let ports = |first, last| TestedPorts {
            protocol: "tcp".to_owned(),
            first,
            last,
        };
        let coverage = ImportCoverage {
            ports: vec![ports(80, 80), ports(443, 445)],
            checks: ["nmap:a".to_owned()].into(),
            prefixes: vec!["nmap:open"],
            ..ImportCoverage::default()
        };
        let tested = tested_classes(&coverage);
        assert_eq!(tested.ports, ["tcp/80", "tcp/443-445"]);
        assert_eq!(tested.checks, ["nmap:a"]);
        assert_eq!(tested.prefixes, ["nmap:open"]);
        assert!(tested.without.is_empty());
    }
}
