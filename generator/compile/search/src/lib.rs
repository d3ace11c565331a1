//! Search by cost: candidates are tried one after the other, each is feasible at some cost or lacks something, and the cheapest is kept.
//!
//! A [`Space`] says what a candidate is, and which others follow from what one lacks. [`Search`] tries them: those that cannot be
//! cheaper than the best are left out, and a search without any feasible candidate ends after so many. Its work is counted in
//! candidates, never in seconds, so that a result depends on nothing but the problem.

mod cost;

use std::collections::VecDeque;

pub use cost::Cost;

/// The candidates of a problem.
pub trait Space {
    /// A choice that the search may try.
    type Candidate;
    /// A candidate as far as a bound on its cost needs it.
    type Plan;
    /// A feasible candidate.
    type Found;
    /// Why a candidate is not feasible.
    type Refusal;
    /// A candidate that was tried, as reports show it.
    type Trial;

    /// Plans a candidate.
    ///
    /// # Errors
    /// Why there is no such plan.
    fn plan(&self, candidate: &Self::Candidate) -> Result<Self::Plan, Self::Refusal>;

    /// Whether a plan may be cheaper than a feasible candidate.
    fn may_be_cheaper(&self, plan: &Self::Plan, best: &Self::Found) -> bool;

    /// Tries a plan. `report` is told of the trial, unless the same was tried before.
    ///
    /// # Errors
    /// Why it is not feasible.
    fn solve(&self, plan: Self::Plan, report: &mut dyn FnMut(Self::Trial)) -> Result<Self::Found, Self::Refusal>;

    /// Whether a feasible candidate is cheaper than another.
    fn is_cheaper(&self, one: &Self::Found, other: &Self::Found) -> bool;

    /// Whether a candidate lacks a resource, so that others may do.
    fn is_short(&self, refusal: &Self::Refusal) -> bool;

    /// Whether a refusal says more of why there is no feasible candidate than one before it.
    fn says_more(&self, refusal: &Self::Refusal, before: &Self::Refusal) -> bool;

    /// The candidates that have more of what one lacks.
    fn relieved(&self, candidate: &Self::Candidate, refusal: &Self::Refusal) -> Relieved<Self::Candidate>;
}

/// The candidates that follow from what another one lacks.
pub struct Relieved<Candidate> {
    /// Those that are tried next.
    pub next: Vec<Candidate>,
    /// Those that are tried after the others that wait.
    pub last: Vec<Candidate>,
}

impl<Candidate> Default for Relieved<Candidate> {
    fn default() -> Self {
        Relieved { next: Vec::new(), last: Vec::new() }
    }
}

/// The state of a search.
pub struct Search<'a, S: Space> {
    space: &'a S,
    /// Candidates that are tried while none is feasible.
    most_refused: usize,
    observe: &'a dyn Fn(&S::Trial),
    best: Option<S::Found>,
    /// Since the search began: whether a candidate was feasible, how many were not, and why.
    any_feasible: bool,
    refused: usize,
    refusal: Option<S::Refusal>,
    trials: Vec<S::Trial>,
}

impl<'a, S: Space> Search<'a, S> {
    /// A search that ends after so many candidates if none is feasible. `observe` is told of each trial as it ends.
    pub fn new(space: &'a S, most_refused: usize, observe: &'a dyn Fn(&S::Trial)) -> Self {
        let (best, refusal, trials) = (None, None, Vec::new());
        Search { space, most_refused, observe, best, any_feasible: false, refused: 0, refusal, trials }
    }

    /// Tries candidates in their order, and those that follow from what they lack.
    pub fn run(&mut self, candidates: impl IntoIterator<Item = S::Candidate>) {
        let mut waiting: VecDeque<S::Candidate> = candidates.into_iter().collect();
        while self.given_up().is_none()
            && let Some(candidate) = waiting.pop_front()
        {
            let known = self.trials.len();
            let Err(refusal) = self.attempt(&candidate) else { continue };
            self.refused += usize::from(self.trials.len() > known && self.space.is_short(&refusal));
            let Relieved { next, last } = self.space.relieved(&candidate, &refusal);
            next.into_iter().rev().for_each(|candidate| waiting.push_front(candidate));
            waiting.extend(last);
            if self.refusal.as_ref().is_none_or(|before| self.space.says_more(&refusal, before)) {
                self.refusal = Some(refusal);
            }
        }
    }

    /// Tries a candidate alone, if it may be cheaper than the best. It does not count if it is refused.
    ///
    /// # Errors
    /// Why it is not feasible.
    pub fn attempt(&mut self, candidate: &S::Candidate) -> Result<(), S::Refusal> {
        let plan = self.space.plan(candidate)?;
        if self.best.as_ref().is_some_and(|best| !self.space.may_be_cheaper(&plan, best)) {
            return Ok(());
        }
        let found = self.space.solve(plan, &mut |trial| {
            (self.observe)(&trial);
            self.trials.push(trial);
        })?;
        self.any_feasible = true;
        if self.best.as_ref().is_none_or(|best| self.space.is_cheaper(&found, best)) {
            self.best = Some(found);
        }
        Ok(())
    }

    /// Begins with candidates of another kind: whether others were feasible does not count, but the best of them is still known.
    pub fn begin(&mut self) {
        (self.any_feasible, self.refused, self.refusal) = (false, 0, None);
    }

    /// The number of candidates that were tried in vain since the search [began](Self::begin), if they are enough to end it.
    pub fn given_up(&self) -> Option<usize> {
        (!self.any_feasible && self.refused >= self.most_refused).then_some(self.refused)
    }

    /// Whether a candidate was feasible since the search [began](Self::begin).
    pub fn any_feasible(&self) -> bool {
        self.any_feasible
    }

    /// The cheapest of the feasible candidates; the first of those that cost as much.
    pub fn best(&self) -> Option<&S::Found> {
        self.best.as_ref()
    }

    /// The refusal that says most of those since the search [began](Self::begin).
    pub fn refusal(&self) -> Option<&S::Refusal> {
        self.refusal.as_ref()
    }

    /// The best, and the trials in their order.
    pub fn into_parts(self) -> (Option<S::Found>, Vec<S::Trial>) {
        (self.best, self.trials)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// Numbers of at most a limit are feasible, the largest is the cheapest. Half of one that is too large may do. Those beyond 100 are no
    /// numbers of the problem.
    struct Numbers(u32);

    impl Space for Numbers {
        type Candidate = u32;
        type Plan = u32;
        type Found = u32;
        type Refusal = u32;
        type Trial = (u32, bool);

        fn plan(&self, candidate: &u32) -> Result<u32, u32> {
            if *candidate > 100 { Err(*candidate) } else { Ok(*candidate) }
        }

        fn may_be_cheaper(&self, plan: &u32, best: &u32) -> bool {
            plan > best
        }

        fn solve(&self, plan: u32, report: &mut dyn FnMut((u32, bool))) -> Result<u32, u32> {
            let is_feasible = plan <= self.0;
            report((plan, is_feasible));
            if is_feasible { Ok(plan) } else { Err(plan) }
        }

        fn is_cheaper(&self, one: &u32, other: &u32) -> bool {
            one > other
        }

        fn is_short(&self, refusal: &u32) -> bool {
            *refusal <= 100
        }

        fn says_more(&self, refusal: &u32, _: &u32) -> bool {
            self.is_short(refusal)
        }

        fn relieved(&self, candidate: &u32, refusal: &u32) -> Relieved<u32> {
            let half = self.is_short(refusal).then_some(candidate / 2);
            Relieved { next: half.into_iter().collect(), last: Vec::new() }
        }
    }

    #[test]
    fn the_cheapest_is_kept_and_what_cannot_be_cheaper_is_not_tried() {
        let seen = RefCell::new(Vec::new());
        let observe = |trial: &(u32, bool)| seen.borrow_mut().push(*trial);
        let mut search = Search::new(&Numbers(7), 9, &observe);
        search.run([11, 3, 200, 6, 8]);
        assert_eq!(search.best(), Some(&6));
        assert_eq!(search.refusal(), Some(&8));
        let (_, trials) = search.into_parts();
        assert_eq!(trials, [(11, false), (5, true), (6, true), (8, false)]);
        assert_eq!(*seen.borrow(), trials);
    }

    #[test]
    fn a_search_without_a_feasible_candidate_ends() {
        let mut search = Search::new(&Numbers(0), 3, &|_| {});
        search.run([200, 20, 7]);
        assert_eq!((search.given_up(), search.refusal()), (Some(3), Some(&5)));
        search.begin();
        assert_eq!((search.given_up(), search.refusal()), (None, None));
        search.run([200]);
        assert_eq!((search.given_up(), search.refusal()), (None, Some(&200)));
    }
}
