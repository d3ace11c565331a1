//! From loop nests to controllers.

use pushmem_affine::Affine;
use pushmem_configuration::ControllerConfiguration;
use pushmem_tile::{Controller, Role, TileSpec};

use crate::nest::Nest;

pub(crate) fn parameters(spec: &TileSpec, role: Role, port: usize) -> Controller {
    let mut controllers = spec.controllers().into_iter();
    controllers
        .find(|controller| controller.role == role && controller.port as usize == port)
        .expect("roles of the kind")
}

/// Lets a controller run a nest, whose functions are its addresses in the order of its address generators. `wraps` says
/// the number at which addresses in the main memory wrap.
pub(crate) fn configured(nest: &Nest, controller: &Controller, spec: &TileSpec, wraps: u64) -> ControllerConfiguration {
    let moduli: Vec<i64> = controller
        .addresses
        .iter()
        .map(|address| if address.memory == spec.main_memory() { wraps } else { address.modulus } as i64)
        .collect();
    let merging: Vec<Option<i64>> = moduli.iter().copied().map(Some).collect();
    let nest = nest.clone().merged(&merging).within(1 << controller.extent_bits);
    let mut configuration =
        ControllerConfiguration { extent: nest.extent.clone(), cycle: nest.cycle.clone(), ..Default::default() };
    for ((address, function), modulus) in controller.addresses.iter().zip(&nest.functions).zip(moduli) {
        let reduce = |value: i64| value.rem_euclid(modulus);
        let reduced =
            Affine { start: reduce(function.start), stride: function.stride.iter().copied().map(reduce).collect() };
        configuration.set_address(address.memory, reduced);
    }
    configuration
}
