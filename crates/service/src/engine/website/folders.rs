//! Which folders of a site are searched for exposed files.
//!
//! A site with 200 pages often has 200 addresses that end in `/`, all served by one program: a
//! search of each sends thousands of requests that differ in nothing. So of folders that look
//! alike, one or two stand for the others.
//!
//! ```text
//!   folders that hold files: all, of numbered ones (2024/, 2025/) two
//!   folders of pages only:   all, of numbered ones and of many beside each other one
//! ```

use std::collections::{BTreeMap, BTreeSet};

/// Folders beside each other that are searched, with files or pages.
const SIBLINGS: usize = 8;
/// Of folders with files that look alike.
const ALIKE_WITH_FILES: usize = 2;

/// The folders to search, those with files first; each path ends in `/`.
pub fn searched(folders: &BTreeSet<String>, with_files: &BTreeSet<String>) -> Vec<String> {
    let is_numbered = |folder: &str| name(folder).contains(|c: char| c.is_ascii_digit());
    let mut siblings: BTreeMap<&str, usize> = BTreeMap::new();
    for folder in folders
        .iter()
        .filter(|folder| !with_files.contains(*folder))
    {
        *siblings.entry(parent(folder)).or_default() += 1;
    }
    let mut counts: BTreeMap<(&str, bool, bool), usize> = BTreeMap::new();
    let mut left_out: BTreeSet<&str> = BTreeSet::new();
    let (mut first, mut second) = (Vec::new(), Vec::new());
    // A folder comes after its parent.
    for folder in folders.iter().filter(|folder| *folder != "/") {
        let (above, has_files) = (parent(folder), with_files.contains(folder));
        let is_alike = is_numbered(folder)
            || (!has_files && siblings.get(above).is_some_and(|count| *count > SIBLINGS));
        let most = match (has_files, is_alike) {
            (_, false) => SIBLINGS,
            (true, true) => ALIKE_WITH_FILES,
            (false, true) => 1,
        };
        let count = counts.entry((above, has_files, is_alike)).or_default();
        *count += 1;
        if *count > most || left_out.contains(above) {
            left_out.insert(folder);
        } else if has_files {
            first.push(folder.clone());
        } else {
            second.push(folder.clone());
        }
    }
    first.append(&mut second);
    first
}

/// `/a/` of `/a/b/`.
fn parent(folder: &str) -> &str {
    let path = folder.trim_end_matches('/');
    &folder[..path.rfind('/').map_or(0, |at| at + 1)]
}

fn name(folder: &str) -> &str {
    folder
        .trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(folders: &[&str]) -> BTreeSet<String> {
        folders.iter().map(|folder| (*folder).to_owned()).collect()
    }

    #[test]
    fn folders_that_look_alike_are_sampled() {
        let mut folders = set(&[
            "/",
            "/wp-content/",
            "/wp-content/uploads/",
            "/2023/",
            "/about/",
        ]);
        let mut with_files = set(&["/wp-content/", "/wp-content/uploads/"]);
        for month in 1..=12 {
            folders.insert(format!("/2023/{month:02}/"));
            folders.extend((1..9).map(|post| format!("/2023/{month:02}/post-{post}/")));
            let uploads = format!("/wp-content/uploads/{month:02}/");
            folders.insert(uploads.clone());
            with_files.insert(uploads);
        }
        #[rustfmt::skip]
        let expected = [
            "/wp-content/", "/wp-content/uploads/", "/wp-content/uploads/01/", "/wp-content/uploads/02/", "/2023/", "/2023/01/",
            "/2023/01/post-1/", "/about/",
        ];
        assert_eq!(searched(&folders, &with_files), expected);
    }

    #[test]
    fn sections_of_a_small_site_are_all_searched() {
        let folders = set(&["/", "/api/", "/cart/", "/docs/", "/js/", "/shop/"]);
        assert_eq!(
            searched(&folders, &set(&["/js/"])),
            ["/js/", "/api/", "/cart/", "/docs/", "/shop/"]
        );
        // Many pages beside each other come from one program.
        let pages: BTreeSet<String> = (b'a'..=b'z')
            .map(|letter| format!("/{}/", char::from(letter)))
            .collect();
        assert_eq!(searched(&pages, &BTreeSet::new()), ["/a/"]);
    }
}
