//! A controller at work.

use pushmem_configuration::{Affine, ControllerConfiguration, deltas};
use pushmem_tile::Controller as Parameters;

/// One address function in recurrence form.
#[derive(Clone, Debug)]
struct Address {
    value: u64,
    start: u64,
    deltas: Vec<u64>,
    modulus: u64,
}

/// A loop nest in progress: the iteration domain, the wait until the next firing, and the addresses.
#[derive(Clone, Debug)]
pub(crate) struct Controller {
    /// Name, for messages.
    pub name: String,
    active: bool,
    extents: Vec<u64>,
    index: Vec<u64>,
    start: u64,
    gaps: Vec<u64>,
    wait: u64,
    addresses: Vec<Address>,
}

impl Controller {
    /// A controller that never fires.
    pub fn idle(parameters: &Parameters) -> Self {
        let addresses = parameters
            .addresses
            .iter()
            .map(|generator| Address { value: 0, start: 0, deltas: Vec::new(), modulus: generator.modulus })
            .collect();
        Controller {
            name: parameters.name.clone(),
            active: false,
            extents: Vec::new(),
            index: Vec::new(),
            start: 0,
            gaps: Vec::new(),
            wait: 0,
            addresses,
        }
    }

    /// Starts a run.
    pub fn flush(&mut self, parameters: &Parameters, configured: Option<&ControllerConfiguration>) {
        self.active = false;
        let Some(configured) = configured else { return };
        self.active = true;
        self.extents.clone_from(&configured.extent);
        self.index = vec![0; configured.extent.len()];
        self.start = configured.cycle.start as u64;
        self.wait = self.start;
        self.gaps =
            deltas(&configured.cycle.stride, &configured.extent).into_iter().map(|gap| gap.max(1) as u64).collect();
        for (address, generator) in self.addresses.iter_mut().zip(&parameters.addresses) {
            let nowhere = Affine::default();
            let function = configured.address(generator.memory).unwrap_or(&nowhere);
            let modulus = i128::from(generator.modulus);
            let reduce = |value: i128| value.rem_euclid(modulus) as u64;
            let start = i128::from(function.start);
            address.start = reduce(start);
            address.value = address.start;
            address.deltas = deltas(&function.stride, &configured.extent).into_iter().map(reduce).collect();
        }
    }

    /// Stops at once, as a reset does.
    pub fn stop(&mut self) {
        self.active = false;
    }

    /// Whether its run is not over.
    pub fn is_active(&self) -> bool {
        self.active
    }

    /// Whether it fires in this cycle.
    pub fn fires(&self) -> bool {
        self.active && self.wait == 0
    }

    /// The current address of its `number`-th address generator.
    pub fn address(&self, number: usize) -> u64 {
        self.addresses[number].value
    }

    /// Ends an unstalled cycle.
    pub fn advance(&mut self) {
        if !self.active {
            return;
        }
        if self.wait > 0 {
            self.wait -= 1;
            return;
        }
        for level in 0..self.extents.len() {
            if self.index[level] + 1 < self.extents[level] {
                self.index[level] += 1;
                self.wait = self.gaps[level] - 1;
                for address in &mut self.addresses {
                    let sum = address.value + address.deltas.get(level).copied().unwrap_or(0);
                    address.value = if sum >= address.modulus { sum - address.modulus } else { sum };
                }
                return;
            }
            self.index[level] = 0;
        }
        self.active = false;
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
            let extent: Vec<u64> = nest.iter().map(|level| level.0).collect();
            let mut cycle = Affine { start: start as i64, stride: Vec::new() };
            let mut span = 0;
            for &(extent, _, pause) in &nest {
                let stride = span + 1 + pause as i64;
                span += stride * (extent as i64 - 1);
                cycle.stride.push(stride);
            }
            let sram = Affine { start: address_start, stride: nest.iter().map(|level| level.1).collect() };
            let configured = ControllerConfiguration {
                extent: extent.clone(),
                cycle: cycle.clone(),
                sram: Some(sram.clone()),
                tb: Some(Affine { start: 0, stride: vec![0; nest.len()] }),
                ..Default::default()
            };
            let mut controller = Controller::idle(&parameters);
            controller.flush(&parameters, Some(&configured));
            let mut index = vec![0; extent.len()];
            let mut now = 0;
            for point in 0..extent.iter().product::<u64>() {
                let mut rest = point;
                for (place, extent) in index.iter_mut().zip(&extent) {
                    *place = rest % extent;
                    rest /= extent;
                }
                while i128::from(now) < cycle.at(&index) {
                    prop_assert!(!controller.fires());
                    controller.advance();
                    now += 1;
                }
                prop_assert!(controller.fires());
                prop_assert_eq!(&controller.index, &index);
                prop_assert_eq!(i128::from(controller.address(0)), sram.at(&index).rem_euclid(11));
                controller.advance();
                now += 1;
            }
            prop_assert!(!controller.is_active());
        }
    }
}
