//! Reads the template of a report with its logo.

use std::path::Path;

use super::{Logo, ReportTemplate};
use scandeck_wire::input_files::{InputKind, read, read_text};

/// The template in a file, with its logo.
///
/// # Errors
/// A sentence with the path, and for an invalid template the line and the key.
pub fn read_report_template(path: &Path) -> Result<ReportTemplate, String> {
    let shown = path.display();
    let failed = |error: &dyn std::fmt::Display| format!("template {shown} not read: {error}");
    let text = read_text(path, InputKind::Settings).map_err(|error| failed(&error))?;
    let mut template = ReportTemplate::parse(&text).map_err(|error| failed(&error))?;
    if !template.logo.is_empty() {
        let logo = path.parent().unwrap_or(Path::new("")).join(&template.logo);
        let failed = |reason: String| {
            format!(
                "template {shown}: logo {} not read: {reason}",
                logo.display()
            )
        };
        let bytes = read(&logo, InputKind::Settings).map_err(|error| failed(error.to_string()))?;
        let image = Logo::read(bytes).map_err(|error| failed(error.to_string()))?;
        template.image = Some(image);
    }
    Ok(template)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn template_is_read_with_the_logo_beside_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("client.toml");
        std::fs::write(&path, "client = 'Acme'\nlogo = 'logo.svg'").unwrap();
        let error = read_report_template(&path).unwrap_err();
        assert!(error.contains("logo.svg not read"), "{error}");
        let logo = directory.path().join("logo.svg");
        std::fs::write(&logo, "text").unwrap();
        let error = read_report_template(&path).unwrap_err();
        assert!(error.ends_with("it is neither PNG nor SVG"), "{error}");
        std::fs::write(
            &logo,
            "<svg xmlns='http://www.w3.org/2000/svg' width='4' height='4'/>",
        )
        .unwrap();
        let template = read_report_template(&path).unwrap();
        assert!(template.image.is_some_and(|image| image.is_svg));
        std::fs::write(&path, "client = 'Acme'\ntilte = 'x'").unwrap();
        let error = read_report_template(&path).unwrap_err();
        assert!(error.contains("line 2, tilte"), "{error}");
    }
}
