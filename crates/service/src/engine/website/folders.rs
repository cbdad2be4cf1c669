//! Which folders of a site are searched for exposed files, and for which names.
//!
//! A site with 200 pages often has 200 addresses that end in `/`, all served by one program: a
//! search of each sends thousands of requests that differ in nothing. So of folders that look
//! alike, one or two stand for the others, and the names that belong to the root of an application
//! are requested only where one may begin.
//!
//! ```text
//!   folders that hold files: all, of numbered ones (2024/, 2025/) two
//!   folders of pages only:   all, of numbered ones and of many beside each other one;
//!                            if the program of the site answers for missing names: the uppermost
//!
//!   an application may begin: directly below the root, and where a page was read
//! ```

use std::collections::{BTreeMap, BTreeSet};

/// Folders beside each other that are searched, with files or pages.
const SIBLINGS: usize = 8;
/// Of folders with files that look alike.
const ALIKE_WITH_FILES: usize = 2;

/// What is known about the folders of a site; each path ends in `/`.
#[derive(Default)]
pub struct SiteFolders<'a> {
    pub all: BTreeSet<&'a str>,
    /// Those that hold a file, or a folder with a file.
    pub with_files: BTreeSet<&'a str>,
    /// Paths of pages that were read.
    pub pages: BTreeSet<&'a str>,
    /// Whether the program of the site answers for missing names: then a folder without files is
    /// most often an address of this program.
    pub has_missing_page: bool,
}

/// A folder to search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchedFolder {
    pub path: String,
    /// Whether an application may begin here. Other folders are searched only for what editors,
    /// backups and careless uploads leave anywhere.
    pub may_begin_application: bool,
}

impl SiteFolders<'_> {
    /// The folders to search, those with files first.
    pub fn searched(&self) -> Vec<SearchedFolder> {
        let siblings = self.page_siblings();
        let mut counts: BTreeMap<(&str, bool, bool), usize> = BTreeMap::new();
        let mut left_out: BTreeSet<&str> = BTreeSet::new();
        let (mut first, mut second) = (Vec::new(), Vec::new());
        // A folder comes after its parent.
        for folder in self.all.iter().copied().filter(|folder| *folder != "/") {
            let (above, has_files) = (parent(folder), self.with_files.contains(folder));
            let is_alike = is_numbered(folder)
                || (!has_files && siblings.get(above).is_some_and(|count| *count > SIBLINGS));
            let most = match (has_files, is_alike) {
                (_, false) => SIBLINGS,
                (true, true) => ALIKE_WITH_FILES,
                (false, true) => 1,
            };
            let count = counts.entry((above, has_files, is_alike)).or_default();
            *count += 1;
            if *count > most || left_out.contains(above) || self.is_address(folder) {
                left_out.insert(folder);
                continue;
            }
            let list = if has_files { &mut first } else { &mut second };
            list.push(SearchedFolder {
                path: folder.to_owned(),
                may_begin_application: self.may_begin_application(folder),
            });
        }
        first.append(&mut second);
        first
    }

    /// The number of folders without files in each folder.
    fn page_siblings(&self) -> BTreeMap<&str, usize> {
        let mut siblings = BTreeMap::new();
        for folder in self.all.difference(&self.with_files) {
            *siblings.entry(parent(folder)).or_default() += 1;
        }
        siblings
    }

    /// Whether a folder is most likely an address of the program that serves the folder above it.
    fn is_address(&self, folder: &str) -> bool {
        let is_without_files = |path: &str| path != "/" && !self.with_files.contains(path);
        self.has_missing_page && is_without_files(folder) && is_without_files(parent(folder))
    }

    fn may_begin_application(&self, folder: &str) -> bool {
        let has_files = self.with_files.contains(folder);
        let is_possible = parent(folder) == "/" || self.pages.contains(folder);
        is_possible && (has_files || !self.has_missing_page)
    }
}

/// `/a/` of `/a/b/`.
fn parent(folder: &str) -> &str {
    let path = folder.trim_end_matches('/');
    &folder[..path.rfind('/').map_or(0, |at| at + 1)]
}

fn is_numbered(folder: &str) -> bool {
    let path = folder.trim_end_matches('/');
    let name = path.rsplit('/').next().unwrap_or_default();
    name.contains(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(folders: &[&'static str]) -> BTreeSet<&'static str> {
        folders.iter().copied().collect()
    }

    fn paths(folders: &SiteFolders) -> Vec<String> {
        let searched = folders.searched().into_iter();
        searched.map(|folder| folder.path).collect()
    }

    /// The folders in which an application may begin.
    fn beginnings(folders: &SiteFolders) -> Vec<String> {
        let searched = folders.searched().into_iter();
        let beginnings = searched.filter(|folder| folder.may_begin_application);
        beginnings.map(|folder| folder.path).collect()
    }

    #[test]
    fn folders_that_look_alike_are_sampled() {
        let (mut posts, mut uploads) = (BTreeSet::new(), BTreeSet::new());
        for month in 1..=12 {
            posts.insert(format!("/2023/{month:02}/"));
            posts.extend((1..9).map(|post| format!("/2023/{month:02}/post-{post}/")));
            uploads.insert(format!("/wp-content/uploads/{month:02}/"));
        }
        let mut with_files = set(&["/wp-content/", "/wp-content/uploads/"]);
        with_files.extend(uploads.iter().map(String::as_str));
        let mut all = set(&["/", "/2023/", "/about/"]);
        all.extend(posts.iter().map(String::as_str));
        all.extend(&with_files);
        let mut folders = SiteFolders {
            all,
            with_files,
            ..SiteFolders::default()
        };
        let files = [
            "/wp-content/",
            "/wp-content/uploads/",
            "/wp-content/uploads/01/",
            "/wp-content/uploads/02/",
        ];
        let pages = ["/2023/", "/2023/01/", "/2023/01/post-1/", "/about/"];
        assert_eq!(paths(&folders), [files, pages].concat());
        folders.has_missing_page = true;
        assert_eq!(
            paths(&folders),
            [&files[..], &["/2023/", "/about/"]].concat()
        );
    }

    #[test]
    fn sections_of_a_small_site_are_all_searched() {
        let folders = SiteFolders {
            all: set(&["/", "/api/", "/cart/", "/docs/", "/js/", "/shop/"]),
            with_files: set(&["/js/"]),
            ..SiteFolders::default()
        };
        let sections = ["/js/", "/api/", "/cart/", "/docs/", "/shop/"];
        assert_eq!(paths(&folders), sections);
        assert_eq!(beginnings(&folders), sections);
        // Many pages beside each other come from one program.
        let pages: Vec<String> = (b'a'..=b'z')
            .map(|letter| format!("/{}/", char::from(letter)))
            .collect();
        let folders = SiteFolders {
            all: pages.iter().map(String::as_str).collect(),
            ..SiteFolders::default()
        };
        assert_eq!(paths(&folders), ["/a/"]);
    }

    #[test]
    fn application_begins_below_the_root_or_at_a_page() {
        let mut folders = SiteFolders {
            all: set(&[
                "/apps/",
                "/apps/shop/",
                "/apps/shop/js/",
                "/help/",
                "/help/faq/",
            ]),
            with_files: set(&["/apps/", "/apps/shop/", "/apps/shop/js/"]),
            pages: set(&["/", "/apps/shop/", "/help/", "/help/faq/"]),
            has_missing_page: false,
        };
        let beginnings_with_files = ["/apps/", "/apps/shop/"];
        let all = [&beginnings_with_files[..], &["/help/", "/help/faq/"]].concat();
        assert_eq!(beginnings(&folders), all);
        folders.has_missing_page = true;
        assert_eq!(beginnings(&folders), beginnings_with_files);
    }
}
