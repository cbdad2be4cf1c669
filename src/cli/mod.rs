//! The command line (being composed).

#[cfg(feature = "service")]
mod data_dir;
#[cfg(feature = "service")]
pub mod scope;
#[cfg(feature = "service")]
pub mod serve;
#[cfg(feature = "service")]
pub mod status;
#[cfg(feature = "service")]
pub mod stop;
#[cfg(feature = "service")]
pub mod wordlists;

#[cfg(feature = "service")]
pub use data_dir::DataDirArg;
