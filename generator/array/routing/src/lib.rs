//! Routes of exactly as many registers as the starts of cells ask for, and the configuration that makes them.
//!
//! Routing is negotiated congestion (McMurchie and Ebeling, "PathFinder: A Negotiation-Based Performance-Driven Router for
//! FPGAs", FPGA 1995). Its search is A* over pairs of a wire and the registers so far, so that a detour over free tracks is a
//! delay line. [`place_and_route`] goes from a netlist to routes, and tries other starts and other seeds when they do not fit;
//! [`configure`] writes the result as a configuration, and [`check()`] holds what a bitstream decodes to against the netlist.

mod configure;
mod demands;
mod distance;
mod flow;
mod more_tracks;
mod negotiated_congestion;
mod routing;
mod search;
mod text;
mod wires;

pub use configure::{ConfigureError, configure};
pub use flow::{FlowError, Implementation, Options, Progress, place_and_route, route_placed};
pub use more_tracks::enough_tracks;
pub use negotiated_congestion::RouteError;
pub use routing::{Route, Routing, Statistics};
pub use wires::Fabric;
