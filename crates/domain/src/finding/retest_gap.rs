//! Why a finding was not retested.

use super::named_enum;

named_enum! {
    /// Why the last scan would not have found a finding again.
    RetestGap {
        Failed "failed",
        Stopped "stopped",
        TimedOut "timed_out",
        FewerTests "fewer_tests",
        ScanType "scan_type",
        Ports "ports",
        Tests "tests",
        Pages "pages",
        Words "words",
        Authentication "authentication",
        Redirects "redirects",
        Parameters "parameters",
        Blocked "blocked",
        Errors "errors",
        LoginWall "login_wall",
        Ambiguous "ambiguous",
        NotStated "not_stated",
    }
}

impl RetestGap {
    /// The reason as a clause of a sentence about the later scan.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Failed => "the later scan failed",
            Self::Stopped => "the later scan was stopped",
            Self::TimedOut => "the later scan timed out",
            Self::FewerTests => "the later scan ran fewer tests",
            Self::ScanType => "the later scan had another scan type",
            Self::Ports => "the later scan used other ports",
            Self::Tests => "the later scan ran other tests",
            Self::Pages => "the later scan read other pages",
            Self::Words => "the later scan used another wordlist",
            Self::Authentication => "the later scan used other credentials",
            Self::Redirects => "the later scan followed other redirects",
            Self::Parameters => "the later scan had other parameters",
            Self::Blocked => "the site blocked the later scan",
            Self::Errors => "requests of the later scan ended with errors",
            Self::LoginWall => "the later scan reached only the log-in page",
            Self::Ambiguous => "several findings of the later scan match",
            Self::NotStated => "the imported file does not state what was tested",
        }
    }
}
