//! Double buffering: arrays that each iteration of a loop writes anew have room for two, or for as many as balance paths that
//! part and meet again (dissertation §4.3; HIDA paper §5.4).

use std::collections::{BTreeMap, BTreeSet};

use itertools::iproduct;
use pushmem_stages::Pipeline;

use super::{Contents, Context, Plan, Window};
use crate::coarse::CoarseOptions;
use crate::coarse::arrays::{is_private, spacing};
use crate::coarse::modulo_scheduling::Limit;
use crate::coarse::tree::Tree;

/// Elements are never waited for over more iterations than this: more would not make a schedule faster.
pub(super) const FURTHEST: i64 = 64;

/// Memory for further versions is spent only if the interval becomes shorter by one in so many cycles.
const LEAST_GAIN: i64 = 32;

/// By array, how many versions it has, where that is more than two.
pub(crate) type Versions = BTreeMap<usize, i64>;

/// Room for an array in a loop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// Iterations whose values are kept at a time.
    pub versions: i64,
    /// See [`spacing`].
    pub spacing: Option<i64>,
}

impl Context<'_> {
    /// A schedule in which arrays have as many versions as the shortest interval needs, and no more.
    pub(super) fn balanced(&self, contents: &Contents) -> Plan {
        let double = self.plan(contents, Versions::new());
        let CoarseOptions { balance_paths, double_buffer, .. } = *self.options;
        // Nothing that is written is waited for where a resource is busy all the time.
        let waits = matches!(double.solution.limit, Limit::Arrays(_) | Limit::Conflicts);
        let Some(level) = contents.level.filter(|_| balance_paths && double_buffer && waits) else { return double };
        let touched: BTreeSet<usize> = contents.windows.iter().flatten().map(|window| window.array).collect();
        let renewed = touched.into_iter().filter(|&array| self.room(Some(level), array, &Versions::new()).versions > 1);
        let mut best = self.plan(contents, renewed.map(|array| (array, FURTHEST)).collect());
        let gain = double.solution.period - best.solution.period;
        if gain == 0 || gain < double.solution.period / LEAST_GAIN {
            return double;
        }
        best.versions = self.needed(level, &best);
        for array in best.versions.clone().into_keys() {
            while let Some(&versions) = best.versions.get(&array) {
                let mut fewer = best.versions.clone();
                fewer.insert(array, versions - 1);
                let mut plan = self.plan(contents, fewer);
                if plan.solution.period > best.solution.period {
                    break;
                }
                plan.versions = self.needed(level, &plan);
                best = plan;
            }
        }
        best
    }

    /// The versions that arrays need for a schedule, where these are more than two.
    fn needed(&self, level: usize, plan: &Plan) -> Versions {
        let (starts, period) = (&plan.solution.starts, plan.solution.period);
        let mut needed = Versions::new();
        for wait in plan.waits.iter().filter(|wait| wait.edge.distance > 0) {
            let Some(edge) = plan.clusters.contracted(wait) else { continue };
            let late = starts[edge.from] + edge.weight - starts[edge.to];
            let iterations = late.div_euclid(period) + i64::from(late.rem_euclid(period) > 0);
            let room = self.room(Some(level), edge.array, &Versions::new());
            if room.versions > 1 && iterations > room.versions.max(room.spacing.unwrap_or(0)) {
                let known = needed.entry(edge.array).or_insert(iterations);
                *known = (*known).max(iterations);
            }
        }
        needed
    }

    /// How often an array has room, and after how many iterations of a loop its elements come again.
    pub(super) fn room(&self, level: Option<usize>, array: usize, versions: &Versions) -> Room {
        let Some(level) = level else { return Room { versions: 1, spacing: None } };
        let Renewal { is_renewed, spacing } = self.accesses.renewals[&(level, array)];
        let versions = if is_renewed { versions.get(&array).copied().unwrap_or(2) } else { 1 };
        Room { versions, spacing }
    }
}

/// How the elements of an array come and go in the iterations of a loop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Renewal {
    /// Whether each iteration writes all that it reads, and may do so in a version of its own.
    is_renewed: bool,
    /// See [`spacing`].
    spacing: Option<i64>,
}

/// By loop and array.
pub(super) type Renewals = BTreeMap<(usize, usize), Renewal>;

/// The renewals of all arrays that are touched within each loop.
pub(super) fn renewals(pipeline: &Pipeline, tree: &Tree, options: &CoarseOptions, windows: &[Vec<Window>]) -> Renewals {
    let mut users: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for window in windows.iter().flatten() {
        users.entry(window.array).or_default().push(window.group);
    }
    let mut renewals = Renewals::new();
    for (level, (&array, users)) in iproduct!(0..tree.loops.len(), &users) {
        let inside = users.iter().filter(|&&group| tree.below(group, Some(level))).count();
        if inside > 0 {
            let may_have_versions = options.double_buffer && !options.random_access.contains(&array);
            let is_renewed = may_have_versions && inside == users.len() && is_private(pipeline, tree, array, level);
            let spacing = spacing(pipeline, tree, array, level).map(|spacing| spacing.min(FURTHEST));
            renewals.insert((level, array), Renewal { is_renewed, spacing });
        }
    }
    renewals
}
