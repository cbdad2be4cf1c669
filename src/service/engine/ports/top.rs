//! Ports ranked by frequency, with their usual services.
//!
//! The ranking of about 230 ports was compiled for this project from the default ports of common software. Longer lists
//! continue with the remaining ports in ascending order, because default ports are mostly low.

/// Port and usual service, the most common first.
#[rustfmt::skip]
const RANKED: &[(u16, &str)] = &[
    // The ten that answer most: web, remote access, mail, names, files.
    (80, "http"), (443, "https"), (22, "ssh"), (21, "ftp"), (25, "smtp"),
    (3389, "rdp"), (445, "smb"), (53, "dns"), (110, "pop3"), (8080, "http-alt"),
    // Mail with its encrypted forms, old remote access, Windows.
    (143, "imap"), (993, "imaps"), (995, "pop3s"), (587, "submission"), (465, "smtps"),
    (23, "telnet"), (139, "netbios"), (135, "msrpc"), (3306, "mysql"), (8443, "https-alt"),
    // Databases and caches.
    (5432, "postgresql"), (1433, "mssql"), (6379, "redis"), (27017, "mongodb"), (1521, "oracle"),
    (9200, "elasticsearch"), (11211, "memcached"), (5984, "couchdb"), (9042, "cassandra"), (7474, "neo4j"),
    // Remote desktops, file sharing, directories.
    (5900, "vnc"), (5901, "vnc"), (111, "rpcbind"), (2049, "nfs"), (389, "ldap"),
    (636, "ldaps"), (873, "rsync"), (88, "kerberos"), (548, "afp"), (5985, "winrm"),
    (5986, "winrm-tls"), (515, "printer"), (631, "ipp"), (9100, "jetdirect"), (2222, "ssh-alt"),
    // Web applications on their development and administration ports.
    (8000, "http-alt"), (8888, "http-alt"), (8081, "http-alt"), (3000, "http-dev"), (5000, "http-dev"),
    (9090, "http-admin"), (10000, "webmin"), (8008, "http-alt"), (8082, "http-alt"), (9000, "http-alt"),
    (81, "http-alt"), (8001, "http-alt"), (4443, "https-alt"), (9443, "https-alt"), (8181, "http-alt"),
    (7001, "weblogic"), (8009, "ajp13"), (4200, "http-dev"), (4000, "http-dev"), (5173, "http-dev"),
    (8880, "http-alt"), (8444, "https-alt"), (10443, "https-alt"), (82, "http-alt"), (8090, "http-alt"),
    // Machines that run machines.
    (2375, "docker"), (2376, "docker-tls"), (6443, "kubernetes"), (10250, "kubelet"), (2379, "etcd"),
    (8500, "consul"), (8200, "vault"), (5601, "kibana"), (15672, "rabbitmq-admin"), (5672, "amqp"),
    (1883, "mqtt"), (8883, "mqtts"), (9092, "kafka"), (2181, "zookeeper"), (61616, "activemq"),
    (8161, "activemq-admin"), (50000, "db2"), (9001, "http-alt"), (9091, "http-admin"), (3128, "proxy"),
    // Networks: VPN, routers, telephony, proxies.
    (1723, "pptp"), (1194, "openvpn"), (1080, "socks"), (179, "bgp"), (5060, "sip"),
    (5061, "sips"), (554, "rtsp"), (8554, "rtsp-alt"), (2000, "cisco-sccp"), (7547, "cwmp"),
    // --- from here on beyond the first hundred
    (8291, "winbox"), (8728, "routeros"), (8729, "routeros-tls"), (4786, "smart-install"), (161, "snmp"),
    (990, "ftps"), (20, "ftp-data"), (989, "ftps-data"), (69, "tftp"), (115, "sftp-simple"),
    (513, "rlogin"), (514, "rsh"), (512, "rexec"), (79, "finger"), (113, "ident"),
    (119, "nntp"), (563, "nntps"), (194, "irc"), (6667, "irc"), (6697, "ircs"),
    (5222, "xmpp"), (5269, "xmpp-server"), (1935, "rtmp"), (8086, "influxdb"), (8089, "splunk"),
    (8123, "clickhouse"), (9300, "elasticsearch"), (26257, "cockroachdb"), (28017, "mongodb-http"), (27018, "mongodb"),
    (5433, "postgresql"), (6432, "pgbouncer"), (3307, "mysql"), (33060, "mysqlx"), (1434, "mssql-browser"),
    (50070, "hadoop"), (8088, "hadoop"), (9870, "hadoop"), (7077, "spark"), (8983, "solr"),
    (16010, "hbase"), (2380, "etcd-peer"), (10255, "kubelet-ro"), (10256, "kube-proxy"), (8472, "vxlan"),
    (4646, "nomad"), (8300, "consul-rpc"), (8301, "consul-serf"), (9093, "alertmanager"), (9100, "node-exporter"),
    (9115, "blackbox"), (9121, "redis-exporter"), (9187, "pg-exporter"), (3100, "loki"), (4317, "otlp"),
    (4318, "otlp-http"), (16686, "jaeger"), (9411, "zipkin"), (6831, "jaeger-agent"), (14268, "jaeger"),
    (5044, "logstash"), (9600, "logstash"), (12201, "gelf"), (24224, "fluentd"), (8125, "statsd"),
    (2003, "graphite"), (4369, "epmd"), (25672, "rabbitmq"), (61613, "stomp"), (4222, "nats"),
    (8222, "nats-admin"), (6650, "pulsar"), (7687, "neo4j-bolt"), (8529, "arangodb"), (28015, "rethinkdb"),
    (5986, "winrm-tls"), (47001, "winrm"), (593, "msrpc-http"), (464, "kpasswd"), (3268, "global-catalog"),
    (3269, "global-catalog-tls"), (9389, "adws"), (5357, "wsdapi"), (1801, "msmq"), (2179, "vmrdp"),
    (902, "vmware"), (903, "vmware"), (5480, "vmware-admin"), (8006, "proxmox"), (3260, "iscsi"),
    (16509, "libvirt"), (5903, "vnc"), (5902, "vnc"), (5800, "vnc-http"), (6000, "x11"),
    (4899, "radmin"), (5938, "teamviewer"), (7070, "anydesk"), (1720, "h323"), (2427, "mgcp"),
    (5038, "asterisk"), (3478, "stun"), (5349, "turns"), (64738, "mumble"), (25565, "minecraft"),
    (27015, "source-game"), (32400, "plex"), (8096, "jellyfin"), (8123, "home-assistant"), (51413, "bittorrent"),
    (6881, "bittorrent"), (9050, "tor-socks"), (9051, "tor-control"), (8118, "privoxy"), (8388, "shadowsocks"),
    (502, "modbus"), (102, "s7"), (20000, "dnp3"), (44818, "ethernet-ip"), (47808, "bacnet"),
    (1911, "fox"), (4840, "opc-ua"), (2404, "iec-104"), (789, "red-lion"), (9600, "omron-fins"),
    (3690, "svn"), (9418, "git"), (2401, "cvs"), (3001, "http-dev"), (8030, "http-alt"),
    (1099, "java-rmi"), (4848, "glassfish"), (9990, "jboss-admin"), (8005, "tomcat-admin"), (5005, "java-debug"),
    (9229, "node-debug"), (50050, "http-alt"), (7002, "weblogic-tls"), (9043, "websphere-admin"), (9060, "websphere-admin"),
    (853, "dns-tls"), (5353, "mdns"), (7, "echo"), (9, "discard"), (13, "daytime"),
    (17, "qotd"), (19, "chargen"), (37, "time"), (49, "tacacs"), (70, "gopher"),
    (1110, "http-alt"), (8834, "nessus"), (9392, "openvas"), (8065, "mattermost"), (8787, "http-alt"),
    (8765, "http-alt"), (8766, "http-alt"), (7860, "http-ml"), (11434, "ollama"), (6006, "tensorboard"),
];

/// Services that are web servers.
const WEB: &[&str] = &["http", "https", "http-alt", "https-alt", "http-dev", "http-admin"];

/// The `n` most common ports, the most common first.
pub fn ranked(n: usize) -> Vec<u16> {
    let mut seen = vec![false; 1 << 16];
    RANKED
        .iter()
        .map(|(port, _)| *port)
        .chain(1..=u16::MAX)
        .filter(|port| !std::mem::replace(&mut seen[usize::from(*port)], true))
        .take(n)
        .collect()
}

pub fn usual_service(port: u16) -> Option<&'static str> {
    RANKED.iter().find(|(known, _)| *known == port).map(|(_, service)| *service)
}

pub fn is_web(port: u16) -> bool {
    usual_service(port).is_some_and(|service| WEB.contains(&service))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranked_returns_distinct_ports_with_common_ones_first() {
        for n in [10, 100, 1000, 5000] {
            let ports = ranked(n);
            assert_eq!(ports.len(), n);
            assert_eq!(ports.iter().collect::<std::collections::HashSet<_>>().len(), n);
        }
        assert_eq!(ranked(3), [80, 443, 22]);
        assert!(ranked(1000).contains(&9418) && ranked(5000).contains(&4000));
    }

    #[test]
    fn marked_hundred_has_a_hundred_ports() {
        let written = RANKED.iter().position(|(port, _)| *port == 8291).unwrap();
        assert_eq!(written, 100);
    }
}
