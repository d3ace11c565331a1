//! State of a controller during a run.

use pushmem_affine::{Affine, Domain, Recurrence};
use pushmem_configuration::ControllerConfiguration;
use pushmem_tile::Controller as Parameters;

/// The cycle of a controller that never fires again.
pub(crate) const NEVER: u64 = u64::MAX;

/// A loop nest in progress: the iteration domain, the cycle of the next firing, and the addresses.
#[derive(Clone, Debug)]
pub(crate) struct Controller {
    /// Name, for messages.
    pub name: String,
    /// The unstalled cycle, counted from the flush, in which it fires next, or [`NEVER`].
    due: u64,
    domain: Domain,
    index: Vec<u64>,
    cycle: Affine,
    gaps: Vec<u64>,
    addresses: Vec<Recurrence>,
    /// The functions of the addresses, and the moduli.
    functions: Vec<(Affine, u64)>,
}

impl Controller {
    /// A controller that never fires.
    pub fn idle(parameters: &Parameters) -> Self {
        Controller {
            name: parameters.name.clone(),
            due: NEVER,
            domain: Domain::default(),
            index: Vec::new(),
            cycle: Affine::default(),
            gaps: Vec::new(),
            addresses: vec![Recurrence::default(); parameters.addresses.len()],
            functions: Vec::new(),
        }
    }

    /// Starts a run.
    pub fn flush(&mut self, parameters: &Parameters, configured: Option<&ControllerConfiguration>) {
        self.due = NEVER;
        let Some(configured) = configured else { return };
        self.domain.clone_from(&configured.extent);
        self.index = vec![0; configured.extent.len()];
        self.cycle.clone_from(&configured.cycle);
        self.due = self.cycle.start as u64;
        let gaps = self.domain.deltas(&configured.cycle.stride);
        self.gaps = gaps.into_iter().map(|gap| gap.max(1) as u64).collect();
        self.functions.clear();
        for (address, generator) in self.addresses.iter_mut().zip(&parameters.addresses) {
            let nowhere = Affine::default();
            let function = configured.address(generator.memory).unwrap_or(&nowhere);
            *address = Recurrence::new(function, &self.domain, Some(generator.modulus as i64));
            self.functions.push((function.clone(), generator.modulus));
        }
    }

    /// Stops at once, as a reset does.
    pub fn stop(&mut self) {
        self.due = NEVER;
    }

    /// Whether its run is not over.
    pub fn is_active(&self) -> bool {
        self.due != NEVER
    }

    /// The unstalled cycle, counted from the flush, in which it fires next, or [`NEVER`].
    pub fn due(&self) -> u64 {
        self.due
    }

    /// The current address of its `number`-th address generator.
    pub fn address(&self, number: usize) -> u64 {
        self.addresses[number].value() as u64
    }

    /// The address of its `number`-th address generator when it fires for the `firing`-th time, counted from 0; none if it
    /// does not fire so often.
    pub fn address_of(&self, number: usize, firing: u64) -> Option<u64> {
        let (function, modulus) = self.functions.get(number)?;
        Some(self.at(function, firing)?.rem_euclid(i128::from(*modulus)) as u64)
    }

    /// The unstalled cycles from the flush until it fires for the `firing`-th time, counted from 0; none if it does not fire so
    /// often.
    pub fn cycle_of(&self, firing: u64) -> Option<u64> {
        self.at(&self.cycle, firing).map(|cycle| cycle as u64)
    }

    fn at(&self, function: &Affine, firing: u64) -> Option<i128> {
        (u128::from(firing) < self.domain.iterations()).then(|| function.at(&self.domain.point(firing)))
    }

    /// The extent of each loop, and the step it makes in the `number`-th address when the loops inside begin again.
    pub fn loops(&self, number: usize) -> impl Iterator<Item = (u64, u64)> {
        let deltas = self.addresses[number].deltas();
        self.domain
            .iter()
            .enumerate()
            .map(|(level, &extent)| (extent, deltas.get(level).map_or(0, |&delta| delta as u64)))
    }

    /// Goes to where it is at the begin of an unstalled cycle, counted from the flush.
    pub fn go_to(&mut self, cycle: u64) {
        if self.is_active() {
            let number = self.domain.points_until(&self.cycle, cycle as i64 - 1);
            self.due = self.cycle_of(number).unwrap_or(NEVER);
            self.index = self.domain.point(number);
            for (address, (function, modulus)) in self.addresses.iter_mut().zip(&self.functions) {
                let here = Affine { start: self.domain.value_at(function, number), stride: function.stride.clone() };
                *address = Recurrence::new(&here, &self.domain, Some(*modulus as i64));
            }
        }
    }

    /// Fires: goes to the next point of its loops.
    pub fn fire(&mut self) {
        match self.domain.advance(&mut self.index) {
            Some(level) => {
                self.due += self.gaps[level];
                self.addresses.iter_mut().for_each(|address| address.advance(level));
            }
            None => self.due = NEVER,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use pushmem_files::Document;
    use pushmem_tile::TileSpec;

    /// Loop levels of (extent, address stride, extra cycles beyond the loops inside).
    fn nest() -> impl Strategy<Value = Vec<(u64, i64, u64)>> {
        prop::collection::vec((1_u64..5, -40_i64..40, 0_u64..4), 1..=4)
    }

    proptest! {
        /// The oracle of the recurrence: the affine functions themselves, at every point in the order of the loops.
        #[test]
        fn follows_the_affine_functions(nest in nest(), start in 0_u64..9, address_start in -9_i64..9) {
            let text = "{name: t, kind: wide_fetch, rows: 11, inputs: 1, outputs: 1}";
            let spec = TileSpec::from_document(&Document::parse("t", text).unwrap()).unwrap();
            let parameters = spec.controllers().into_iter().find(|c| c.name == "sram2tb_0").unwrap();
            let domain: Domain = nest.iter().map(|level| level.0).collect();
            let mut cycle = Affine { start: start as i64, stride: Vec::new() };
            let mut span = 0;
            for &(extent, _, pause) in &nest {
                let stride = span + 1 + pause as i64;
                span += stride * (extent as i64 - 1);
                cycle.stride.push(stride);
            }
            let sram = Affine { start: address_start, stride: nest.iter().map(|level| level.1).collect() };
            let configured = ControllerConfiguration {
                extent: domain.clone(),
                cycle: cycle.clone(),
                sram: Some(sram.clone()),
                tb: Some(Affine { start: 0, stride: vec![0; nest.len()] }),
                ..Default::default()
            };
            let mut controller = Controller::idle(&parameters);
            controller.flush(&parameters, Some(&configured));
            for number in 0..domain.iterations() as u64 {
                let index = domain.point(number);
                prop_assert_eq!(i128::from(controller.due()), cycle.at(&index));
                prop_assert_eq!(&controller.index, &index);
                prop_assert_eq!(controller.address_of(0, number), Some(controller.address(0)));
                prop_assert_eq!(controller.cycle_of(number), Some(controller.due()));
                prop_assert_eq!(i128::from(controller.address(0)), sram.at(&index).rem_euclid(11));
                controller.fire();
            }
            prop_assert!(!controller.is_active());
            prop_assert_eq!(controller.address_of(0, domain.iterations() as u64), None);
        }
    }
}
