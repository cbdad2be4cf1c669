//! Numbers as people read them, with the noun that is counted.

/// A number with groups of thousands: `100,000`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A noun with its number: `1 scan`, `7 scans`, `2 classes`.
pub fn plural(number: usize, noun: &str) -> String {
    let is_sibilant = ["s", "sh"].iter().any(|end| noun.ends_with(end));
    let ending = if is_sibilant { "es" } else { "s" };
    if number == 1 {
        format!("1 {noun}")
    } else {
        format!("{} {noun}{ending}", thousands(number as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plural_counts_one_and_groups_thousands() {
        let counts = [0, 1, 2, 1_000, 1_234_567].map(|number| plural(number, "scan"));
        assert_eq!(plural(2, "class"), "2 classes");
        assert_eq!(plural(2, "hash"), "2 hashes");
        assert_eq!(plural(2, "path"), "2 paths");
        assert_eq!(
            counts,
            [
                "0 scans",
                "1 scan",
                "2 scans",
                "1,000 scans",
                "1,234,567 scans"
            ]
        );
    }
}
