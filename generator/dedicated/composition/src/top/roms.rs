//! ROM tiles: the large tables of kernels.

use itertools::Itertools;
use pushmem_graph::KernelId;

use super::Context;
use crate::instance::{Instance, tile_module};
use crate::text::{listing, literal, range, vector};

impl Context<'_> {
    /// The ROMs of a kernel with the signals between it and them, as lines.
    pub(super) fn roms(&self, kernel: KernelId) -> String {
        self.accelerator.roms_of(kernel).into_iter().map(|rom| self.rom(rom) + "\n").collect()
    }

    /// The sentence about the ROMs of a kernel.
    pub(super) fn rom_comment(&self, kernel: KernelId) -> String {
        let roms = self.accelerator.roms_of(kernel);
        let table = |rom: &usize| format!("`{}`", self.program.tables[self.accelerator.roms[*rom].table].name);
        let tables = roms.iter().map(table).unique().collect_vec();
        match (roms.len(), tables.len()) {
            (0, _) => String::new(),
            (1, _) => format!(" Its table {} is in a ROM.", tables[0]),
            (roms, 1) => format!(" Its table {} is in {roms} ROMs.", tables[0]),
            (roms, _) => format!(" Its tables {} are in {roms} ROMs.", listing(&tables)),
        }
    }

    /// The signal of a ROM with its address.
    pub(super) fn rom_address(&self, rom: usize) -> String {
        format!("{}_address", self.signals.roms[rom])
    }

    /// The signal of a ROM with its word.
    pub(super) fn rom_word(&self, rom: usize) -> String {
        format!("{}_word", self.signals.roms[rom])
    }

    fn rom(&self, number: usize) -> String {
        let spec = self.accelerator.target.rom();
        let rom = &self.accelerator.roms[number];
        let kernel = &self.accelerator.kernels[rom.kernel];
        let fetch = self.accelerator.datapaths[kernel.datapath].datapath.fetches()[rom.fetch];
        let name = &self.signals.roms[number];
        let (address, word) = (self.rom_address(number), self.rom_word(number));
        let unused = |what: &str| format!("{name}_{what}_unused");
        let declare = |(range, name): (String, String)| format!("    logic{range} {name};\n");
        let of_kernel =
            [(vector(fetch.address_bits), address.clone()), (range(fetch.value.bits()), word.clone())].map(declare);
        if let Some(module) = self.tables.iter().find(|of| of.roms.contains(&number)) {
            let instance = Instance::new(module.name.as_str(), format!("u_{name}")).same(&["clk_i"]);
            let instance = instance.port("step_i", "step").port("address_i", address).port("word_o", word);
            return of_kernel.concat() + &instance.print();
        }
        let upper = spec.word_bits - fetch.value.bits();
        let zeros = pushmem_tile::index_bits_for(spec.rows).saturating_sub(fetch.address_bits);

        let mut signals = vec![(String::new(), unused("taken")), (String::new(), unused("valid"))];
        if upper > 0 {
            signals.push((range(upper), unused("upper")));
        }
        if spec.stencil_valid {
            signals.push((String::new(), unused("stencil_valid")));
        }
        let declared: String = of_kernel.into_iter().chain(signals.into_iter().map(declare)).collect();

        let place = self.accelerator.tiles.len() + number;
        let instance = Instance::new(tile_module(spec), format!("u_{name}"));
        let mut instance = self
            .configured(instance, place)
            .port("address_in_0_i", if zeros == 0 { address } else { format!("{{{}, {address}}}", literal(zeros, 0)) })
            .port("data_in_0_taken_o", unused("taken"))
            .port("data_out_0_o", if upper == 0 { word } else { format!("{{{}, {word}}}", unused("upper")) })
            .port("data_out_0_valid_o", unused("valid"));
        if spec.stencil_valid {
            instance = instance.port("stencil_valid_o", unused("stencil_valid"));
        }
        declared + &instance.print()
    }
}
