//! Names with numbers in them are ordered by the value of the numbers, in each list and by each
//! kind of order.

use scandeck::text::natural;

/// Source, and names in their order.
const ORDERS: [(&str, &[&str]); 4] = [
    (
        "csvlens 133, disks",
        &["disk1", "disk2", "disk10", "disk11"],
    ),
    ("csvlens 147, percentages", &["5%", "11%", "19%"]),
    (
        "csvlens 133, addresses",
        &["10.0.0.2", "10.0.0.9", "10.0.0.10", "10.0.10.1"],
    ),
    (
        "csvlens 133, numbers longer than 64 bits",
        &["v9", "v018446744073709551616", "v18446744073709551617"],
    ),
];

#[test]
fn names_are_ordered_by_value_of_numbers() {
    for (source, names) in ORDERS {
        let mut sorted = names.to_vec();
        sorted.reverse();
        sorted.sort_by(|a, b| natural(a, b));
        assert_eq!(sorted, names, "{source}");
    }
}
