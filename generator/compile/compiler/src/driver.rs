//! The driver of a search: candidates are tried one after the other, each is feasible at some cost or lacks some resource,
//! and the cheapest is kept.
//!
//! Which candidate comes next is for the problem to say, as it depends on what was short before. The driver keeps the
//! record, tells an observer of each trial as it ends, and says when a search without any feasible candidate ends.

use std::cell::{Cell, RefCell};

/// A search problem.
pub(crate) trait Problem {
    /// A choice that the search tries.
    type Candidate;
    /// The result of a feasible candidate.
    type Solution;
    /// The shortage of a candidate.
    type Shortage;
    /// The record of a trial.
    type Record: Clone;
    /// Order of feasible candidates, the cheapest first.
    type Cost: Ord;

    /// Whether a candidate is feasible.
    ///
    /// # Errors
    /// The shortage.
    fn solve(&self, candidate: Self::Candidate) -> Result<Self::Solution, Self::Shortage>;

    /// The cost of a solution.
    fn cost(solution: &Self::Solution) -> Self::Cost;

    /// Whether a shortage is one of resources, so that other candidates may do.
    fn is_resource(shortage: &Self::Shortage) -> bool;

    /// A trial as it is reported, before the candidate is solved; it is completed with the outcome.
    fn record(&self, candidate: &Self::Candidate) -> Self::Record;

    /// Completes the record of a trial.
    fn complete(&self, record: &mut Self::Record, outcome: &Result<Self::Solution, Self::Shortage>);
}

/// The state of a search.
pub(crate) struct Driver<'a, P: Problem> {
    problem: &'a P,
    /// Candidates that are tried while none is feasible.
    most_refused: usize,
    observe: &'a dyn Fn(&P::Record),
    /// Whether a candidate is feasible.
    accepted: Cell<bool>,
    refused: Cell<usize>,
    records: RefCell<Vec<P::Record>>,
}

impl<'a, P: Problem> Driver<'a, P> {
    /// A search that ends after so many candidates if none is feasible. `observe` is told of each trial as it ends.
    pub fn new(problem: &'a P, most_refused: usize, observe: &'a dyn Fn(&P::Record)) -> Self {
        let (accepted, refused, records) = (Cell::default(), Cell::default(), RefCell::default());
        Driver { problem, most_refused, observe, accepted, refused, records }
    }

    /// Tries a candidate.
    ///
    /// # Errors
    /// The shortage.
    pub fn attempt(&self, candidate: P::Candidate) -> Result<P::Solution, P::Shortage> {
        let outcome = self.attempt_ahead(candidate);
        if let Err(shortage) = &outcome {
            self.count_refused(shortage);
        }
        outcome
    }

    /// Counts a candidate that was refused for this shortage.
    pub fn count_refused(&self, shortage: &P::Shortage) {
        if P::is_resource(shortage) {
            self.refused.set(self.refused.get() + 1);
        }
    }

    /// Tries a candidate before its turn. If it is refused, that [counts](Self::count_refused) when its turn comes.
    ///
    /// # Errors
    /// The shortage.
    pub fn attempt_ahead(&self, candidate: P::Candidate) -> Result<P::Solution, P::Shortage> {
        let mut record = self.problem.record(&candidate);
        let outcome = self.problem.solve(candidate);
        if outcome.is_ok() {
            self.accepted.set(true);
        }
        self.problem.complete(&mut record, &outcome);
        (self.observe)(&record);
        self.records.borrow_mut().push(record);
        outcome
    }

    /// The number of candidates that were tried in vain, if they are enough to end the search.
    pub fn given_up(&self) -> Option<usize> {
        let refused = self.refused.get();
        (!self.accepted.get() && refused >= self.most_refused).then_some(refused)
    }

    /// Begins a search of other candidates: those that were refused before do not count.
    pub fn begin_again(&self) {
        self.refused.set(0);
    }

    /// The trials so far, in their order.
    pub fn records(&self) -> Vec<P::Record> {
        self.records.borrow().clone()
    }

    /// The cheaper of two candidates, of those that are feasible; the first if both cost as much.
    ///
    /// # Errors
    /// The shortage of the second if neither is feasible.
    pub fn cheaper(
        one: Result<P::Solution, P::Shortage>,
        other: Result<P::Solution, P::Shortage>,
    ) -> Result<P::Solution, P::Shortage> {
        match (one, other) {
            (Ok(one), Ok(other)) if P::cost(&other) < P::cost(&one) => Ok(other),
            (Err(_), other) => other,
            (one, _) => one,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of at most a limit are feasible; those beyond 100 are no numbers of the problem.
    struct Numbers(u32);

    impl Problem for Numbers {
        type Candidate = u32;
        type Solution = u32;
        type Shortage = u32;
        type Record = (u32, Option<bool>);
        type Cost = std::cmp::Reverse<u32>;

        fn solve(&self, candidate: u32) -> Result<u32, u32> {
            if candidate <= self.0 { Ok(candidate) } else { Err(candidate - self.0) }
        }

        fn cost(solution: &u32) -> Self::Cost {
            std::cmp::Reverse(*solution)
        }

        fn is_resource(shortage: &u32) -> bool {
            *shortage < 100
        }

        fn record(&self, candidate: &u32) -> Self::Record {
            (*candidate, None)
        }

        fn complete(&self, record: &mut Self::Record, outcome: &Result<u32, u32>) {
            record.1 = Some(outcome.is_ok());
        }
    }

    #[test]
    fn a_search_keeps_its_record_and_the_cheapest() {
        let seen = RefCell::new(Vec::new());
        let observe = |record: &(u32, Option<bool>)| seen.borrow_mut().push(*record);
        let driver = Driver::new(&Numbers(7), 2, &observe);
        let tried = [9, 3, 5, 8].map(|number| driver.attempt(number));
        assert_eq!(tried, [Err(2), Ok(3), Ok(5), Err(1)]);
        assert_eq!(tried.into_iter().reduce(Driver::<Numbers>::cheaper), Some(Ok(5)));
        let records = [(9, false), (3, true), (5, true), (8, false)].map(|(number, right)| (number, Some(right)));
        assert_eq!(driver.records(), records);
        assert_eq!(*seen.borrow(), records);
    }

    #[test]
    fn a_search_without_a_feasible_candidate_ends() {
        let driver = Driver::new(&Numbers(7), 2, &|_| {});
        assert_eq!(driver.attempt(8), Err(1));
        // Not a lack of resources.
        assert_eq!(driver.attempt(200), Err(193));
        assert_eq!(driver.given_up(), None);
        assert_eq!(driver.attempt(9), Err(2));
        assert_eq!(driver.given_up(), Some(2));
        assert_eq!(driver.attempt(6), Ok(6));
        assert_eq!(driver.given_up(), None);
    }
}
