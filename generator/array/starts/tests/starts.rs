//! Starts of small netlists, beside all others.

use itertools::Itertools;
use pushmem_fabric::Layer;
use pushmem_netlist::{CellId, Core, Netlist};
use pushmem_netlists::{Builder, Tap};
use pushmem_starts::{Demand, Lags, StartError, prices, recurrences, registers, starts};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Lags that are tried.
const MOST: i64 = 7;

/// A netlist of streams that read each other: only its connections matter.
fn netlist(arcs: &[(u32, u32, i64)], cells: usize) -> Netlist {
    let mut builder = Builder::new("small");
    let cells: Vec<CellId> = (0..cells).map(|_| builder.cell("cell", Core::Input)).collect();
    for (port, (from, to, cycles)) in (0..).zip(arcs) {
        builder.connect(Layer::Word, Tap::of(cells[*from as usize]).before(*cycles), cells[*to as usize], port);
    }
    builder.finish()
}

fn holds(netlist: &Netlist, demands: &[Demand], lags: &Lags) -> bool {
    netlist.connections().zip(demands).all(|(connection, demand)| {
        let rest = registers(lags, &connection) - demand.least;
        rest >= 0 && !(demand.is_even && rest % 2 == 1)
    })
}

/// Words that tracks hold, and the cycles from the first start to the last.
fn cost(netlist: &Netlist, demands: &[Demand], lags: &Lags) -> i64 {
    let connections = netlist.connections().zip(demands).chunk_by(|(connection, _)| connection.net);
    let of_net = |net: Vec<(pushmem_netlist::Connection, &Demand)>| {
        let held = net.iter().map(|(connection, demand)| registers(lags, connection) - demand.delay).max().unwrap();
        held.max(net.iter().map(|(_, demand)| demand.least).max().unwrap())
    };
    connections.into_iter().map(|(_, net)| of_net(net.collect())).sum()
}

#[test]
fn starts_are_the_best_of_all() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let (mut solved, mut refused) = (0, 0);
    for _ in 0..300 {
        let cells = random.random_range(2..5);
        let arc = |random: &mut ChaCha8Rng| {
            let (from, to) = (random.random_range(0..cells), random.random_range(0..cells));
            (from, to, if from < to { random.random_range(0..2) } else { random.random_range(0..5) })
        };
        let arcs = (0..random.random_range(1..6)).map(|_| arc(&mut random)).collect_vec();
        let netlist = netlist(&arcs, cells as usize);
        let mut demand = || Demand {
            least: random.random_range(1..3),
            delay: random.random_range(0..2),
            is_even: random.random_bool(0.2),
        };
        let demands = arcs.iter().map(|_| demand()).collect_vec();
        let all = (0..cells).map(|_| 0..=MOST).multi_cartesian_product().map(|lags| lags.into_iter().collect::<Lags>());
        let best = all.filter(|lags| holds(&netlist, &demands, lags)).map(|lags| cost(&netlist, &demands, &lags)).min();
        match starts(&netlist, &demands) {
            Ok(lags) => {
                assert!(holds(&netlist, &demands, &lags), "{arcs:?} {demands:?} {lags:?}");
                // Parities are met afterwards, and may cost more. A shorter pipeline is worth a word.
                if demands.iter().all(|demand| !demand.is_even) {
                    let span = lags.iter().max().unwrap();
                    assert!(cost(&netlist, &demands, &lags) <= best.unwrap() + span, "{arcs:?} {demands:?} {lags:?}");
                }
                solved += 1;
            }
            Err(_) => {
                assert_eq!(best, None, "{arcs:?} {demands:?}");
                refused += 1;
            }
        }
    }
    assert!(solved > 50 && refused > 50, "{solved} solved, {refused} refused");
}

const NEAR: Demand = Demand { least: 1, delay: 0, is_even: false };

#[test]
fn loops_tell_their_slack_or_how_short_they_are() {
    let loop_of = |cycles: i64| netlist(&[(0, 1, 0), (1, 2, 0), (2, 1, cycles)], 3);
    let found = recurrences(&loop_of(5), &[NEAR; 3]).unwrap();
    assert_eq!(found.iter().map(|one| (one.connection, one.slack, one.length)).collect_vec(), [(1, 3, 2), (2, 3, 2)]);
    let Err(StartError::Loop { mut cells, short, .. }) = recurrences(&loop_of(0), &[NEAR; 3]) else { panic!("a loop") };
    cells.sort_unstable();
    assert_eq!((cells, short), (vec![CellId::from(1_usize), CellId::from(2_usize)], 2));
}

#[test]
fn the_longer_way_is_the_dear_one() {
    // From 0 to 3 over 1 and 2, and at once.
    let netlist = netlist(&[(0, 1, 0), (0, 3, 0), (1, 2, 0), (2, 3, 0)], 4);
    let prices = prices(&netlist, &[NEAR; 4]).unwrap();
    let price = |from: usize, to: usize| {
        let of = |connection: &pushmem_netlist::Connection| {
            (connection.of.source, connection.sink.cell) == (CellId::from(from), CellId::from(to))
        };
        prices[netlist.connections().position(|connection| of(&connection)).unwrap()]
    };
    assert_eq!(price(0, 3), 0.0);
    assert!(price(0, 1) >= 1.0 && price(1, 2) >= 1.0 && price(2, 3) >= 1.0, "{prices:?}");
}
