//! Inputs of public bug reports about tools of this field, one line each, grouped by kind. Each
//! line names its source, project and issue, or is a neighbour of such a line.

mod command_line;
mod letters;
mod names;
mod programs;
mod terminal;
