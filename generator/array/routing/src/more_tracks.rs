//! How many tracks a netlist needs that found no routes.

use pushmem_fabric::{ArraySpec, Tracks};
use pushmem_netlist::Netlist;
use pushmem_resources::Graph;

use crate::flow::{FlowError, Options, place_and_route};
use crate::wires::Fabric;

/// The most tracks that are tried beyond those of the array: each takes as long as the routes themselves.
const MOST_MORE: u32 = 4;

/// The tracks with which a netlist that was refused with this error has routes, one more at a time of the layer that lacks them;
/// nothing if the error has another reason, or if a few more do not suffice.
pub fn enough_tracks(netlist: &Netlist, spec: &ArraySpec, options: Options, refused: &FlowError) -> Option<Tracks> {
    let mut spec = spec.clone();
    let mut layer = refused.lacks_tracks_of()?;
    for _ in 0..MOST_MORE {
        spec.tracks = spec.tracks.with_one_more(layer);
        if spec.tracks.of(layer) > Tracks::MOST {
            return None;
        }
        let graph = Graph::of(&spec);
        let fabric = Fabric::of(&spec, &graph);
        match place_and_route(netlist, &spec, &graph, &fabric, options, &|_| ()) {
            Ok(_) => return Some(spec.tracks),
            Err(error) => layer = error.lacks_tracks_of()?,
        }
    }
    None
}
