//! Writes the RTL of a tile, for a look at it: `rtl SPEC FOLDER`.
use pushmem_registers::RegisterMap;
use pushmem_tile::TileSpec;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let spec = TileSpec::read(arguments.next().unwrap().as_ref()).unwrap_or_else(|e| panic!("{e:?}"));
    let folder = std::path::PathBuf::from(arguments.next().unwrap());
    let map = RegisterMap::of(&spec);
    std::fs::create_dir_all(&folder).unwrap();
    for source in pushmem_rtl::sources(&spec, &map) {
        std::fs::write(folder.join(format!("{}.veryl", source.name)), source.text).unwrap();
    }
    let start = std::time::Instant::now();
    let files = pushmem_rtl::generate(&spec, &map).unwrap_or_else(|e| panic!("{e}"));
    println!("{:?}", start.elapsed());
    for file in &files {
        std::fs::write(folder.join(format!("{}.sv", file.name)), &file.text).unwrap();
    }
    let list: String = files.iter().map(|f| format!("{}.sv\n", f.name)).collect();
    std::fs::write(folder.join("filelist.f"), list).unwrap();
    std::fs::write(folder.join("registers.h"), map.to_c_header()).unwrap();
    std::fs::write(folder.join("registers.rdl"), map.to_system_rdl()).unwrap();
    std::fs::write(folder.join("registers.md"), map.to_markdown()).unwrap();
}
