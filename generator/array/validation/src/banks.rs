//! The comparison of the banks of a global buffer with the streams of a program.

use std::collections::{BTreeMap, BTreeSet};

use pushmem_bitstream::Configuration;
use pushmem_configuration::ControllerConfiguration;
use pushmem_fabric::{ArraySpec, Direction, Place};
use pushmem_netlist::{BankLanes, Lane};

use crate::validate::{BankSite, Invalid, Reference, Site, streams};

/// A bank that moves other words than those of its stream, or of its memory.
fn wrong(stream: &str, fault: &str) -> Invalid {
    Invalid::Configuration(format!("the stream `{stream}`: {fault}"))
}

/// Checks that the banks of an array's global buffer load and store the elements of the program's streams, each in its order: the words that a DMA
/// addresses are those of the elements in an image that lies in a half as in memory. No two images of a bank overlap, and no bank moves words for a
/// stream that there is not.
///
/// # Errors
/// The first difference.
pub(crate) fn check_banks(
    reference: Reference,
    configuration: &Configuration,
    spec: &ArraySpec,
    site: &Site,
) -> Result<(), Invalid> {
    let Some(buffer) = &spec.global_buffer else { return Ok(()) };
    let words = 1_i64 << spec.bank_address_bits();
    let mut taken: BTreeMap<u32, Vec<(i64, i64)>> = BTreeMap::new();
    let [inputs, outputs] = streams(reference.graph);
    for (direction, streams, places) in
        [(Direction::In, inputs, &site.inputs), (Direction::Out, outputs, &site.outputs)]
    {
        for (stream, places) in streams.iter().zip(places) {
            for (element, place) in stream.lanes.iter().zip(places) {
                let refuse = |fault: String| wrong(stream.name, &fault);
                let bank = buffer.bank(place.column, direction);
                let transfer = bank.and_then(|bank| Some((bank, configuration.banks.get(&bank)?.transfer(direction)?)));
                let Some((bank, transfer)) = transfer else {
                    return Err(refuse(format!("no bank {}s it", direction.transfer())));
                };
                if configuration.banks[&bank].common_time {
                    return Err(refuse(format!("bank {bank} counts the time of a memory")));
                }
                let sram = transfer.sram.as_ref().ok_or_else(|| refuse("its DMA has no addresses".to_owned()))?;
                let loops = &reference.graph.counters[stream.counter].extent;
                let (found, expected) = (transfer.extent.iterations(), loops.iterations());
                if found != expected {
                    return Err(refuse(format!("bank {bank} moves {found} words, of {expected}")));
                }
                let first = sram.start - element.start;
                let addresses = transfer.extent.values(sram).map(|address| address.rem_euclid(words));
                let elements = loops.values(element);
                if let Some(word) = addresses.zip(elements).position(|(address, element)| address != first + element) {
                    return Err(refuse(format!("word {word} that bank {bank} moves is another element")));
                }
                let end = first + reference.program.arrays[stream.array].shape.iter().product::<i64>();
                let others = taken.entry(bank).or_default();
                if first < 0 || end > words {
                    return Err(refuse(format!("its image leaves the half of bank {bank}")));
                }
                if others.iter().any(|(other, other_end)| first < *other_end && *other < end) {
                    return Err(refuse(format!("its image overlaps another one in bank {bank}")));
                }
                others.push((first, end));
            }
        }
    }
    let known = |place: (u32, Direction)| {
        let all = site.streams().into_iter().chain(site.others.iter().copied());
        all.into_iter().any(|(Place { column, .. }, direction)| (column, direction) == place)
    };
    for (bank, configured) in &configuration.banks {
        for direction in Direction::ALL {
            let column = buffer.column(*bank, direction);
            if configured.transfer(direction).is_some() && !known((column, direction)) {
                let fault = format!("bank {bank} {}s words, and the program has no stream there", direction.transfer());
                return Err(wrong(&format!("io_{column}_0"), &fault));
            }
        }
    }
    Ok(())
}

/// The lanes of a memory that is a bank, whose DMAs count one time: a word is loaded as it was stored last before that time. `beats` has the beats of
/// the streams of the array.
///
/// # Errors
/// When array and bank would wait for each other, as the bank does not have the schedules of the streams, a number of cycles apart that the bank
/// allows.
pub(crate) fn bank_lanes(
    site: &BankSite,
    configuration: &Configuration,
    spec: &ArraySpec,
    beats: &dyn Fn(Place, Direction) -> Option<Lane>,
) -> Result<BankLanes, Invalid> {
    let refuse = |fault: String| wrong(&site.name, &fault);
    let places = [(site.load, Direction::In), (site.store, Direction::Out)];
    let number = |(place, direction): (Place, Direction)| spec.global_buffer.as_ref()?.bank(place.column, direction);
    let bank = match places.map(number) {
        [Some(load), Some(store)] if load == store => load,
        _ => return Err(refuse("its words do not enter and leave at one bank".to_owned())),
    };
    let configured = configuration.banks.get(&bank).filter(|configured| configured.common_time);
    let configured = configured.ok_or_else(|| refuse(format!("the DMAs of bank {bank} do not count one time")))?;
    let port = |(place, direction): (Place, Direction)| -> Result<BankPort, Invalid> {
        let transfer = configured.transfer(direction);
        let accesses = transfer.and_then(|transfer| accesses(transfer, spec));
        let accesses = accesses.ok_or_else(|| refuse(format!("bank {bank} does not {} it", direction.transfer())))?;
        let lane = beats(place, direction).ok_or_else(|| refuse(format!("its {} has no beats", direction.stream())))?;
        let later = |(cycle, access): (i64, &Access)| cycle - access.cycle;
        let all: BTreeSet<i64> = lane.cycles().zip(&accesses).map(later).collect();
        match all.first() {
            Some(&later) if all.len() == 1 && lane.extent.iterations() == accesses.len() as u128 => {
                Ok(BankPort { lane, accesses, later })
            }
            _ => {
                let transfer = direction.transfer();
                Err(refuse(format!("bank {bank} has another schedule than the array where it {transfer}s")))
            }
        }
    };
    let [load, store] = [port(places[0])?, port(places[1])?];
    let (latency, latencies) = (load.later - store.later, spec.bank_latencies());
    if !u32::try_from(latency).is_ok_and(|latency| latencies.contains(&latency)) {
        let (least, most) = (latencies.start(), latencies.end());
        return Err(refuse(format!("bank {bank} has {latency} cycles for a word, of {least} to {most}")));
    }
    let mut words: BTreeMap<i64, usize> = BTreeMap::new();
    let mut stores = store.accesses.iter().enumerate().peekable();
    let origin = |access: &Access| {
        while let Some((number, stored)) = stores.next_if(|(_, stored)| stored.cycle < access.cycle) {
            words.insert(stored.address, number);
        }
        words.get(&access.address).copied()
    };
    Ok(BankLanes { origins: load.accesses.iter().map(origin).collect(), store: store.lane, load: load.lane })
}

/// A port of a memory that is a bank: its beats in the array, its accesses in the bank, and how many cycles later those are than these.
struct BankPort {
    lane: Lane,
    accesses: Vec<Access>,
    later: i64,
}

/// An access of a DMA.
struct Access {
    cycle: i64,
    address: i64,
}

/// The accesses of a DMA; nothing where it has no addresses.
fn accesses(transfer: &ControllerConfiguration, spec: &ArraySpec) -> Option<Vec<Access>> {
    let words = 1_i64 << spec.bank_address_bits();
    let addresses = transfer.extent.values(transfer.sram.as_ref()?).map(|address| address.rem_euclid(words));
    let cycles = transfer.extent.values(&transfer.cycle);
    Some(cycles.zip(addresses).map(|(cycle, address)| Access { cycle, address }).collect())
}
