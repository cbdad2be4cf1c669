//! Why rows are hidden: what each part of a query takes away.

use super::{Evaluator, Expr, Query, RowSet, RowSource};

/// One part of a query with what it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClauseEffect {
    /// Its canonical text.
    pub part: String,
    /// Rows that it alone hides: they would be there without it.
    pub hides: usize,
}

/// What each part of a query hides, among the rows of a scope (all, where none is given).
pub fn explain(
    query: &Query,
    evaluator: &mut Evaluator,
    source: &dyn RowSource,
    scope: Option<&RowSet>,
) -> Vec<ClauseEffect> {
    let sets: Vec<RowSet> = query.parts().iter().map(|part| evaluator.rows(part, source)).collect();
    let why = |(at, part): (usize, &Expr)| {
        let mut hidden = sets[at].clone();
        hidden.invert();
        sets.iter().enumerate().filter(|(other, _)| *other != at).for_each(|(_, set)| hidden.and(set));
        scope.into_iter().for_each(|scope| hidden.and(scope));
        ClauseEffect { part: part_text(part), hides: hidden.count() }
    };
    query.parts().iter().enumerate().map(why).collect()
}

fn part_text(part: &Expr) -> String {
    match part {
        Expr::Any(_) => format!("({part})"),
        other => other.to_string(),
    }
}
