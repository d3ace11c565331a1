//! Checking a configuration against the tile that is to hold it.

use itertools::Itertools;
use pushmem_files::{Fault, FieldPath, counted, nearest};
use pushmem_tile::{Controller, Kind, Memory, Mode, TileSpec};

use crate::file::{Configuration, ControllerConfiguration};
use pushmem_affine::{Affine, deltas};

pub(crate) fn check(configuration: &Configuration, spec: &TileSpec) -> Result<(), Fault> {
    let root = FieldPath::root();
    if configuration.tile != spec.name {
        let message = format!("this configuration is for the tile `{}`, not `{}`", configuration.tile, spec.name);
        return Err(Fault::new(root.key("tile"), message, "give the specification it was made for"));
    }
    if let Some(digest) = &configuration.spec_digest
        && *digest != spec.digest()
    {
        let message = format!("this configuration was made for another version of `{}`", spec.name);
        return Err(Fault::new(
            root.key("spec_digest"),
            message,
            format!("make it again; the digest of this specification is {}", spec.digest()),
        ));
    }
    check_mode(configuration, spec)?;
    let controllers = spec.controllers();
    let path = root.key("controllers");
    for (name, configured) in &configuration.controllers {
        let Some(controller) = controllers.iter().find(|controller| controller.name == *name) else {
            let names = controllers.iter().map(|controller| controller.name.as_str()).collect_vec();
            let near = nearest(name, names.iter().copied());
            let suggestion = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
            let message = format!("the tile `{}` has no controller `{name}`", spec.name);
            let help = format!("{suggestion}its controllers are {}", names.join(", "));
            return Err(Fault::at_key(path.key(name), message, help));
        };
        check_controller(controller, configured, &path.key(name))?;
    }
    check_chain(configuration, spec)?;
    check_contents(configuration, spec)
}

/// A mode takes the place of the schedule: no controller runs, and a chain is one of unified buffers.
fn check_mode(configuration: &Configuration, spec: &TileSpec) -> Result<(), Fault> {
    let root = FieldPath::root();
    let mode = configuration.mode;
    if mode == Mode::UnifiedBuffer {
        return Ok(());
    }
    let name = mode.name();
    if !spec.modes().any(|one| one == mode) {
        let message = format!("the tile `{}` has no mode `{name}`", spec.name);
        let help = format!("use a tile with `{name}_mode: true`");
        return Err(Fault::new(root.key("mode"), message, help));
    }
    if !configuration.controllers.is_empty() {
        let message = format!("in the mode `{name}` no controller runs");
        return Err(Fault::at_key(root.key("controllers"), message, "remove `controllers`, or `mode`"));
    }
    if configuration.chain.enable {
        let message = format!("in the mode `{name}` a tile is no part of a chain");
        return Err(Fault::new(root.key("chain"), message, "remove `chain`, or `mode`"));
    }
    Ok(())
}

pub(crate) fn check_controller(
    controller: &Controller,
    configured: &ControllerConfiguration,
    path: &FieldPath,
) -> Result<(), Fault> {
    let name = &controller.name;
    check_extents(controller, configured, path)?;
    check_strides(controller, configured, &configured.cycle, &path.key("cycle"))?;
    for memory in Memory::ALL {
        let key = path.key(memory.name());
        match (controller.address(memory), configured.address(memory)) {
            (Some(_), Some(address)) => check_strides(controller, configured, address, &key)?,
            // With a single place there is nothing to say.
            (Some(generator), None) if generator.bits > 0 => {
                return Err(Fault::new(
                    path.clone(),
                    format!("{name} needs addresses in `{}`", memory.name()),
                    format!("add `{}: {{start: …, stride: […]}}`", memory.name()),
                ));
            }
            (None, Some(_)) => {
                let message = format!("{name} does not address `{}`", memory.name());
                return Err(Fault { at_key: true, ..Fault::bare(key, message) });
            }
            (_, None) => {}
        }
    }
    check_schedule(controller, configured, path)
}

fn check_extents(controller: &Controller, configured: &ControllerConfiguration, path: &FieldPath) -> Result<(), Fault> {
    let name = &controller.name;
    let path = path.key("extent");
    let levels = configured.extent.len();
    if levels > controller.levels as usize {
        let message = format!("{name} has {} loop levels, not {levels}", controller.levels);
        return Err(Fault::new(path, message, "merge loops, or use a tile with more `levels`"));
    }
    let limit = 1_u64 << controller.extent_bits;
    for (level, &extent) in configured.extent.iter().enumerate() {
        if !(1..=limit).contains(&extent) {
            let message = format!(
                "{name}, level {level}: extent {extent} is not from 1 to {limit}, the limit of a {}-bit counter",
                controller.extent_bits
            );
            return Err(Fault::new(
                path.index(level),
                message,
                if extent == 0 {
                    "leave out a controller that never fires"
                } else {
                    "split the loop, or use a tile with a larger `extent_bits`"
                },
            ));
        }
    }
    Ok(())
}

fn check_strides(
    controller: &Controller,
    configured: &ControllerConfiguration,
    function: &Affine,
    path: &FieldPath,
) -> Result<(), Fault> {
    let (levels, strides) = (configured.extent.len(), function.stride.len());
    if levels == strides {
        return Ok(());
    }
    let (strides, extents) = (counted(strides, "stride"), counted(levels, "extent"));
    let message = format!("{}: {strides} for {extents}", controller.name);
    Err(Fault::new(path.key("stride"), message, "give one stride for each loop level"))
}

/// The schedule generator waits from one firing to the next, so that only the gaps are bounded, not the length of a run.
fn check_schedule(
    controller: &Controller,
    configured: &ControllerConfiguration,
    path: &FieldPath,
) -> Result<(), Fault> {
    let name = &controller.name;
    let path = path.key("cycle");
    let limit = 1_i128 << controller.cycle_bits;
    let start = i128::from(configured.cycle.start);
    if !(0..limit).contains(&start) {
        let message = format!(
            "{name}: start {start} is not from 0 to {}, the limit of a {}-bit schedule",
            limit - 1,
            controller.cycle_bits
        );
        return Err(Fault::new(
            path.key("start"),
            message,
            if start < 0 { "cycle 0 is the first after the flush" } else { "use a tile with a larger `cycle_bits`" },
        ));
    }
    let gaps = deltas(&configured.cycle.stride, &configured.extent);
    for (level, (gap, &extent)) in gaps.into_iter().zip(&configured.extent).enumerate() {
        // A level of one iteration never increments.
        if extent == 1 || (1..=limit).contains(&gap) {
            continue;
        }
        let stride = configured.cycle.stride[level];
        let place = path.key("stride").index(level);
        return Err(if gap < 1 {
            let message = format!(
                "{name}, level {level}: stride {stride} makes it fire {gap} cycles after the last firing of the loops \
                 inside; it must be at least 1"
            );
            Fault::new(place, message, format!("the stride must be at least {}", i128::from(stride) - gap + 1))
        } else {
            let message = format!(
                "{name}, level {level}: stride {stride} leaves {gap} cycles between two firings; the limit of a {}-bit \
                 schedule is {limit}",
                controller.cycle_bits
            );
            Fault::new(place, message, "use a tile with a larger `cycle_bits`")
        });
    }
    Ok(())
}

fn check_chain(configuration: &Configuration, spec: &TileSpec) -> Result<(), Fault> {
    let path = FieldPath::root().key("chain");
    let chain = configuration.chain;
    if !spec.chaining {
        if chain.enable || chain.tile_id != 0 {
            let message = format!("the tile `{}` cannot be chained", spec.name);
            return Err(Fault::new(path, message, "use a tile with `chaining: true`"));
        }
        return Ok(());
    }
    let limit = (1_u64 << spec.tile_id_bits()) - 1;
    if u64::from(chain.tile_id) > limit {
        let message = format!(
            "tile ID {} is not from 0 to {limit}, the limit of its {} bits",
            chain.tile_id,
            spec.tile_id_bits()
        );
        return Err(Fault::bare(path.key("tile_id"), message));
    }
    Ok(())
}

fn check_contents(configuration: &Configuration, spec: &TileSpec) -> Result<(), Fault> {
    let path = FieldPath::root().key("contents");
    let contents = &configuration.contents;
    if contents.is_empty() {
        return Ok(());
    }
    let Some(words) = spec.content_words() else {
        let message = format!("the contents of `{}` cannot be loaded", spec.name);
        return Err(Fault::at_key(path, message, "use a tile with `contents: true`, or a `rom`"));
    };
    if contents.len() > words as usize {
        let message = match spec.kind {
            Kind::Rom => format!("{} words of contents for {} rows", contents.len(), spec.rows),
            _ => format!("{} words of contents for {words} words", contents.len()),
        };
        return Err(Fault::new(path, message, "use a tile with more `rows`"));
    }
    let limit = u64::MAX >> (64 - spec.word_bits);
    match contents.iter().position(|&word| word > limit) {
        Some(index) => {
            let message =
                format!("{} is more than {limit}, the limit of a {}-bit word", contents[index], spec.word_bits);
            Err(Fault::bare(path.index(index), message))
        }
        None => Ok(()),
    }
}
