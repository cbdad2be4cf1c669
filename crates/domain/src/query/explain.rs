//! Explanation of hidden rows: the effect of each part of a query.

use super::{Evaluator, Expr, Query, RowSet, RowSource};

/// A part of a query with its effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClauseEffect {
    /// Its canonical text.
    pub part: String,
    /// Number of rows that only this part hides.
    pub hides: usize,
}

/// The number of rows that each part alone hides, within a scope (all rows if none is given).
/// Retained rows are shown in spite of the query.
pub fn explain(
    query: &Query,
    evaluator: &mut Evaluator,
    source: &dyn RowSource,
    scope: Option<&RowSet>,
    retained: &[usize],
) -> Vec<ClauseEffect> {
    let sets: Vec<RowSet> = query
        .parts()
        .iter()
        .map(|part| evaluator.rows(part, source))
        .collect();
    let why = |(at, part): (usize, &Expr)| {
        let mut hidden = sets[at].clone();
        hidden.invert();
        sets.iter()
            .enumerate()
            .filter(|(other, _)| *other != at)
            .for_each(|(_, set)| hidden.and(set));
        scope.into_iter().for_each(|scope| hidden.and(scope));
        let retained = retained.iter().filter(|&&row| hidden.has(row)).count();
        ClauseEffect {
            part: part_text(part),
            hides: hidden.count() - retained,
        }
    };
    query.parts().iter().enumerate().map(why).collect()
}

fn part_text(part: &Expr) -> String {
    match part {
        Expr::Any(_) => format!("({part})"),
        other => other.to_string(),
    }
}
